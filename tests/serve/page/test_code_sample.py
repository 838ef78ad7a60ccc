import ast
import json
import shlex
from typing import Any

import pytest
from paged import HOSTILE

from constraint_first.serve.page.playground import write_samples

TEXTS = ["What is 2 + 2?", 'It\'s $HOME `id` "$(id)" \\n\n! 🧮', HOSTILE]


@pytest.mark.parametrize("text", TEXTS)
def test_a_shell_and_python_send_the_very_same(text: str) -> None:
    made = write_samples("http://[::1]:80/v1", "cfr@m'x", text, {"seed": 7}, token=True)
    words = shlex.split(made.curl)
    sent: dict[str, Any] = {"model": "cfr@m'x", "messages": [{"role": "user", "content": text}]}
    assert words[1] == "http://[::1]:80/v1/chat/completions"
    assert json.loads(words[-1]) == sent | {"seed": 7}
    assert 'Bearer $CFR_TOKEN"' in made.curl
    (call,) = [
        node
        for node in ast.walk(ast.parse(made.python))
        if isinstance(node, ast.Call) and len(node.keywords) == 3
    ]
    given = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    assert given == sent | {"seed": 7}
    assert 'api_key=os.environ["CFR_TOKEN"]' in made.python


def test_without_a_token_none_is_named() -> None:
    made = write_samples("http://h/v1", "direct@", "x", {}, token=False)
    assert "CFR_TOKEN" not in made.curl + made.python
    assert made.python.startswith("from openai import OpenAI")
