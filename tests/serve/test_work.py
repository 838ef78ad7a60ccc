from constraint_first.method.checked import assess
from constraint_first.method.registry import make
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Exchange, Execution, Output, Program
from constraint_first.serve.reply import (
    describe_checks,
    describe_constraints,
    describe_output,
    describe_start,
    describe_work,
    heading,
)

CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
PLAIN = Problem("Compute $3^5$.")
SPEC = (
    '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}],'
    ' "propagated_constraints": [{"from": ["C1"], "description": "0 to 6"}],'
    ' "answer_format": "integer"}'
)


def test_what_is_known_before_anything_is_asked() -> None:
    told = describe_start(make("routed-cfr"), CUED)
    assert "Cues:\n- modular_remainder: “remainder”" in told
    assert "The text demands:\n- The answer is a remainder: an integer from 0 to 6." in told
    assert describe_start(make("routed-cfr"), PLAIN) == "No restrictive cue."
    assert describe_start(make("direct"), PLAIN) == ""
    policy = describe_start(make("calibrated"), CUED)
    assert policy.startswith("Policy: ")


def test_constraints_are_listed() -> None:
    told = describe_constraints(Completion(SPEC))
    assert "- C1 (modular): taken modulo 7" in told
    assert "- 0 to 6" in told
    assert "format of the answer: integer" in told
    assert describe_constraints(Completion("no idea")).startswith("none (")


def test_a_program_is_shown_once() -> None:
    program, output = Program("print(1/0)\n"), Output("", "ZeroDivisionError: division by zero")
    assert "print(1/0)" in describe_output(program, output, listed=False)
    told = describe_output(program, output, listed=True)
    assert "print(1/0)" not in told
    assert "ZeroDivisionError" in told


def test_checks_are_marked() -> None:
    checks: list[Json] = [
        {"sentence": f"S{n}.", "truth": t} for n, t in enumerate(("holds", "violated", "odd"))
    ]
    told = describe_checks(Solution("5", "", details={"checks": checks}))
    assert [line[2] for line in told.splitlines()[-3:]] == ["✓", "✗", "?"]
    assert describe_checks(Solution("5", "", details={"conflicts": ["No!"]})).endswith("- No!")
    assert describe_checks(Solution("5", "")) == ""
    assert describe_checks(Solution(None, "", details={"checks": "odd"})) == ""


def test_work_from_its_start_on() -> None:
    call = Call.user("?", stage="stage1", max_tokens=9)
    source = "print(5)"
    reply = Completion(f"```python\n{source}\n```", reasoning="Let me see.")
    told = describe_work(
        make("program"),
        CUED,
        assess(CUED, Solution("5", "5")),
        [
            Exchange(call, Completion(SPEC)),
            Exchange(Call.user("?", stage="program", max_tokens=9), reply),
            Execution(Program(f"{source}\n"), Output("5\n")),
        ],
    )
    assert told.startswith("The text demands:")
    order = (
        "Stage 1: constraints",
        "taken modulo 7",
        "**Program**",
        "Let me see.",
        source,
        "Output",
    )
    places = [told.index(one) for one in order]
    assert places == sorted(places)
    assert told.count(source) == 1
    assert heading("direct") == "\n\n**Solution**\n\n"
