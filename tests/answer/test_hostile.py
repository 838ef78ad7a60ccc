"""Text made to hurt: nothing runs, nothing hangs, nothing grows, and the next case is served."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from constraint_first.answer.grade import grade, grade_reply
from constraint_first.answer.workers import Workers

HOSTILE = {
    "tower": "9^{9^{9^{9^9}}}",
    "python tower": "9**9**9**9**9",
    "factorial tower": "((((9!)!)!)!)!",
    "huge factorial": "100000000!",
    "huge binomial": r"\binom{1000000000}{500000000}",
    "huge modulus": r"10^{100000000} \bmod 7",
    "exponentials": "e^{e^{e^{e^{e^e}}}}",
    "huge sine": r"\sin(10^{10^{10}})",
    "nested parentheses": "(" * 100_000 + "1" + ")" * 100_000,
    "fewer parentheses": "(" * 1400 + "1" + ")" * 1400,
    "a megabyte of digits": "7" * 1_000_000,
    "a boxed megabyte": r"\boxed{" + "7" * 1_000_000 + "}",
    "ten thousand boxes": r"\boxed{1} " * 10_000,
    "ten thousand open boxes": r"\boxed{" * 10_000,
    "open fractions": r"\frac{" * 400,
    "deep fractions": r"\frac{1}{" * 200 + "1" + "}" * 200,
    "deep roots": r"\sqrt{" * 300 + "2" + "}" * 300,
    "long product": "*".join(["99999^9999"] * 100),
    "many signs": "(" + ",".join([r"\pm 1"] * 30) + ")",
    "many factorials": "5" + "!" * 1000,
    "polynomial": "(x+y+z+1)^{1000}",
    "nested powers": "(" * 30 + "x+1" + ")^{9}" * 30,
    "spaces": " " * 100_000 + "x",
    "spaced digits": "1" + " 000" * 50_000,
    "dots": "1" + "." * 100_000,
    "commas": "1," * 700,
    "stars": "*" * 100_000,
    "dollars": "$" * 100_001,
    "answers": "the answer is " * 20_000,
    "thoughts": "<think>" * 20_000,
    "backslashes": '{"final_answer": "' + "\\" * 100_000,
    "quotes": '{"final_answer": "' + '" ' * 50_000,
    "more quotes": '{"final_answer": "' + 'x"y' * 50_000,
    "open objects": '{"final_answer": ' * 5_000,
    "nested objects": '"answer": ' + '{"a": ' * 5_000,
    "nested fields": '{"a": ' * 2_000 + "5" + "}" * 2_000,
    "box tokens": "<|begin_of_box|>" * 5_000,
    "answer tags": "<answer>" * 20_000,
    "choices": "rather pick B than A, option C is " * 5_000,
    "answers that are not": "the answer is not 5 " * 10_000,
    "excuses": "could not determine the " * 10_000,
    "open lists": '{"final_answer": ' + "[" * 100_000,
    "bars": "|x" * 700,
    "vulgar fractions": "½" * 1000,
    "nul and surrogate": "\x00\ud800 5",
    "huge exponent": "1e999999999",
    "huge root": r"\sqrt[1000000000]{2}",
    "nested sums": r"\sum_{k=1}^{199}" * 12 + "k",
    "a long sum": r"\sum_{k=1}^{199} \frac{1}{k^{900}+7^{2000}}",
    "an integral without end": r"\int_0^{\infty} \sin(x^2) e^{x}\,dx",
    "open integrals": r"\int_0^1 " * 400,
    "open brackets": "]1,2[" * 500,
    "bracketed commas": "[" + "1," * 1400,
    "spelt numbers": "twenty " * 400,
    "capitals": "AB" * 1400,
    "units": "5 hours " * 300,
    "unions": r"(1,2)\cup" * 250 + "(3,4)",
    "digits of a base": "A1" * 1000 + "_{16}",
    "digits of another script": "5_፩",
    "a period of another script": r"0.\overline{፩}",
    "a period behind a power": r"1.2e5\overline{3}",
}
CODE = {
    "import": "__import__('os').system('touch {}')",
    "open": "open('{}', 'w')",
    "exec": "exec(\"open('{}', 'w')\")",
    "class": "().__class__.__bases__[0].__subclasses__()",
    "latex": r"\boxed{{\operatorname{{exec}}(\text{{open('{}', 'w')}})}}",
    "json": "{{\"final_answer\": \"eval(open('{}', 'w'))\"}}",
}


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    with Workers(1) as pool:
        yield pool


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_answered_and_the_next_case_served(workers: Workers, name: str) -> None:
    text = HOSTILE[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for pred, gold in ((text, "5"), ("5", text), (text, text + " "), (text, "x+1")):
        for judge in (grade, grade_reply):
            verdict = judge(pred, gold, workers=workers)
            assert not verdict.correct or pred.strip() == gold.strip()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown <= 50 * 1024
    assert grade("2x", "x+x", workers=workers).correct


@pytest.mark.parametrize("name", CODE)
def test_code_is_only_text(workers: Workers, name: str, tmp_path: Path) -> None:
    target = tmp_path / "touched"
    for gold in ("5", "x+1", CODE[name].format(target)):
        grade_reply(CODE[name].format(target), gold, workers=workers)
    assert not target.exists()
