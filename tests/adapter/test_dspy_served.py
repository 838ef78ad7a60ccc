"""DSPy's own package in front of a real ``cfr serve``, and its page as it stands."""

from __future__ import annotations

import doctest
import os
import re
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint, Reply, completion
from serve_process import serve_process
from served import CUED, SPEC

from constraint_first.model.local import DEFAULT_MODEL

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # else DSPy fetches a price list
dspy: Any = pytest.importorskip(
    "dspy", reason="DSPy holds openai back and cannot be in the development lock: make recipes"
)

pytestmark = pytest.mark.recipe

PAGE = Path(__file__).parents[2] / "docs" / "dspy.md"
WRITTEN = (
    (
        39,
        "```python\n# Compute 7^100 modulo 13\nremainder = pow(7, 100, 13)\nprint(remainder)\n```",
    ),
    (
        74,
        "```python\n# Calculate the remainder of 7^100 divided by 13\n"
        "remainder = pow(7, 100, 13)\nprint(remainder)\n```\n\nThis solution uses the built-in "
        r"`pow` function in Python, which computes \(7^{100} \mod 13\) efficiently and prints the "
        "remainder.",
    ),
)
"""What the embedded model wrote when the page was made, with its tokens."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Endpoint]]:
    dspy.configure_cache(enable_disk_cache=False)
    with Endpoint() as endpoint:
        endpoint.served = [{"id": DEFAULT_MODEL}]
        folder = tmp_path_factory.mktemp("served")
        with serve_process(endpoint.url, folder, "--model", DEFAULT_MODEL) as address:
            yield address, endpoint


def model_of_the_page() -> Callable[[dict[str, Any]], Reply]:
    """Play the embedded model; it errs in one of the sums, and it can read fields."""
    written = cycle(WRITTEN)

    def reply(body: dict[str, Any]) -> Reply:
        asked = body["messages"][-1]["content"]
        if "[[ ## text ## ]]" in asked:
            found = re.search(r"boxed\{(\d+)\}", asked)
            return in_json(f"[[ ## answer ## ]]\n{found and found[1]}\n\n[[ ## completed ## ]]")
        if sums := re.search(r"What is (\d) \+ 2", asked):
            return in_json(rf"\boxed{{{min(int(sums[1]), 2) + 2}}}")
        tokens, text = next(written)
        return in_json(text, {"prompt_tokens": 132, "completion_tokens": tokens})

    return reply


def in_json(text: str, usage: dict[str, Any] | None = None) -> Reply:
    """Reply as endpoints do whose replies pass through to a client that looks at their type."""
    reply = completion(text, usage=usage)
    reply.headers["Content-Type"] = "application/json"
    return reply


def test_the_page_is_as_it_says(server: tuple[str, Endpoint]) -> None:
    address, endpoint = server
    endpoint.respond = model_of_the_page()
    text = PAGE.read_text()
    shown = "\n".join(re.findall(r"^```pycon\n(.*?)^```", text, re.S | re.M))
    shown = shown.replace("http://127.0.0.1:8080", address)
    examples = doctest.DocTestParser().get_doctest(shown, {}, PAGE.name, str(PAGE), 0)
    assert len(examples.examples) > 12
    said: list[str] = []
    doctest.DocTestRunner().run(examples, out=said.append)
    assert not said, "".join(said)


def test_a_method_answers_with_all_its_work(server: tuple[str, Endpoint]) -> None:
    address, endpoint = server
    endpoint.respond, endpoint.requests = None, []
    endpoint.script(completion(SPEC), completion(r"So \boxed{5}"))
    lm = dspy.LM("openai/cfr@", api_base=f"{address}/v1", api_key="none", temperature=0.3)
    (found,) = lm(CUED)
    assert found["text"] == r"So \boxed{5}"
    assert "taken modulo 7" in found["reasoning_content"]
    assert [body["temperature"] for body in endpoint.requests] == [0.3, 0.3]
    assert lm.history[0]["usage"]["total_tokens"] == 36
