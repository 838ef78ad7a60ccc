import pytest
from loopback import Endpoint as Server
from loopback import completion, failure

import constraint_first
from constraint_first.attempt.solve import ProgressWatcher, SolveProgress
from constraint_first.model.wire import SILENT, Watcher
from constraint_first.protocol import Call, Completion, Usage

TEXT = "Find the remainder when $3^5$ is divided by 7."
CONSTRAINTS = '{"raw_constraints": [{"id": "C1", "type": "modular", "description": "in 0..6"}]}'


def test_each_stage_is_told_at_its_beginning_and_end(endpoint: Server) -> None:
    endpoint.script(completion(CONSTRAINTS), completion(r"\boxed{5}"))
    told: list[SolveProgress] = []
    solved = constraint_first.solve(TEXT, "routed-cfr", base_url=endpoint.url, progress=told.append)
    assert [(one.stage, one.state, one.calls, one.tokens) for one in told] == [
        ("stage1", "started", 0, 0),
        ("stage1", "finished", 1, 18),
        ("stage2", "started", 1, 18),
        ("stage2", "finished", 2, 36),
    ]
    assert told[-1].usage == solved.usage
    assert [one.seconds for one in told] == sorted(one.seconds for one in told)
    assert not any("stream" in body for body in endpoint.requests)


def test_it_reads_as_a_line() -> None:
    moment = SolveProgress("stage1", "finished", "", 1, Usage(1_000, 234), 2.04)
    assert str(moment) == "stage1 finished: 1,234 tokens, 2.0 s"
    assert str(SolveProgress("model", "fetching", "1 of 9 MB")).startswith(
        "model fetching (1 of 9 MB): "
    )


def test_a_call_that_is_asked_again_is_told_with_its_reason(endpoint: Server) -> None:
    endpoint.script(failure(503, "busy", Retry_After="0"), completion(r"\boxed{5}"))
    told: list[SolveProgress] = []
    constraint_first.solve(TEXT, "direct", base_url=endpoint.url, progress=told.append)
    assert [one.state for one in told] == ["started", "retrying", "finished"]
    assert "busy" in told[1].detail


def test_a_program_is_told_too() -> None:
    told: list[SolveProgress] = []
    reply = "```python\nprint(6 * 7)\n```"
    constraint_first.solve(
        "6 * 7?", "program", engine=constraint_first.Scripted([reply]), progress=told.append
    )
    assert [one.state for one in told if one.stage == "program"][-1] == "finished"
    assert len(told) >= 4


def test_of_a_file_every_tenth_is_told() -> None:
    told: list[SolveProgress] = []
    watcher = ProgressWatcher(told.append, SILENT)
    for done in range(1_001):
        watcher.fetching(done * 10**6, 10**9, "fetching")
    assert len(told) == 11
    assert told[5].detail == "fetching, 500 of 1,000 MB"


def test_what_the_function_raises_ends_the_solution() -> None:
    def stop(_moment: SolveProgress) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        constraint_first.solve(
            TEXT, "direct", engine=constraint_first.Scripted([r"\boxed{5}"]), progress=stop
        )


def test_another_watcher_hears_everything_beside_it() -> None:
    heard: list[str] = []

    class Hearing(Watcher):
        def started(self, call: Call) -> None:
            heard.append(call.stage)

        def finished(self, call: Call, completion: Completion) -> None:
            heard.append(completion.text)

    engine = constraint_first.Scripted([r"\boxed{5}"])
    constraint_first.solve(
        TEXT, "direct", engine=engine, watcher=Hearing(), progress=lambda _: None
    )
    assert heard == ["direct", r"\boxed{5}"]
