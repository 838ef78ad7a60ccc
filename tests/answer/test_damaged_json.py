import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.extract import (
    Field,
    find_content,
    find_field,
    find_object_answer,
    restore_commands,
)

# --- json field


def value(text: str) -> str | None:
    found = find_field(text)
    assert found is not None
    return found.value


@pytest.mark.parametrize(
    "text",
    [
        '{"final_answer": "42"}',
        '{"solution": "…", "final_answer": "42", "confidence": 0.9}',
        '{"final_answer": 42, "confidence": 0.9}',
        '{"finalAnswer": "42"}',
        '{"Final Answer": "42"}',
        '{"FINAL_ANSWER": "42"}',
        "{'final_answer': '42'}",
        "{“final_answer”: “42”}",
        "{final_answer: 42}",
        "final_answer = 42",
        '"final_answer" "42"',
        '{"final_answer": "42',
        '```json\n{"final_answer": "42"\n}\n```',
        r"{\"final_answer\": \"42\"}",
        '{"final_answer": "42" // the sum\n}',
        '{"final_answer": {"value": "42"}}',
        '{"final_answer": ["42"]}',
        '{"answer": "42"}',
        '{"answer": "41", "final_answer": "42"}',
        '{"final_answer": "42", "answer": "41"}',
        '{"final_answer": "41"} no: {"final_answer": "42"}',
        '{"final_answer": "42,\n  "confidence": 1}',
    ],
)
def test_the_value_where_its_key_stands(text: str) -> None:
    if text == '{"final_answer": "42':
        assert find_field(text) == Field(None, whole=False), "the value may go on"
    else:
        assert value(text) == "42"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The answer is 42.",
        "my final answer: 42",
        "Answer: 42",
        '{"solution": "the answer"}',
        "answers",
        "nswer",
    ],
)
def test_a_word_in_a_sentence_is_no_key(text: str) -> None:
    assert find_field(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r'{"final_answer": "\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"final_answer": "\\frac{1}{2}"}', r"\frac{1}{2}"),
        (r'{"final_answer": "\times 3"}', r"\times 3"),
        (r'{"final_answer": "x \neq 2"}', r"x \neq 2"),
        (r'{"final_answer": "3 \\text{ cm}"}', r"3 \text{ cm}"),
        (r'{"final_answer": "1\n2"}', "1 2"),
        (r'{"final_answer": "\u03c0"}', "π"),
        (r'{"final_answer": "\ud835\udc65 = 1"}', "𝑥 = 1"),
        (r'{"final_answer": "say \"x\""}', 'say "x"'),
        (r'{"final_answer": "a\/b"}', "a/b"),
        (r'{"final_answer": \frac{1}{2}, "c": 1}', r"\frac{1}{2}"),
        ('{"final_answer": \frac{1}{2}, "c": 1}', r"\frac{1}{2}"),
        ('{"final_answer": (1, 2), "c": 1}', "(1, 2)"),
        ('{"final_answer": [1, "x, y", [2, 3]]}', "1, x, y, [2, 3]"),
        ('{"final_answer": ["x = 1, y = 2"]}', "x = 1, y = 2"),
        ("{'final_answer': ['a, b', “c, d”]}", "a, b, c, d"),
        ('{"final_answer": ["1, 2, 3]}', "1, 2, 3"),
        ('{"final_answer": ["(1, 2)", "\\\\frac{1}{2}"]}', r"(1, 2), \frac{1}{2}"),
        ('{"final_answer": [1, 2), "c": 1}', "[1, 2)"),
        ('{"final_answer": null}', "null"),
        ('{"final_answer": ""}', ""),
    ],
)
def test_escapes_latex_and_lists(text: str, answer: str) -> None:
    assert value(text) == answer


@pytest.mark.parametrize("cut", range(1, 18))
def test_a_value_that_the_reply_ends_in_is_not_whole(cut: int) -> None:
    """Half a number is another number."""
    text = '{"final_answer": "1234567890abcdefg"}'[: -cut - 2]
    found = find_field(text)
    assert found == Field(None, whole=False)


def test_an_unquoted_value_may_go_on_too() -> None:
    assert find_field('{"final_answer": 12') == Field(None, whole=False)
    assert find_field('{"final_answer": 12\n') == Field("12")
    assert find_field('{"final_answer":') == Field(None, whole=False)


