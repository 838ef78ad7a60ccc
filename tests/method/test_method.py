"""What holds for every method that is built in."""

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from snapshot import Golden

from constraint_first.method.method import configuration, gathering, models_of
from constraint_first.method.registry import METHODS, make
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Run, Usage

PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7. {x} [[problem]]")
SPEC = json.dumps({"raw_constraints": [{"id": "C1", "type": "modular", "description": "mod 7"}]})
REPLIES = {"stage1": SPEC, "router": '{"restrictive": "yes"}', "format": "An integer."}
VARIANTS = [
    *METHODS,
    "cfr(reply=prose)",
    "cfr-brief(reply=json)",
    "llm-router-brief(reply=json)",
    "cfr(prompts=paper)",
    "cfr-brief(question=1,budget=cues)",
    "program(style=thinking,tell=stated)",
    "program(style=bare)",
    "program(style=short)",
    "vote(base=program+direct,check=off)",
    "until-agreed(check=repair)",
    "stated-cfr(own=join)",
    "plain(mind=reminder)",
    "plain(mind=list)",
    "sound(then=turn)",
]
LABELS = {name: factory().label for name, factory in METHODS.items()}
WHOLE_REPLIES = {"plain", "sound"}
"""Methods whose answer is the reply itself."""


def reply_to(stage: str) -> Completion:
    return Completion(REPLIES.get(stage, r"So it is \boxed{5}."), usage=Usage(100, 200))


def play(method: str, problem: Problem = PROBLEM) -> Run[Solution]:
    run = Run(make(method).solve(problem))
    while run.calls:
        run.advance(tuple(reply_to(call.stage) for call in run.calls))
    return run


@pytest.mark.parametrize("method", VARIANTS)
def test_neither_benchmark_nor_gold_answer_reaches_a_prompt(method: str) -> None:
    known = Problem(PROBLEM.text, id="secret-id", answer="secret-gold", benchmark="aime-secret")
    told, untold = play(method, known), play(method)
    assert told.exchanges == untold.exchanges
    assert "secret" not in repr(told.exchanges)
    assert PROBLEM.text in told.exchanges[0].call.messages[0].content  # as it was written


# These ask nothing that the snapshots of other methods, and of the direct, stage1 and stage2
# prompts, do not show.
SHOWN_ELSEWHERE = {
    *("direct", "cfr", "cfr-brief", "routed-cfr", "routed-cfr-brief", "llm-router-brief"),
    *("self-consistency", "calibrated"),
}


@pytest.mark.parametrize("method", sorted(METHODS.keys() - SHOWN_ELSEWHERE))
def test_every_prompt_is_known_word_for_word(golden: Golden, method: str) -> None:
    run = play(method)
    turns = [
        f"--- {exchange.call.stage}, {exchange.call.max_tokens} tokens, {message.role}\n"
        + message.content
        for exchange in run.exchanges
        if not exchange.call.stage.startswith("stage")
        for message in exchange.call.messages
    ]
    assert "\n\n".join(turns) + "\n" == golden(f"method-{method}.txt")


@pytest.mark.parametrize("method", sorted(METHODS.keys() - WHOLE_REPLIES))
def test_replies_without_an_answer_are_no_answer(method: str) -> None:
    run = Run(make(method).solve(PROBLEM))
    while run.calls:
        run.advance((Completion("First we", "length", usage=Usage(1, 2)),) * len(run.calls))
    assert run.result.answer is None
    assert run.result.truncated


def test_programs_and_interventions_of_all_samples_are_kept() -> None:
    one = Solution("1", "", details={"programs": ["a"], "how": "printed"})
    two = Solution("2", "", details={"programs": ["b", "c"], "interventions": ["d"]})
    none = Solution("3", "", details={"programs": "odd"})
    kept = gathering(one, (none, one, two))
    assert (kept.answer, kept.details["how"]) == ("1", "printed")
    assert kept.details["programs"] == ["a", "b", "c"]
    assert kept.details["interventions"] == ["d"]
    assert gathering(none, (none,)) == none


TABLE = Path(__file__).parent.parent.parent / "docs" / "methods.md"
ROW = re.compile(r"^\| `([\w-]+)` \| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \| ([^|]+?) \|$", re.M)


def test_the_documentation_has_every_method_and_its_label() -> None:
    rows = {row[0]: row[1:] for row in ROW.findall(TABLE.read_text(encoding="utf-8"))}
    assert {name: row[0] for name, row in rows.items()} == LABELS
    folder = TABLE.parent.parent / "src" / "constraint_first"
    for name, (_, calls, prompts, _section) in rows.items():
        stages = set(re.findall(r"`([\w-]+)`", calls))
        asked = {exchange.call.stage for exchange in play(name).exchanges}
        assert asked <= stages, name
        for prompt in re.findall(r"`([\w-]+)`", prompts):
            assert list(folder.glob(f"*/prompts/{prompt}.txt")), prompt


def test_a_method_lists_the_other_models_that_it_asks() -> None:
    assert [models_of(make(name)) for name in METHODS] == [()] * len(METHODS)
    assert models_of(make("cfr(extractor=small)")) == ("small",)
    assert models_of(make("llm-router(model=router,extractor=small)")) == ("router", "small")
    voting = "self-consistency(base=self-consistency(base=routed-cfr(extractor=a/b)))"
    assert models_of(make(voting)) == ("a/b",)

    assert models_of((make("direct"), [make("cfr(extractor=small)")])) == ("small",)


@pytest.mark.parametrize(
    "method", ["cfr(extractor=s)", "routed-cfr(extractor=s)", "llm-router(model=s,extractor=s)"]
)
def test_a_method_names_another_model_in_the_calls_that_are_for_it(method: str) -> None:
    calls = [exchange.call for exchange in play(method).exchanges]
    assert {call.stage for call in calls if call.model == "s"} <= {"router", "stage1"}
    assert {call.stage for call in calls if call.model is None} == {"stage2"}
    plain = [exchange.call for exchange in play(method.partition("(")[0]).exchanges]
    assert [replace(call, model=None) for call in calls] == plain


def test_a_later_option_shows_only_where_it_is_used() -> None:
    @dataclass(frozen=True)
    class Grown:
        first: int = 1
        later: str = field(default="", repr=False)

    assert configuration(Grown()) == repr(Grown())
    assert configuration(Grown(2, "x")).endswith("Grown(first=2, later='x')")
    assert repr(make("cfr-brief")) == (
        "CFR(reply='prose', extraction_budget=1024, solving_budget=31744, "
        "fallback=Direct(budget=32768))"
    )
    assert repr(make("cfr(extractor=s)")).endswith("extractor='s')")
    assert repr(make("llm-router(model=s)")).endswith("budget=1024, model='s')")
