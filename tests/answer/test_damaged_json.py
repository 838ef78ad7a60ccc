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


@pytest.mark.parametrize("cut", range(1, 18))
def test_a_value_that_the_reply_ends_in_is_not_whole(cut: int) -> None:
    """Half a number is another number."""
    text = '{"final_answer": "1234567890abcdefg"}'[: -cut - 2]
    found = find_field(text)
    assert found == Field(None)


def test_an_unquoted_value_may_go_on_too() -> None:
    assert find_field('{"final_answer": 12') == Field(None)
    assert find_field('{"final_answer": 12\n') == Field("12")
    assert find_field('{"final_answer":') == Field(None)


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
        assert found is None or len(found.value or "") <= len(reply)


@pytest.mark.parametrize("text", ["[1]", '"x"', "7", "null", "[" * 100_000])
def test_a_message_that_is_no_object_has_no_content(text: str) -> None:
    assert find_content(text) == ""


@given(st.text(max_size=60))
def test_no_message_breaks_it(text: str) -> None:
    assert find_content(json.dumps({"content": text})) == text
    for broken in (text, '{"content": ' + text, '{"content": "' + text):
        assert len(find_content(broken)) <= len(broken)


# --- json object


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


@given(st.text("\a\b\t\n\v\f\r abefghilnoqrtuw{}"))
def test_what_is_restored_stays_as_it_is(text: str) -> None:
    once = restore_commands(text)
    assert restore_commands(once) == once
