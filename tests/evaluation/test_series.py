from dataclasses import dataclass
from typing import ClassVar

import pytest

from cfr.evaluation.series import fingerprint, probe_calls
from cfr.method import make
from cfr.problem import Problem, Solution
from cfr.protocol import Call, Steps, ask


def test_a_fingerprint_depends_on_configuration_and_prompts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ["direct", "cfr", "cfr(reply=json)", "routed-cfr", "routed-cfr(router=printed)"]
    prints = {fingerprint(make(name)) for name in names}
    assert len(prints) == len(names)
    assert fingerprint(make("cfr")) == fingerprint(make("cfr"))
    before = fingerprint(make("direct"))
    from cfr.method import direct
    from cfr.prompt import Prompt

    monkeypatch.setattr(direct, "_PROMPT", Prompt("direct", "Please solve [[problem]]"))
    assert fingerprint(make("direct")) != before


def test_a_method_that_breaks_on_the_probes_is_known_by_what_it_asked() -> None:
    @dataclass(frozen=True)
    class Breaks:
        label: ClassVar[str] = "Breaks"
        asks: str = "What?"

        def solve(self, problem: Problem) -> Steps[Solution]:
            yield from ask(Call.user(self.asks, stage="direct", max_tokens=1))
            raise KeyError(problem.text)

    assert [call.messages[0].content for call in probe_calls(Breaks())] == ["What?", "What?"]
    assert fingerprint(Breaks()) == fingerprint(Breaks())
    assert fingerprint(Breaks()) != fingerprint(Breaks(asks="Who?"))
    assert len(fingerprint(Breaks(asks="\ud83d"))) == 16
