from dataclasses import replace

import pytest

from constraint_first.protocol import (
    Call,
    Completion,
    Exchange,
    Execution,
    Output,
    Program,
    Run,
    Steps,
    Usage,
    altered,
    ask,
    execute,
    together,
)


def call(name: str) -> Call:
    return Call.user(name, stage="direct", max_tokens=10)


def asking(*names: str) -> Steps[str]:
    said = ""
    for name in names:
        said += (yield from ask(call(name))).text
    return said


def test_a_run_shows_its_calls_and_takes_their_completions() -> None:
    run = Run(asking("a", "b"))
    assert run.calls == (call("a"),)
    run.advance((Completion("1"),))
    assert run.calls == (call("b"),)
    assert not run.done
    run.advance((Completion("2"),))
    assert run.done
    assert run.result == "12"
    assert run.exchanges == [
        Exchange(call("a"), Completion("1")),
        Exchange(call("b"), Completion("2")),
    ]


def test_together_asks_for_all_branches_in_one_round() -> None:
    run = Run(together([asking("a", "b"), asking(), asking("c"), asking("d", "e", "f")]))
    rounds: list[list[str]] = []
    while not run.done:
        rounds.append([c.messages[0].content for c in run.calls])
        run.advance(tuple(Completion(name.upper()) for name in rounds[-1]))
    assert rounds == [["a", "c", "d"], ["b", "e"], ["f"]]
    assert run.result == ("AB", "", "C", "DEF")


def computing(name: str) -> Steps[str]:
    said = yield from ask(call(name))
    output = yield from execute(Program(said.text))
    return output.text


def test_a_round_may_mix_calls_and_programs() -> None:
    run = Run(together([computing("a"), asking("b", "c")]))
    run.advance((Completion("print(1)"), Completion("2")))
    assert run.round == (Program("print(1)"), call("c"))
    assert run.calls == (call("c"),)
    run.advance((Output("1\n", seconds=0.5), Completion("3")))
    assert run.result == ("1\n", "23")
    assert run.transcript == [
        Exchange(call("a"), Completion("print(1)")),
        Exchange(call("b"), Completion("2")),
        Execution(Program("print(1)"), Output("1\n", seconds=0.5)),
        Exchange(call("c"), Completion("3")),
    ]
    assert [entry.call for entry in run.exchanges] == [call("a"), call("b"), call("c")]


def test_altering_calls_leaves_programs_alone() -> None:
    run = Run(altered(computing("a"), lambda asked: replace(asked, sample=7)))
    assert run.round == (replace(call("a"), sample=7),)
    run.advance((Completion("print(1)"),))
    assert run.round == (Program("print(1)"),)
    run.advance((Output("1"),))
    assert run.result == "1"


def test_a_step_takes_only_its_own_kind_of_answer() -> None:
    with pytest.raises(TypeError, match="expected a Completion and got a Output"):
        Run(asking("a")).advance((Output("1"),))
    with pytest.raises(TypeError, match="expected a Output"):
        Run(execute(Program("x"))).advance((Completion("1"),))


def test_a_result_is_not_there_before_the_end() -> None:
    with pytest.raises(RuntimeError, match="still waits for 1 answer"):
        _ = Run(asking("a")).result


def test_completions_must_match_the_round() -> None:
    run = Run(asking("a"))
    with pytest.raises(ValueError, match=r"1 step\(s\) but got 2"):
        run.advance((Completion(""), Completion("")))
    run.advance((Completion(""),))
    with pytest.raises(RuntimeError, match="takes no more"):
        run.advance(())


def test_an_empty_round_is_a_mistake_in_the_method() -> None:
    def idle() -> Steps[None]:
        yield ()

    with pytest.raises(ValueError, match="empty round"):
        Run(idle())


def test_usage_adds_up_and_remembers_what_was_not_reported() -> None:
    both = Usage(10, 5, reasoning=3, cached=2) + Usage(1, 1)
    assert both == Usage(11, 6, reasoning=3, cached=2)
    assert both.total == 17
    assert not (both + Usage(reported=False)).reported