@given(st.text(st.characters(exclude_characters='"\\\n\t\r\f\b\a\v', codec="utf-8"), max_size=40))
def test_valid_json_is_read_as_json(answer: str) -> None:
    for text in (
        json.dumps({"final_answer": answer}),
        json.dumps({"final_answer": answer}, ensure_ascii=False),
        json.dumps({"confidence": 1, "final_answer": answer, "notes": "x"}, indent=2),
    ):
        assert value(text) == answer


@given(st.text(max_size=60) | st.text("{}[]\"':,\\ \nfinal_answer12", max_size=60))
def test_no_reply_breaks_it(text: str) -> None:
    for reply in (text, '{"final_answer": ' + text, '{"final_answer": "' + text):
        found = find_field(reply)
        assert found is None or found.whole or found.value is None
        assert find_field(reply) == found


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"content": "It is 4.", "reasoning_content": "hm"}', "It is 4."),
        ('{"content": null}', ""),
        ('{"content": 4}', ""),
        ('{"other": "x"}', ""),
        ('{"reasoning_content": "hm", "content": "It is 4.", "extra": ', "It is 4."),
        ('{"reasoning_content": "hm", "content": "It is', ""),
        ("not JSON", ""),
    ],
)
def test_the_content_of_an_endpoints_message(text: str, content: str) -> None:
    assert find_content(text) == content


@pytest.mark.parametrize("text", ["[1]", '"x"', "7", "null", "[" * 100_000])
def test_a_message_that_is_no_object_has_no_content(text: str) -> None:
    assert find_content(text) == ""


@given(st.text(max_size=60))
def test_no_message_breaks_it(text: str) -> None:
    assert find_content(json.dumps({"content": text})) == text
    for broken in (text, '{"content": ' + text, '{"content": "' + text):
        assert len(find_content(broken)) <= len(broken)


# --- json object


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"result": 17}', "17"),
        ('{"x": "17"}', "17"),
        ('{"steps": ["a"], "final": "17"}', "17"),
        ('{"correct_answer": "C", "explanation": "x"}', "C"),
        ('```json\n{"value": 17}\n```', "17"),
        ('Here it is:\n{"ans": 17}', "17"),
        ('{"answers": [3, "5"]}', "3, 5"),
        ('{"output": {"value": 17, "unit": "cm"}}', "17"),
        (r'{"result": "\sqrt{2}"}', r"\sqrt{2}"),
        ('{"答案": "3"}', "3"),
        ('{"result": true}', "true"),
        ('{"result": null}', ""),
    ],
)
def test_the_field_of_an_answer(text: str, answer: str) -> None:
    assert find_object_answer(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "17",
        "{17}",
        '{"x": 2, "y": 3}',
        '{"result": 17} and so on',
        '{"text": "' + "long " * 100 + '"}',
        '{"a": ' * 5000 + "}",
        "{}",
    ],
)
def test_where_there_is_none(text: str) -> None:
    assert find_object_answer(text) is None


@given(st.dictionaries(st.text(max_size=8), st.integers() | st.text(max_size=8), max_size=4))
def test_no_object_breaks_it(fields: dict[str, int | str]) -> None:
    found = find_object_answer(json.dumps(fields))
    assert found is None or found in {str(value) for value in fields.values()}


# --- latex


COMMANDS = [
    r"\frac{1}{2}", r"\binom{n}{k}", r"\beta", r"\begin{pmatrix}", r"\tan x", r"\tanh x", r"\theta",
    r"\times 3", r"\text{even}", r"\textbf{x}", r"\tfrac12", r"\to 0", r"\triangleleft", r"\rho",
    r"\right)", r"\rightarrow", r"\rangle", r"\nu + 1", r"\neq 0", r"\nmid", r"\nabla", r"\notin",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_json_decoded_is_given_back(command: str) -> None:
    decoded = json.loads(f'"a {command}"')
    assert decoded != f"a {command}"
    assert restore_commands(decoded) == f"a {command}"


@pytest.mark.parametrize("command", [r"\alpha", r"\vec{v}"])
def test_so_is_one_that_a_python_literal_decoded(command: str) -> None:
    assert restore_commands({r"\a": "\a", r"\v": "\v"}[command[:2]] + command[2:]) == command


@pytest.mark.parametrize(
    "text",
    ["one\ntwo", "a\tnumber", "\textra", "1\r\n2", "so\nnot x", "x\nless than y", "\tright", ""],
)
def test_layout_before_a_word_stays_layout(text: str) -> None:
    assert restore_commands(text) == text


@given(st.text("\a\b\t\n\v\f\r abefghilnoqrtuw{}"))
def test_what_is_restored_stays_as_it_is(text: str) -> None:
    once = restore_commands(text)
    assert restore_commands(once) == once
