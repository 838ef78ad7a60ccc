import json
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from constraint_first.constraint.router import route
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import CFR, Routed
from constraint_first.method.former import renamed
from constraint_first.method.registry import METHODS, make
from constraint_first.method.rewording import Wording, original_prompts, reword
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem, Prompt, Solution
from constraint_first.protocol import Call, Steps, ask
from constraint_first.store.series import Series, fingerprint, probe_calls

SERIES = Series("aime24", "routed-cfr(reply=json)", "m")


@dataclass(frozen=True)
class Asks:
    """Asks the same call a number of times, or for ever."""

    label: ClassVar[str] = "Asks"
    call: Call
    times: int | None = 1

    def solve(self, problem: Problem) -> Steps[Solution]:
        asked = 0
        while self.times is None or asked < self.times:
            asked += 1
            yield (self.call,)
        return Solution("4", problem.text)


CALL = Call.user("What is 2 + 2?", stage="direct", max_tokens=100)


def test_settings_are_what_is_stored_and_compared() -> None:
    assert SERIES.settings == {"temperature": 0.7, "top_p": 0.95, "seed": None}
    warm = replace(SERIES, decoding=Decoding(1.0, 0.9, 7), system="Be brief.")
    assert warm.settings == {"temperature": 1.0, "top_p": 0.9, "seed": 7, "system": "Be brief."}
    assert json.loads(json.dumps(warm.settings)) == warm.settings


def test_settings_that_are_not_sent_are_on_record() -> None:
    unsent = replace(SERIES, decoding=Decoding(None, None))
    assert unsent.settings == {"temperature": None, "top_p": None, "seed": None}
    lowered = replace(SERIES, decoding=Decoding(max_tokens=4096))
    assert lowered.settings == SERIES.settings | {"max_tokens": 4096}
    more = replace(SERIES, decoding=Decoding(extra='{"top_k": 5}'))
    assert more.settings == SERIES.settings | {"extra": '{"top_k": 5}'}


def test_the_method_is_made_from_its_name_unless_it_is_given() -> None:
    assert SERIES.build() == make("routed-cfr(reply=json)") == Routed(CFR(reply="json"))
    given = Asks(CALL)
    assert replace(SERIES, method="mine", given=given).build() is given


def test_a_series_is_the_same_whichever_way_its_method_came() -> None:
    assert replace(SERIES, given=Routed(CFR(reply="json"))) == SERIES
    assert replace(SERIES, model="n") != SERIES


def test_probes_go_through_both_branches_of_a_router() -> None:
    stages = [call.stage for call in probe_calls(Routed())]
    assert stages == ["stage1", "stage2", "direct"]
    texts = [call.messages[-1].content for call in probe_calls(Direct())]
    assert len(texts) == 2
    assert [bool(route(text.splitlines()[-1])) for text in texts] == [True, False]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_comes_to_an_end_on_the_probes(name: str) -> None:
    calls = list(probe_calls(make(name)))
    assert 2 <= len(calls) <= 40
    assert calls == list(probe_calls(make(name)))


def test_a_method_without_end_is_probed_for_a_while() -> None:
    assert len(list(probe_calls(Asks(CALL, times=None)))) == 2 * 64


def test_a_fingerprint_is_the_methods_configuration_and_all_that_it_asks() -> None:
    first = Asks(CALL)
    changed = [
        replace(first, times=2),
        replace(first, call=replace(CALL, max_tokens=101)),
        replace(first, call=replace(CALL, json=True)),
        replace(first, call=Call.user("What is 2 + 3?", stage="direct", max_tokens=100)),
    ]
    prints = [fingerprint(method) for method in (first, *changed)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(Asks(CALL)) == prints[0]
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in prints)


def test_what_is_asked_counts_even_where_the_configuration_says_nothing() -> None:
    class Plain(Direct):
        def __repr__(self) -> str:
            return "Plain()"

    class Longer(Plain):
        def solve(self, problem: Problem) -> Steps[Solution]:
            return Direct.solve(self, replace(problem, text=problem.text + " Please."))

    assert repr(Plain()) == repr(Longer())
    assert fingerprint(Plain()) != fingerprint(Longer())


