import pytest
from hypothesis import given
from hypothesis import strategies as st
from played import play

from constraint_first.method.baselines import Direct
from constraint_first.method.method import Method
from constraint_first.method.program import (
    AVAILABLE,
    MODULES,
    Programmed,
    read_output,
    read_program,
)
from constraint_first.method.registry import make
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Completion, Exchange, Output, Program, Run

PROBLEM = Problem("Find the remainder when $3^{50}$ is divided by 7.")
REPLY = "Let us compute.\n```python\nprint(3**50 % 7)\n```\nThat is all."


def steps(run: Run[Solution]) -> list[str]:
    return [entry.call.stage if isinstance(entry, Exchange) else "run" for entry in run.transcript]


def first_call(method: Method, problem: Problem = PROBLEM) -> Call:
    return Run(method.solve(problem)).calls[0]


def test_what_a_program_prints_is_the_answer() -> None:
    run = Run(Programmed().solve(PROBLEM))
    (call,) = run.calls
    assert (call.stage, call.max_tokens, call.json) == ("program", 32_768, False)
    run.advance((Completion(REPLY),))
    assert run.round == (Program("print(3**50 % 7)\n"),)
    run.advance((Output("2\n"),))
    assert (run.result.answer, run.result.text) == ("2", REPLY)
    ran = {"source": "print(3**50 % 7)\n", "output": "2\n", "error": ""}
    assert run.result.details == {"how": "printed", "programs": [ran]}


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (Output("2\n", "ZeroDivisionError: division by zero"), "program crashed"),
        (Output(" \n"), "program printed nothing"),
        (Output("None"), "program printed nothing"),
        (Output("12"), "breaks: "),
    ],
)
def test_a_program_that_leads_nowhere_falls_back(output: Output, why: str) -> None:
    run = play(Programmed(), PROBLEM, REPLY, output, r"\boxed{2}")
    assert steps(run) == ["program", "run", "direct"]
    assert run.exchanges[1].call == Run(Direct().solve(PROBLEM)).calls[0]
    assert run.result.answer == "2"
    assert str(run.result.details["fell_back"]).startswith(why)
    ran = {"source": "print(3**50 % 7)\n", "output": output.text, "error": output.error}
    assert run.result.details["programs"] == [ran]


def test_without_a_check_or_a_fallback_the_printed_answer_stands() -> None:
    alone = Programmed(fallback=None)
    for method in (Programmed(check="off"), alone):
        assert play(method, PROBLEM, REPLY, Output("12")).result.answer == "12"
    crashed = play(alone, PROBLEM, REPLY, Output("", "SyntaxError: invalid syntax")).result
    assert (crashed.answer, crashed.details["how"]) == (None, "program crashed")


def test_a_certain_repair_comes_before_the_fallback() -> None:
    run = play(Programmed(check="repair"), PROBLEM, REPLY, Output("16"))
    assert (steps(run), run.result.answer) == (["program", "run"], "2")
    assert "interventions" in run.result.details
    other = play(Programmed(check="repair"), PROBLEM, REPLY, Output("1/2"), r"\boxed{2}")
    assert steps(other) == ["program", "run", "direct"]


def test_a_reply_without_a_program_is_read_like_any_reply() -> None:
    run = play(Programmed(), PROBLEM, r"It is plainly \boxed{2}.")
    assert (steps(run), run.result.answer) == (["program"], "2")
    assert run.result.details == {"how": "boxed"}
    none = play(Programmed(), PROBLEM, "I do not know the answer.", r"\boxed{2}")
    assert steps(none) == ["program", "direct"]
    assert none.result.details["fell_back"] == "no answer"


CHOICE = Problem("What is half of three quarters?\nA. 3/8\nB. 3/2\nC. 6/4\nD. None of these")


@pytest.mark.parametrize(
    ("printed", "said", "answer"),
    [
        ("Fraction(3, 8)", "", "A"),
        ("0.375", "", "A"),
        ("D", "", "D"),
        ("1.5", "A", "A"),  # two options have this value
        ("7", r"\frac{3}{8}", "A"),
        ("7", "8", "8"),  # no option has it: the reply is kept as it is
    ],
)
def test_a_value_becomes_the_letter_of_its_option(printed: str, said: str, answer: str) -> None:
    replies = [f"\\boxed{{{said}}}"] if said else []
    run = play(Programmed(), CHOICE, REPLY, Output(printed), *replies)
    assert (steps(run), run.result.answer) == (["program", "run"] + ["direct"] * bool(said), answer)
    if said:
        assert run.result.details["fell_back"] == "program printed no answer of the form asked"


def test_a_reply_without_a_program_is_given_its_letter_too() -> None:
    assert play(Programmed(), CHOICE, r"It is \boxed{0.375}.").result.answer == "A"


def test_a_program_that_the_budget_cut_off_is_not_run() -> None:
    cut = Completion("```python\nx = 3**50\nprint(x)", "length")
    run = play(Programmed(), PROBLEM, cut, r"\boxed{2}")
    assert (steps(run), run.result.answer) == (["program", "direct"], "2")
    assert run.result.details["fell_back"] == "program cut off"
    alone = play(Programmed(fallback=None), PROBLEM, cut).result
    assert (alone.answer, alone.truncated) == (None, True)
    later = Completion("```python\nprint(3**50 % 7)\n```\nThis prints", "length")
    run = play(Programmed(), PROBLEM, later, Output("2"))
    assert (run.result.answer, run.result.truncated) == ("2", True)


