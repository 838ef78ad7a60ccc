from collections import Counter
from dataclasses import replace

import pytest
from hand_made import arm, attempt, study

from constraint_first.benchmark.constraintbench.item import load
from constraint_first.constraint.stage1 import Constraint, ConstraintSpec
from constraint_first.report.exhibit.gold import audit, gold_item, gold_quality
from constraint_first.report.study import ProblemText, Study, Transcript

ITEMS = load("mini")
SPEC = ConstraintSpec(
    raw_constraints=(
        Constraint("C1", "domain", "The answer is an integer."),
        Constraint("C2", "bound", "The answer is between -9 and -5."),
        Constraint("C3", "structure", "It is a lovely problem."),
    )
)
CFR = arm(
    "cfr",
    {
        **{item.id: [attempt("-", 0, kinds=["domain"])] for item in ITEMS},
        "of another set": [attempt("-", 0, kinds=["domain"])],
    },
    benchmark="constraintbench",
)
SAID = {(*CFR.key, item.id, 0): Transcript("", None, False, 0, constraints=SPEC) for item in ITEMS}
STUDY = study(CFR, transcripts=SAID)


def test_rates_are_those_of_the_audit() -> None:
    audits = [audit(item, SPEC) for item in ITEMS]
    said = Counter(status for one in audits for status in one.constraints)
    gold = Counter(status for one in audits for status in one.gold)
    decided = 72 - said["undecided"]
    found = gold_quality(STUDY)["model", "cfr"]
    assert (found.n, found.validity) == (decided, said["valid"] / decided)
    assert found.hallucination == said["hallucinated"] / decided > 0
    assert (found.statements, found.audited, found.replies) == (72, 24, 24)
    assert found.expected == gold.total() - gold["undecided"]
    assert found.completeness == gold["stated"] / found.expected > 0
    assert found.apart == {}  # these replies give neither a range nor a format


def test_the_range_of_the_answer_does_not_count_as_a_constraint() -> None:
    wild = replace(SPEC, likely_answer_range="between -9 and -5")
    said = {key: replace(one, constraints=wild) for key, one in SAID.items()}
    found = gold_quality(study(CFR, transcripts=said))["model", "cfr"]
    alone = gold_quality(STUDY)["model", "cfr"]
    assert (found.validity, found.hallucination, found.n) == (
        *(alone.validity, alone.hallucination, alone.n),
    )
    assert list(found.apart) == ["answer range"]
    assert found.apart["answer range"].validity == 0


def test_a_sample_repeats_itself_and_says_what_it_is_of() -> None:
    first, again = (gold_quality(STUDY, sample=5)["model", "cfr"] for _ in range(2))
    assert first == again
    assert (first.statements, first.audited, first.replies) == (15, 5, 24)


def test_only_problems_that_are_the_items_are_audited() -> None:
    item = ITEMS[0]
    key = ("constraintbench", item.id)
    same = Study("s", (), {key: ProblemText(item.text)}, STUDY.transcripts)
    other = Study("s", (), {key: ProblemText("Another question?")}, STUDY.transcripts)
    assert gold_item(same, *key) == item
    assert gold_item(other, *key) is None
    assert gold_item(same, "mine", item.id) is None
    assert gold_quality(study(arm("cfr", {"p": [attempt("+", kinds=["domain"])]}))) == {}


def test_a_reply_that_is_not_on_record_is_not_judged() -> None:
    found = gold_quality(study(CFR))["model", "cfr"]
    assert (found.validity, found.hallucination) == (None, None)
    assert (found.n, found.statements, found.audited, found.replies) == (0, 0, 0, 24)


@pytest.mark.parametrize("rung", ["fallback", "empty"])
def test_a_reply_that_was_not_used_has_nothing_to_judge(rung: str) -> None:
    fell = {ITEMS[0].id: [attempt("-", kinds=[], rung=rung)]}
    assert gold_quality(study(arm("cfr", fell, benchmark="constraintbench"))) == {}
