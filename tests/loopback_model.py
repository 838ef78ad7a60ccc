"""A model provider of Inspect for tests: it asks tests/loopback.py over HTTP, and nobody else.

Inspect's own provider for endpoints of OpenAI's kind needs a newer client than other packages here
allow. It is tested too, where that client is installed.
"""

from __future__ import annotations

import json
import os
from typing import Any

import aiohttp
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "content_filter": "content_filter",
}


class Refused(Exception):
    """An HTTP status that is no success, as the clients of providers raise it."""

    def __init__(self, status_code: int, text: str) -> None:
        super().__init__(f"Error code: {status_code} - {text}")
        self.status_code = status_code


class Loopback(ModelAPI):
    """Asks the endpoint at ``base_url``."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        messages = [{"role": one.role, "content": one.text} for one in input]
        body: dict[str, Any] = {"model": self.model_name, "messages": messages}
        for name in ("max_tokens", "temperature", "top_p", "seed"):
            if (value := getattr(config, name)) is not None:
                body[name] = value
        if config.response_schema:
            schema = config.response_schema
            described = {
                "name": schema.name,
                "schema": schema.json_schema.model_dump(exclude_none=True),
            }
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        text = await self._post(body | (config.extra_body or {}))
        return self._output(json.loads(text))

    async def _post(self, body: dict[str, Any]) -> str:
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{self.base_url or os.environ['LOOPBACK_BASE_URL']}/chat/completions", json=body
            ) as reply,
        ):
            text = await reply.text()
            if reply.status != 200:
                raise Refused(reply.status, text)
            return text

    def _output(self, reply: dict[str, Any]) -> ModelOutput:
        (choice,) = reply["choices"]
        usage = reply["usage"]
        counts = usage["prompt_tokens"], usage["completion_tokens"]
        message = ChatMessageAssistant(content=choice["message"]["content"] or "")
        return ModelOutput(
            model=self.model_name,
            choices=[
                ChatCompletionChoice(
                    message=message, stop_reason=_REASONS.get(choice["finish_reason"], "unknown")
                )
            ],
            usage=ModelUsage(
                input_tokens=counts[0], output_tokens=counts[1], total_tokens=sum(counts)
            ),
        )


@modelapi(name="loopback")
def loopback() -> type[ModelAPI]:
    return Loopback