@pytest.mark.parametrize(
    ("method", "present", "words"),
    [
        (Programmed("thinking"), True, "Begin the program with comments"),
        (Programmed(), False, "Begin the program"),
        (Programmed("bare"), True, "Your whole reply is one python block:"),
        (Programmed("short"), True, "Your whole reply is one short python block:"),
        (Programmed("sympy"), True, "or with sympy where there are equations"),
        (Programmed(tell="stated"), True, PROBLEM.text),
        (Programmed(tell="stated"), True, "What the text says of the answer:\n- "),
        (Programmed(modules="told"), True, f"library. {AVAILABLE} Reply"),
        (Programmed(), True, "library. Reply with one python block."),
    ],
)
def test_the_style_and_what_is_told_are_in_the_prompt(
    method: Programmed, words: str, *, present: bool
) -> None:
    assert (words in first_call(method).messages[0].content) == present
    plain = first_call(Programmed(tell="stated"), Problem("Compute $1+1$."))
    assert "What the text says" not in plain.messages[0].content
    assert first_call(make("program(tokens=400)")).max_tokens == 400


@pytest.mark.parametrize(
    ("reply", "source"),
    [
        ("```python\nprint(1)\n```", "print(1)\n"),
        ("```Python3\nprint(1)\n```", "print(1)\n"),
        ("~~~py\nprint(1)\n~~~", "print(1)\n"),
        ("```python\na = 1\n```\nBetter:\n```python\nprint(2)\n```\n", "print(2)\n"),
        ("```python\nprint(1)\n```\nIt prints\n```\n1\n```\n", "print(1)\n"),
        ("```python\nprint(1)\n```python\nprint(2)\n```", "print(2)\n"),
        ("1.\n   ```python\n   for i in x:\n     print(i)\n   ```", "for i in x:\n  print(i)\n"),
        ("```\nprint(1)\n```", "print(1)\n"),
        ("```\n1 + 1 = 2\n```", None),
        ("```python\n\n```", None),
        ("```sage\nprint(1)\n```", None),
        ("<think>```python\nprint(0)\n```</think>```python\nprint(1)\n```", "print(1)\n"),
        ("print(1)", None),
        ("", None),
        ("```python\nprint(1)", "print(1)"),
    ],
)  # fmt: skip
def test_the_last_python_block_is_the_program(reply: str, source: str | None) -> None:
    assert read_program(reply) == source


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        ("5", "5"),
        ("first 3\n\n5\n", "5"),
        ("Answer: 5", "5"),
        ("The answer is 5.", "5"),
        ("Fraction(3, 4)", "3/4"),
        ("Fraction(6, 1)", "6"),
        ("[Fraction(-1, 2), Fraction(3, 4)]", "[-1/2, 3/4]"),
        ("Decimal('1.50')", "1.50"),
        ("3/4", "3/4"),
        ("12.0", "12"),
        ("-12.0", "-12"),
        ("(3.0, 4.5)", "(3, 4.5)"),
        ("12.05", "12.05"),
        ("1.0e+16", "1.0e+16"),
        ("0.30000000000000004", "0.3"),
        ("2.9999999999999996", "3"),
        ("0.3333333333333333", "0.3333333333333333"),
        ("[1, 2]", "[1, 2]"),
        ("True", "True"),
        ("12:30", "12:30"),
        ("'Monday'", "Monday"),
        ("5 apples", "5 apples"),
        ("nan", None),
        ("[]", None),
        ("set()", None),
        ("None", None),
        ("", None),
    ],
)
def test_what_was_printed_is_read_as_python_writes_it(printed: str, answer: str | None) -> None:
    assert read_output(Output(printed)).answer == answer


def test_hostile_replies_and_outputs_are_read_in_no_time() -> None:
    assert read_program("```" * 100_000) is None
    assert read_program("```python\n" * 50_000) is None
    assert read_program(("\n" + " " * 1_000) * 500 + "```python\nprint(1)") == "print(1)"
    assert read_output(Output("Fraction(" * 50_000)).answer != ""
    assert read_output(Output("9" * 100_000 + ".0")).how
    assert read_output(Output("0." + "3" * 100_000)).how


def test_what_is_promised_names_every_module() -> None:
    assert all(module in AVAILABLE for module in MODULES)
    assert "\n" not in AVAILABLE


PIECES = st.sampled_from(
    ["```", "```python\n", "~~~py", "\n", "print(1)", "Fraction(1, 2)", "12.0", "Decimal('", "\0"]
)


@given(st.lists(PIECES | st.text(max_size=9)).map("".join))
def test_any_text_can_be_a_reply_or_an_output(text: str) -> None:
    source = read_program(text)
    assert source is None or source.strip()
    found = read_output(Output(text))
    assert found.answer is None or found.answer.strip()
    assert (found.answer is None) == (found.how != "printed")
