"""``cfr serve`` with a real model on this machine: a page's answer, a stream, a store."""

from pathlib import Path

import aiohttp
import pytest
from serve_process import serve_process

from constraint_first.model.error import ModelFileError
from constraint_first.model.local import find_model, pull
from constraint_first.store.query import summaries
from constraint_first.store.store import Store

MODEL = "smollm2-135m-instruct"
CUED = "Find the remainder when 100 is divided by 7."


@pytest.mark.long
async def test_a_model_on_this_machine_answers_pages_and_clients(tmp_path: Path) -> None:
    try:
        model = pull(find_model(MODEL))
    except ModelFileError as error:
        pytest.skip(f"the smallest model cannot be had here: {error}")
    options = ("--model", str(model), "--context", "2048", "--max-tokens", "48")
    body = {"model": "direct@local", "messages": [{"role": "user", "content": CUED}]}
    with serve_process("", tmp_path, *options, "--store", "served.db") as root:
        async with aiohttp.ClientSession() as session:
            asked = {"problem": CUED, "method": "cfr"}
            async with session.post(f"{root}/playground/answer", json=asked) as reply:
                page = await reply.text()
            address = f"{root}/v1/chat/completions"
            async with session.post(address, json=body | {"stream": True}) as reply:
                stream = await reply.text()
            async with session.get(f"{root}/runs/1") as reply:
                assert reply.status == 200
    assert page.count('"kind":"words"') > 5  # word by word
    assert '"kind":"end"' in page
    assert stream.count('"content":') > 5
    assert stream.endswith("data: [DONE]\n\n")
    with Store(str(tmp_path / "served.db")) as served:
        assert {one.series.label for one in summaries(served)} == {"CFR (always-on)", "Direct CoT"}
