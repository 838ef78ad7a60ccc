import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.answer.damaged_json import begins_command, restore_commands

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


def test_white_space_that_is_half_a_command_is_told_from_white_space() -> None:
    assert begins_command("\theta", 0)
    assert not begins_command("\tnumber", 0)
    assert not begins_command("\nu", 0)


@given(st.text("\a\b\t\n\v\f\r abefghilnoqrtuw{}"))
def test_what_is_restored_stays_as_it_is(text: str) -> None:
    once = restore_commands(text)
    assert restore_commands(once) == once
