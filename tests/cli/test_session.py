import json
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion, failure, stream

from constraint_first.attempt.events import Event, Finished
from constraint_first.cli.solve import open_session
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import Routed
from constraint_first.method.method import Method
from constraint_first.method.registry import make
from constraint_first.model.error import TookTooLong
from constraint_first.model.resolve import ModelRef
from constraint_first.model.transport import Bounds
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Program, Steps, ask, execute, together

CUED = Problem("Find the remainder when $3^5$ is divided by 7.")
PLAIN = Problem("Compute $3^5$.")
SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}]}
)


async def solve(server: Server, method: Method, problem: Problem) -> str | None:
    async with open_session(ModelRef(base_url=server.url), Decoding(), quiet=True) as session:
        return (await session.solve(method, problem)).answer


async def test_a_routed_problem_from_its_cues_to_its_cost(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script(completion(SPEC), completion(r"$243 = 34 \cdot 7 + 5$: \boxed{5}"))
    assert await solve(endpoint, Routed(), CUED) == "5"
    shown = capsys.readouterr().out
    parts = (
        "Routed-CFR", CUED.text, "Cues", "“remainder”", "Stage 1: constraints (parsed)",
        "taken modulo 7", "Stage 2: solution", r"34 \cdot 7", "Answer  5", "stage1", "all",
    )  # fmt: skip
    places = [shown.index(part) for part in parts]
    assert places == sorted(places), "in the order in which they happen"


@pytest.mark.parametrize("method", ["plain", "sound", "sound(then=off)"])
@pytest.mark.parametrize("text", ["Write about rain.", "Write about rain. Do not use any commas."])
async def test_a_reply_is_shown_once_and_a_draft_not_at_all(
    endpoint: Server, capsys: pytest.CaptureFixture[str], method: str, text: str
) -> None:
    endpoint.script(stream("Heavy rain, cold ", "rain, all day."))
    reply = await solve(endpoint, make(method), Problem(text))
    assert reply
    shown = capsys.readouterr().out
    assert (reply == "Heavy rain cold rain all day.") is ("commas" in text and method != "plain")
    shown = shown.partition("repair:")[0]  # the note of the change quotes both
    assert shown.count(reply) == 1
    assert shown.count("Heavy rain") == 1


async def test_thinking_inside_replies_is_no_solution(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    thought = stream("<th", "ink>243 = ", "238 + 5</thi", "nk>", r"It is \boxed{5}.")
    endpoint.script(completion(f"<think>modulo, then</think>{SPEC}"), thought)
    assert await solve(endpoint, Routed(), CUED) == "5"
    shown = capsys.readouterr().out
    assert "Stage 1: constraints (parsed)" in shown
    assert "243 = 238 + 5\nIt is" in shown
    assert "think>" not in shown
    assert "modulo, then" not in shown


async def test_samples_at_the_same_time_do_not_mix(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first is followed word by word; whatever ends before it waits."""
    order: list[int] = []

    def respond(body: dict[str, Any]) -> Reply:
        order.append(body["seed"])
        number = body["seed"]
        reply = stream(*f"Reply {number} says \\boxed{{{number % 2}}}.".split(" "))
        # The first request is the slowest, so that the others are there before it.
        reply.delay = 0.3 if len(order) == 1 else 0.0
        return reply

    endpoint.respond = respond
    ref, method = ModelRef(base_url=endpoint.url), make("self-consistency(samples=3)")
    async with open_session(ref, Decoding(seed=4), quiet=True) as session:
        await session.solve(method, PLAIN)
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if line.startswith("Reply")]
    assert sorted(order) == [4, 5, 6]
    assert sorted(shown) == [f"Reply{n}says\\boxed{{{n % 2}}}." for n in (4, 5, 6)]
    assert lines.count("Solution") == 3


async def test_a_call_that_is_made_again_says_why(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = failure(503, "busy \x1b[2J [red]now[/red]", Retry_After="0")
    endpoint.script(busy, completion(r"\boxed{243}"))
    assert await solve(endpoint, Direct(), PLAIN) == "243"
    shown = capsys.readouterr().out
    assert "HTTP 503" in shown
    assert "[red]now[/red]" in shown
    assert "asking again in 0.0 s" in shown
    assert "\x1b" not in shown, "what an endpoint says is no more to be obeyed than a model"


async def test_an_error_begins_a_line_of_its_own(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    half = 'data: {"choices": [{"delta": {"content": "It is"}}]}\n\n'
    endpoint.script(Reply(chunks=[half], endless=b": wait\n\n"))
    ref, bounds = ModelRef("m", base_url=endpoint.url), Bounds(seconds=0.5)
    async with open_session(ref, Decoding(), bounds, quiet=True) as session:
        with pytest.raises(TookTooLong):
            await session.solve(Direct(), PLAIN)
    assert capsys.readouterr().out.endswith("It is\n")


async def test_hostile_replies_are_shown_and_not_obeyed(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = {"raw_constraints": [{"id": "\x1b[2J", "type": "[bold]", "description": "\u202ex"}]}
    hostile = "\x1b]0;owned\x07 [red]y[/red] \\boxed{\x1b[31m5}"
    endpoint.script(completion(json.dumps(spec)), completion(hostile, reasoning_content="\x1b[5m"))
    await solve(endpoint, Routed(), Problem(CUED.text + " \x1b[2J[blink]"))
    shown = capsys.readouterr().out
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}
    assert "[red]y[/red]" in shown
    assert "[blink]" in shown


async def test_what_is_solved_silently_shows_nothing(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[Event] = []
    endpoint.script(completion(SPEC), completion(r"\boxed{5}"))
    async with open_session(ModelRef(base_url=endpoint.url), Decoding(), quiet=True) as session:
        assert (await session.solve_silently(Routed(), CUED, told.append)).answer == "5"
    finished = [event.call.stage for event in told if isinstance(event, Finished)]
    assert finished == ["stage1", "stage2"]
    assert not any(body.get("stream") for body in endpoint.requests)
    assert capsys.readouterr().out == ""


async def test_one_engine_serves_all_problems(endpoint: Server) -> None:
    async with open_session(ModelRef(base_url=endpoint.url), Decoding(0.0), quiet=True) as session:
        for _ in range(2):
            assert (await session.solve_silently(Direct(), PLAIN)).answer == "4"
    assert [body["temperature"] for body in endpoint.requests] == [0.0, 0.0]


@dataclass(frozen=True)
class Computes:
    """A method that has the reply run as a program, beside another question."""

    label: ClassVar[str] = "Computes"

    def solve(self, problem: Problem) -> Steps[Solution]:
        said = yield from ask(Call.user(problem.text, stage="direct", max_tokens=99))

        def program() -> Steps[str]:
            return (yield from execute(Program(said.text))).text

        def aside() -> Steps[str]:
            return (yield from ask(Call.user("And?", stage="direct", max_tokens=99))).text

        printed, _ = yield from together([program(), aside()])
        return Solution(printed.strip(), said.text)


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("print(6 * 7)", ["print(6 * 7)", "Output", "42", "Answer  42"]),
        ("print('\x1b[2J[red]')", ["print('�[2J[red]')", "Output"]),
        ("1 / 0", ["1 / 0", "Output", "ZeroDivisionError: division by zero"]),
        ("x = 1", ["x = 1", "Output", "nothing"]),
    ],
)
async def test_a_program_and_its_output_are_shown(
    endpoint: Server, capsys: pytest.CaptureFixture[str], source: str, parts: list[str]
) -> None:
    endpoint.script(completion(source), completion("aside"))
    await solve(endpoint, Computes(), PLAIN)
    shown = capsys.readouterr().out
    assert "\x1b[2J" not in shown
    assert "aside" in shown
    behind = shown[shown.index("Program\n") :]
    places = [behind.index(part) for part in parts]
    assert places == sorted(places)


FENCED = "I compute it.\n```python\nprint({})\n```"


async def test_a_program_of_a_reply_is_shown_once(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.script(stream(*FENCED.format("3 ** 5").split(" ")))
    assert await solve(endpoint, make("program"), PLAIN) == "243"
    shown = capsys.readouterr().out
    assert shown.count("print(") == 1
    lines = shown.splitlines()
    assert lines.count("Program") == 1
    assert lines.index("Output  243") < lines.index("Answer  243")


async def test_the_output_of_each_of_several_programs_is_named(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = ("1 // 0", "3 ** 5", "243")
    endpoint.script(*(completion(FENCED.format(source)) for source in sources))
    assert await solve(endpoint, make("until-agreed(base=program,most=3)"), PLAIN) == "243"
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert shown.count("print(") == 3
    assert [lines.count(title) for title in ("Program", "Program 2", "Program 3")] == [1, 1, 1]
    # The first two are asked at the same time, and either reply may be the first to come.
    outputs = sorted(line.partition("  ")[2] for line in lines if line.startswith("Output of "))
    assert outputs == ["243", "243", "ZeroDivisionError: division by zero"]
    assert lines[lines.index("Output of program 3  243") - 1] == ""


async def test_what_is_solved_unseen_shows_only_what_goes_wrong(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = failure(503, "busy", Retry_After="0")
    endpoint.script(busy, completion(r"so \boxed{243}"))
    async with open_session(ModelRef(base_url=endpoint.url), Decoding(), quiet=True) as session:
        assert (await session.solve_unseen(Direct(), PLAIN)).answer == "243"
    assert not any(body.get("stream") for body in endpoint.requests)
    shown = capsys.readouterr().out
    assert "asking again in 0.0 s" in shown
    assert "boxed" not in shown


async def test_endpoints_that_are_not_alike_are_named(
    endpoint: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.served = [{"id": "test-model", "root": "org/one"}]
    with Server() as other:
        other.served = [{"id": "test-model", "root": "org/two"}]
        ref = ModelRef(base_url=[endpoint.url, other.url])
        async with open_session(ref, Decoding()) as session:
            assert (await session.solve(Direct(), PLAIN)).answer == "4"
    assert f"{other.url}: the model is org/two there" in capsys.readouterr().err