def test_built_in_methods_differ() -> None:
    prints = {name: fingerprint(make(name)) for name in METHODS}
    assert len(set(prints.values())) == len(METHODS), prints


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("direct", "3941a16d61d0834a"),
        ("cfr", "c6eb70f2bd0d9489"),
        ("cfr(prompts=own)", "c6eb70f2bd0d9489"),
        ("cfr(reply=json)", "946b01793ae4ad91"),
        ("cfr(question=1)", "7a69b136df6c9821"),
        ("cfr(budget=cues)", "3050dcb04291b2ba"),
        ("cfr(constraints=all)", "c612e330a062fe79"),
        ("cfr(json=off)", "cbdb17f08a6a5028"),
        ("cfr(extractor=small)", "f255012702240d35"),
        ("cfr(prompts=paper)", "555814fa50c0d722"),
        ("cfr(prompts=paper,reply=prose)", "6b48d0a1442651c2"),
        ("cfr(prompts=paper,constraints=6+3)", "d47f87650dbce12d"),
        ("routed-cfr", "d15548f75cd0ea74"),
        ("routed-cfr(reply=json)", "0946a31fae7e98c0"),
        ("routed-cfr(prompts=paper)", "508171e928912276"),
        ("routed-cfr(prompts=paper,convention=aime)", "b3e0337575b648c1"),
        ("llm-router", "15abac59764d5570"),
        ("llm-router(prompts=paper)", "5b536f113c6b1180"),
        ("stated-cfr(own=join)", "c9bf5c3d95422566"),
        ("self-consistency(base=cfr)", "206ea4f2f0f8817f"),
        ("self-consistency(base=routed-cfr)", "e834c78829fb0c06"),
        ("self-consistency(base=cfr(prompts=paper),samples=3)", "7ea89629ffc9bf77"),
        ("vote(base=program+cfr,fallback=routed-cfr(prompts=paper))", "04596d91bd7cbbd3"),
    ],
)
def test_methods_of_old_stores_are_still_the_same(name: str, known: str) -> None:
    # As the last version without CFR-brief wrote them; the oldest are from before CFR had options.
    assert fingerprint(make(renamed(name))) == known


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    script = (
        "from constraint_first.store.series import fingerprint;"
        "from constraint_first.method import make;"
        "print(fingerprint(make('routed-cfr')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().strip() == fingerprint(make("routed-cfr"))


def test_a_fingerprint_depends_on_configuration_and_prompts() -> None:
    names = ["direct", "cfr", "cfr-brief", "routed-cfr", "routed-cfr(router=printed)"]
    prints = {fingerprint(make(name)) for name in names}
    assert len(prints) == len(names)
    assert fingerprint(make("cfr")) == fingerprint(make("cfr"))
    changed = Direct(prompt=Prompt("direct", "Please solve [[problem]]"))
    assert fingerprint(changed) != fingerprint(make("direct"))


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


def test_another_model_is_part_of_a_fingerprint_and_its_absence_is_not() -> None:
    # As in stores that were made before a method could name another model.
    assert fingerprint(make("direct")) == "3941a16d61d0834a"
    names = ["cfr", "cfr(extractor=a)", "cfr(extractor=b)", "llm-router", "llm-router(model=a)"]
    assert len({fingerprint(make(name)) for name in names}) == len(names)
    assert fingerprint(CFR(extractor="a")) == fingerprint(make("cfr(extractor='a')"))
    assert len(fingerprint(CFR(extractor="\ud83d"))) == 16


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("checked", "correct"),
        ("vote", "direct"),
        ("program", "direct"),
        ("prove", "translate"),
        ("cfr-brief(question=1)", "clarify"),
        ("search", "finish"),
    ],
)
def test_prompts_that_only_some_replies_lead_to_count_too(name: str, prompt: str) -> None:
    original = original_prompts()[prompt]
    changed = replace(original, text=original.text + " Please.")  # by what it asks alone
    reworded = reword(make(name), Wording("polite", (changed,)))
    assert fingerprint(reworded) != fingerprint(make(name))


def test_a_prompt_of_ones_own_counts_even_where_no_probe_leads_to_it() -> None:
    original = original_prompts()["direct"]
    own = replace(original, text=original.text + " Please.", replaced=True)
    asked = [call.messages for call in probe_calls(make("cfr"))]
    reworded = reword(make("cfr"), Wording("polite", (own,)))
    assert [call.messages for call in probe_calls(reworded)] == asked
    assert fingerprint(reworded) != fingerprint(make("cfr"))
