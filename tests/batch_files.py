"""vLLM's ``run_batch``, as it is documented: a file of requests in, a file of results out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from batch_sums import respond
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import BaseModel, ConfigDict, TypeAdapter

_BODY: TypeAdapter[Any] = TypeAdapter(CompletionCreateParamsNonStreaming)


class BatchRequestInput(BaseModel):
    """A line of the input file, with the fields that vLLM and OpenAI document."""

    model_config = ConfigDict(extra="forbid", strict=True)
    custom_id: str
    method: Literal["POST"]
    url: Literal["/v1/chat/completions"]
    body: dict[str, Any]


def check_line(line: str) -> BatchRequestInput:
    """Validate a line of a file of requests, its body included."""
    request = BatchRequestInput.model_validate_json(line)
    assert 1 <= len(request.custom_id) <= 64
    assert set(request.body) <= set(CompletionCreateParamsNonStreaming.__annotations__)
    assert not request.body.get("stream")
    checked = _BODY.validate_python(request.body)
    assert json.loads(json.dumps(request.body)) == checked | {"messages": request.body["messages"]}
    return request


def run_batch(path: Path, output: Path, *, refuse: str = "", most: int | None = None) -> set[str]:
    """Answer the requests of a file, of which those that ``refuse`` is in are refused."""
    lines = path.read_text().splitlines()
    requests = [check_line(line) for line in lines]
    names = {one.custom_id for one in requests}
    assert len(names) == len(requests)
    written = [_answer(one, refuse) for one in requests[:most]]
    output.write_text("".join(json.dumps(line) + "\n" for line in written))
    return names


def _answer(request: BatchRequestInput, refuse: str) -> dict[str, Any]:
    response: dict[str, Any] = {"status_code": 200, "request_id": "vllm-batch-1"}
    line = {"id": "vllm-1", "custom_id": request.custom_id, "response": response}
    if refuse and refuse in json.dumps(request.body["messages"]):
        response |= {"status_code": 400, "body": None}
        error = {"message": "This is refused.", "type": "BadRequestError", "code": 400}
        return line | {"error": {"error": error}}
    _, response["body"] = respond(request.body)
    return line | {"error": None}
