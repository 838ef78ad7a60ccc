"""Stage 1 replies, and their audit against gold constraints."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest
from hand_made import arm, attempt, study
from hypothesis import given
from hypothesis import strategies as st
from snapshot import Golden

from constraint_first.benchmark.constraintbench.family import GoldConstraint, Item, load
from constraint_first.constraint import predicate as demand
from constraint_first.constraint.predicate import Predicate, truth_of
from constraint_first.constraint.stage1 import (
    Constraint,
    ConstraintSpec,
    Propagated,
    extract_constraints,
    read_spec,
)
from constraint_first.error import InputError
from constraint_first.report.exhibit.gold import (
    GoldStatus,
    Quality,
    Statement,
    StatementStatus,
    audit,
    follows,
    gold_item,
    gold_quality,
    know,
    statements,
)
from constraint_first.report.exhibit.marks import Judged, Label, Mark, unmarked
from constraint_first.report.exhibit.stage1 import (
    PairRules,
    categories_table,
    collect_pairs,
    extraction_table,
    pair_rows,
    parsing_table,
)
from constraint_first.report.study import ProblemText, Study, Transcript
from constraint_first.report.table import Table, to_markdown

# Extraction.

# p1: 3 and 1 constraints, 2 and 0 derived; p2: 4 and a fallback, which has none; p3 has one run.
CFR = arm(
    "cfr",
    {
        "p1": [
            attempt("+", 0, kinds=["domain", "domain", "parity"], propagated=2),
            attempt("-", 1, kinds=["domain"], rung="repaired"),
        ],
        "p2": [
            attempt("+", 0, kinds=["bound"] * 4, propagated=1, rung="fields"),
            attempt("+", 1, kinds=[], rung="fallback"),
        ],
        "p3": [attempt("+", 0, kinds=["modular"] * 5, propagated=1), attempt("?", 1)],
    },
)
STUDY = study(arm("direct", {"p1": "++"}), CFR)


# Categories.

# Half of the replies are enough: p1 has domain and parity, p2 domain, p3 nothing, p4 other.
KINDS = arm(
    "cfr",
    {
        "p1": [
            attempt("+", 0, kinds=["domain", "parity", "domain"]),
            attempt("+", 1, kinds=["domain"]),
        ],
        "p2": [attempt(m, n, kinds=k) for n, (m, k) in enumerate([("+", ["domain"]), ("-", [])])],
        "p3": [
            attempt("-", 0, kinds=["bound"]),
            attempt("-", 1, kinds=[]),
            attempt("-", 2, kinds=[], rung="fallback"),
        ],
        "p4": [attempt("-", 0, kinds=["colour", ""])],
        "not routed": [attempt("-", 0)],
    },
)
BASE = arm("direct", {"p1": "--", "p2": "--", "p3": "++", "p4": "+", "not routed": "+"})
NAMING = study(BASE, KINDS)


def tables() -> Iterator[Table]:
    """Recovery steps, soundness as far as it was audited, kinds; and studies without a Stage 1."""
    yield parsing_table(STUDY)
    yield parsing_table(study(arm("cfr", {"p": [attempt("+", kinds=[], rung="guessed")]})))
    by_gold = Quality(0.5, 0.25, 8, 0.75, 12, True, 9, 4, 6)
    apart = {"answer range": Quality(0.0, 1.0, 4, by_gold=True, statements=6)}
    for found in (
        None,
        by_gold,
        replace(by_gold, apart=apart),
        Quality(0.9, 0.1, 50),  # a person comes before the gold
        Quality(None, None, 0, by_gold=True, audited=24, replies=24),
    ):
        yield extraction_table(STUDY, {("model", "cfr"): found} if found else None)
    yield categories_table(NAMING, "cfr")
    yield categories_table(NAMING, "direct")
    bare = study(arm("direct", {"p": "+"}))
    yield parsing_table(bare)
    yield extraction_table(bare)


def test_tables_that_can_be_worked_out_by_hand(golden: Golden) -> None:
    text = "\n".join(f"{table.name}: {to_markdown(table)}" for table in tables())
    assert text == golden("stage1-by-hand.md")


# Gold.

ITEMS = load("mini")
SPEC = ConstraintSpec(
    raw_constraints=(
        Constraint("C1", "domain", "The answer is an integer."),
        Constraint("C2", "bound", "The answer is between -9 and -5."),
        Constraint("C3", "structure", "It is a lovely problem."),
    )
)
LISTED = arm(
    "cfr",
    {
        **{item.id: [attempt("-", 0, kinds=["domain"])] for item in ITEMS},
        "of another set": [attempt("-", 0, kinds=["domain"])],
    },
    benchmark="constraintbench",
)
SAID = {
    (*LISTED.key, item.id, 0): Transcript("", None, False, 0, constraints=SPEC) for item in ITEMS
}
GILDED = study(LISTED, transcripts=SAID)


def test_rates_are_those_of_the_audit() -> None:
    audits = [audit(item, SPEC) for item in ITEMS]
    said = Counter(status for one in audits for status in one.constraints)
    gold = Counter(status for one in audits for status in one.gold)
    decided = 72 - said["undecided"]
    found = gold_quality(GILDED)["model", "cfr"]
    assert (found.n, found.validity) == (decided, said["valid"] / decided)
    assert found.hallucination == said["hallucinated"] / decided > 0
    assert (found.statements, found.audited, found.replies) == (72, 24, 24)
    assert found.expected == gold.total() - gold["undecided"]
    assert found.completeness == gold["stated"] / found.expected > 0
    assert found.apart == {}  # these replies give neither a range nor a format


def test_the_range_of_the_answer_does_not_count_as_a_constraint() -> None:
    wild = replace(SPEC, likely_answer_range="between -9 and -5")
    said = {key: replace(one, constraints=wild) for key, one in SAID.items()}
    found = gold_quality(study(LISTED, transcripts=said))["model", "cfr"]
    alone = gold_quality(GILDED)["model", "cfr"]
    assert (found.validity, found.hallucination, found.n) == (
        *(alone.validity, alone.hallucination, alone.n),
    )
    assert list(found.apart) == ["answer range"]
    assert found.apart["answer range"].validity == 0


def test_a_sample_repeats_itself_and_says_what_it_is_of() -> None:
    first, again = (gold_quality(GILDED, sample=5)["model", "cfr"] for _ in range(2))
    assert first == again
    assert (first.statements, first.audited, first.replies) == (15, 5, 24)


def test_only_problems_that_are_the_items_are_audited() -> None:
    item = ITEMS[0]
    key = ("constraintbench", item.id)
    same = Study("s", (), {key: ProblemText(item.text)}, GILDED.transcripts)
    other = Study("s", (), {key: ProblemText("Another question?")}, GILDED.transcripts)
    assert gold_item(same, *key) == item
    assert gold_item(other, *key) is None
    assert gold_item(same, "mine", item.id) is None
    assert gold_quality(study(arm("cfr", {"p": [attempt("+", kinds=["domain"])]}))) == {}


def test_a_reply_that_is_not_on_record_is_not_judged() -> None:
    found = gold_quality(study(LISTED))["model", "cfr"]
    assert (found.validity, found.hallucination) == (None, None)
    assert (found.n, found.statements, found.audited, found.replies) == (0, 0, 0, 24)


@pytest.mark.parametrize("rung", ["fallback", "empty"])
def test_a_reply_that_was_not_used_has_nothing_to_judge(rung: str) -> None:
    fell = {ITEMS[0].id: [attempt("-", kinds=[], rung=rung)]}
    assert gold_quality(study(arm("cfr", fell, benchmark="constraintbench"))) == {}


# Implication.


@pytest.mark.parametrize(
    ("known", "implied"),
    [
        ([demand.least_residue(7)], demand.integer()),
        ([demand.least_residue(7)], demand.between(0, 6)),
        ([demand.least_residue(7)], demand.below(7)),
        ([demand.integer(), demand.between(0, 6)], demand.least_residue(7)),
        ([demand.integer(), demand.above(0)], demand.at_least(1)),
        ([demand.integer(), demand.below(7)], demand.at_most(6)),
        ([demand.above(2)], demand.at_least(2)),
        ([demand.divisible(6)], demand.parity("even")),
        ([demand.congruent(3, 4)], demand.parity("odd")),
        ([demand.divides(12)], demand.between(1, 12)),
        *(
            ([demand.encoded("m+n", (3, 7))], one)
            for one in (demand.integer(), demand.reduced(), demand.above(1))
        ),
        ([demand.encoded("m+n", (3, 7), 4)], demand.least_residue(4)),
        ([demand.rounded(5)], demand.integer()),
        ([demand.rounded(5)], {"op": "rounded", "unit": "1"}),
        ([demand.in_unit(2, 100, "percent")], {"op": "in_unit", "unit": "percent"}),
        ([{"op": "in_unit", "unit": "percent"}], demand.measured("percent", 1, 100)),
        ([demand.counts(1, 20, demand.parity("odd"))], demand.between(0, 20)),
        ([demand.all_of(demand.integer(), demand.above(0))], demand.integer()),
        ([demand.integer(), demand.above(0)], demand.all_of(demand.integer(), demand.above(0))),
        ([demand.form("fraction")], demand.not_whole()),
    ],
)
def test_implies(known: list[Predicate], implied: Predicate) -> None:
    assert know(known).implies(implied)


@pytest.mark.parametrize(
    ("known", "not_implied"),
    [
        ([], demand.integer()),
        ([demand.at_least(2)], demand.above(2)),
        ([demand.between(0, 6)], demand.least_residue(7)),
        ([demand.parity("even")], demand.divisible(4)),
        ([demand.congruent(1, 3)], demand.congruent(2, 3)),
        ([demand.rounded(5)], {"op": "rounded", "unit": "1/10"}),
        ([demand.in_unit(2, 100, "percent")], {"op": "in_unit", "unit": "grams"}),
        ([demand.digit_sum(5)], demand.digit_sum(6)),
        ([demand.reduced()], {"op": "encoded"}),
    ],
)
def test_does_not_imply(known: list[Predicate], not_implied: Predicate) -> None:
    assert not know(known).implies(not_implied)


numbers = st.integers(-20, 20)
simple = st.one_of(
    st.builds(demand.between, numbers, numbers),
    st.builds(demand.above, numbers),
    st.builds(demand.below, numbers),
    st.builds(demand.least_residue, st.integers(1, 12)),
    st.builds(demand.congruent, numbers, st.integers(1, 6)),
    st.builds(demand.divisible, st.integers(1, 6)),
    st.builds(demand.parity, st.sampled_from(["odd", "even"])),
    st.builds(demand.divides, st.integers(1, 24)),
    st.just(demand.integer()),
)


@given(st.lists(simple, max_size=3), simple, st.fractions(-25, 25, max_denominator=4))
def test_an_implication_is_true_of_every_value(
    known: list[Predicate], implied: Predicate, value: object
) -> None:
    if know(known).implies(implied) and all(truth_of(p, str(value)) == "holds" for p in known):
        assert truth_of(implied, str(value)) == "holds"


# Candidates.

WINDOW = [demand.divides(66), demand.parity("even"), demand.between(7, 27)]
WIDTH = [demand.above(0), demand.root(1, 32, -644)]


@pytest.mark.parametrize(
    ("known", "demanded", "follow"),
    [
        (WINDOW, demand.divisible(11), True),
        (WINDOW, demand.between(22, 22), True),
        (WIDTH, demand.all_of(demand.integer(), demand.between(1, 16)), True),
        ([demand.between(22, 22)], demand.divides(66), True),
        ([demand.one_of(14, 23, 30), demand.below(25)], demand.between(14, 23), True),
        ([demand.parity("even"), demand.between(3, 10)], demand.at_least(4), True),
        ([demand.least_residue(7)], demand.below(7), True),
        (WINDOW, demand.divisible(4), False),
        (WINDOW, demand.reduced(), False),
        (WIDTH[1:], demand.above(0), False),
        ([demand.root(1, 0, -2), demand.above(0)], demand.below(2), False),
        ([demand.root(1, 0, 1)], demand.integer(), False),
        ([demand.root(1, 0, 0, -8)], demand.integer(), False),
        ([demand.between(3, 4)], demand.integer(), False),
        ([demand.one_of(14, 23)], demand.parity("even"), False),
        ([demand.integer(), demand.at_least(3)], demand.parity("odd"), False),
        ([demand.square(), demand.between(10, 10**6)], demand.at_least(16), False),
        ([demand.square(), demand.between(10, 15)], demand.parity("odd"), False),
        ([demand.counts(1, 20, demand.divisible(7))], demand.parity("even"), False),
    ],
)
def test_what_follows_from_the_values_that_are_possible(
    known: list[Predicate], demanded: Predicate, *, follow: bool
) -> None:
    assert follows(know(known), demanded) == follow


# Soundness.


def item(text: str, answer: str, *rules: GoldConstraint) -> Item:
    return Item(text, answer, "integer", rules, (), "explicit", "family", 1, 1, 1)


REMAINDER = item(
    "Find the remainder when $430$ is divided by $9$.",
    "7",
    GoldConstraint("modular", "a remainder on division by 9", demand.least_residue(9)),
)
PROBABILITY = item(
    r"The probability of red is $\frac{m}{n}$ in lowest terms. Find $m+n$.",
    "23",
    GoldConstraint("domain", "an integer", demand.integer()),
    GoldConstraint("format", "m + n", demand.encoded("m+n", (2, 21))),
)
COUNT = item(
    "How many odd multiples of $7$ are there from $1$ to $41$ inclusive?",
    "3",
    GoldConstraint(
        "parity", "odd", demand.counts(1, 41, demand.parity("odd"), demand.divisible(7))
    ),
)
RANGE = item(
    "An integer between $40$ and $74$ leaves remainder $3$ when divided by $5$. Find the integer.",
    "53",
    GoldConstraint("bound", "between", demand.between(40, 74)),
    GoldConstraint("modular", "3 mod 5", demand.congruent(3, 5)),
)
ROOT = item(
    "Solve $x^2 = x + 6$ for positive $x$.",
    "3",
    GoldConstraint("structure", "a root", demand.root(1, -1, -6)),
)
PERCENT = item(
    "What percent of the tank is full?",
    "53",
    GoldConstraint("dimension", "in percent", demand.in_unit(Fraction(53, 100), 100, "percent")),
)


def spec(rows: list[tuple[str, str]], answer_range: str = "", form: str = "") -> ConstraintSpec:
    raw = tuple(Constraint("C", kind, text) for text, kind in rows)
    return ConstraintSpec(raw_constraints=raw, likely_answer_range=answer_range, answer_format=form)


def one(problem: Item, text: str, kind: str = "") -> str:
    return audit(problem, spec([(text, kind)])).statements[0]


@pytest.mark.parametrize(
    ("problem", "text", "status"),
    [
        (REMAINDER, "The answer is an integer", "valid"),
        (REMAINDER, "the remainder is an integer from 0 to 8", "valid"),
        (REMAINDER, "final answer = N mod 9", "valid"),
        (REMAINDER, "final answer = N mod 11", "hallucinated"),
        (REMAINDER, "the remainder is less than 5", "hallucinated"),
        (REMAINDER, "the answer must be even", "hallucinated"),
        (REMAINDER, "the answer is odd", "unsupported"),
        (REMAINDER, "N is even", "undecided"),
        (REMAINDER, "the answer is prime", "undecided"),
        (PROBABILITY, "m and n are relatively prime positive integers", "undecided"),
        (PROBABILITY, "The final answer is m + n", "valid"),
        (PROBABILITY, "the answer is a fraction between 0 and 1", "hallucinated"),
        (PROBABILITY, "The probability is between 0 and 1", "undecided"),
        (COUNT, "n must be odd", "undecided"),
        (COUNT, "the answer is a non-negative integer", "valid"),
        (COUNT, "the number of multiples is at most 2", "hallucinated"),
        (RANGE, "n is congruent: n ≡ 3 (mod 5)", "valid"),
        (RANGE, "k ≡ 2 (mod 5)", "undecided"),
        (RANGE, "the integer lies between 50 and 60", "unsupported"),
        (RANGE, "the integer is 54", "hallucinated"),
        (RANGE, "the digit sum of the integer is 8", "undecided"),
        (RANGE, "the integer is above 40 (since 54 > 53)", "valid"),
        (COUNT, "the number of cards is at most 2", "undecided"),
        (PERCENT, "the answer is in percent", "valid"),
        (PERCENT, "the answer is in grams", "hallucinated"),
    ],
)
def test_a_statement_is_judged(problem: Item, text: str, status: str) -> None:
    assert one(problem, text) == status


@pytest.mark.parametrize(
    ("problem", "rows", "statuses"),
    [
        (REMAINDER, [("the answer is an integer", ""), ("at most 8, at least 0", "")], ["stated"]),
        (REMAINDER, [("the answer is an integer", "domain")], ["not_stated"]),
        (REMAINDER, [("the sum is reduced somehow", "modular")], ["undecided"]),
        (REMAINDER, [("the remainder is between 0 and 3", "bound")], ["not_stated"]),
        (PROBABILITY, [("the answer is m+n", "format")], ["stated", "stated"]),
        (PROBABILITY, [("the answer is an integer", "domain")], ["stated", "not_stated"]),
        (COUNT, [("n is odd", "parity"), ("n is divisible by 7", "modular")], ["stated"]),
        (COUNT, [("n is odd", "domain")], ["not_stated"]),
        (ROOT, [("x must solve the equation", "domain")], ["undecided"]),
        (ROOT, [("the answer is positive", "domain")], ["not_stated"]),
        (RANGE, [("the integer is 53", "")], ["stated", "stated"]),
    ],
)
def test_gold_constraints_are_found(
    problem: Item, rows: list[tuple[str, str]], statuses: list[str]
) -> None:
    assert list(audit(problem, spec(rows)).gold) == statuses


def test_the_gold_itself_is_never_called_a_hallucination() -> None:
    for problem in load("public")[:96]:
        reply = spec([(rule.description, rule.kind) for rule in problem.constraints])
        assert "hallucinated" not in audit(problem, reply).statements, problem.id


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=8)), max_size=4))
def test_every_statement_and_every_gold_constraint_is_judged(rows: list[tuple[str, str]]) -> None:
    reply = spec(rows, "[0, 1)", "m+n")
    result = audit(PROBABILITY, reply)
    assert len(result.statements) == len(statements(reply))
    assert set(result.statements) <= set(get_args(StatementStatus))
    assert len(result.gold) == len(PROBABILITY.constraints)
    assert set(result.gold) <= set(get_args(GoldStatus))
    assert result.statements[-2] == "hallucinated", "23 is not below 1"
    assert audit(PROBABILITY, reply) == result


def test_range_and_format_are_statements_behind_the_constraints() -> None:
    listed = spec([("the answer is even", "parity")], "0 to 9", "integer")
    assert statements(listed) == (
        Statement("the answer is even", "parity"),
        Statement("0 to 9", "bound", "range"),
        Statement("integer", "format", "format"),
    )
    reply = spec([], "0 to 8", "n is an integer")  # they always speak about the answer
    assert audit(REMAINDER, reply).statements == ("valid", "valid")
    assert statements(spec([(" ", "parity")])) == ()
    result = audit(PROBABILITY, spec([]))
    assert (result.gold, result.statements) == (("not_stated", "not_stated"), ())
    derived = ConstraintSpec(propagated_constraints=(Propagated("P1", ("C1",), "it is even"),))
    assert statements(derived) == (Statement("it is even"),)


# Pairs to train an extractor with.

ASKED = "Find the remainder when $3^5$ is divided by 7."
MEASURED = Path(__file__).parents[2] / "docs" / "results" / "constraintbench-mini.jsonl"
GOOD = "The answer is an integer from 0 to 6."


def noted(*descriptions: str) -> dict[str, Any]:
    """What a method notes of a Stage 1 reply that lists constraints."""
    raw = [
        {"id": f"C{number}", "type": "modular", "description": words}
        for number, words in enumerate(descriptions, 1)
    ]
    return {"rung": "parsed", "constraints": {"raw_constraints": raw}}


def stored(problem: str = "p0", text: str = ASKED, **more: Any) -> dict[str, Any]:
    key = {"benchmark": "mine", "method": "cfr", "model": "m", "decoding": "{}", "run": 0}
    ended = {"verdict": "correct", "gold": "5", "details": noted(GOOD)}
    return key | ended | {"problem": problem, "problem_text": text} | more


def judged(row: dict[str, Any], mark: Mark, missing: tuple[str, ...] = ()) -> Label:
    key = tuple(
        row[name] for name in ("benchmark", "method", "model", "decoding", "problem", "run")
    )
    spec = ConstraintSpec.from_mapping(row["details"]["constraints"])
    begun = unmarked("ada", key, spec)  # pyright: ignore[reportArgumentType]
    judged = tuple(Judged(one.id, one.stage, mark, one.digest) for one in begun.constraints)
    return Label("ada", begun.key, judged, missing)


def test_a_pair_is_what_an_extractor_is_asked_and_what_it_should_reply() -> None:
    (pair,) = collect_pairs([stored()], PairRules(), "x").kept
    asked, reply = pair.messages("stage1")
    (sent,) = extract_constraints(ASKED, 1).messages
    assert (asked["role"], asked["content"]) == ("user", sent.content)
    assert reply["role"] == "assistant"
    read = read_spec(str(reply["content"]))
    assert (read.rung, read.spec) == ("parsed", pair.spec)
    assert pair.messages("problem")[0]["content"] == ASKED


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (stored(details=noted(GOOD) | {"rung": "repaired"}), "damaged"),
        (stored(details=noted(GOOD) | {"rung": "fallback"}), "damaged"),
        (stored(details=noted()), "lists nothing"),
        (stored(text=""), "text is not on record"),
        (stored(details=noted("The answer is even.")), "false of the gold answer"),
        (
            stored(details=noted("The answer is at least 9."), gold=None),
            "contradicts the problem's text",
        ),
        (stored(details=noted(*[GOOD] * 7), method="cfr-brief"), "more than the prompt allows"),
    ],
)
def test_what_speaks_against_a_pair_drops_it(row: dict[str, Any], reason: str) -> None:
    found = collect_pairs([row, stored("p1")], PairRules(), "x")
    assert [pair.key[4] for pair in found.kept] == ["p1"]
    ((said, count),) = found.dropped.items()
    assert count == 1
    assert reason in said


def test_a_long_list_is_fine_where_no_prompt_forbids_it() -> None:
    row = stored(details=noted(*[GOOD] * 7), method="cfr-brief")
    assert len(collect_pairs([row], PairRules(prompt="problem"), "x").kept) == 1
    papers = stored(details=noted(*[GOOD] * 7))
    assert len(collect_pairs([papers], PairRules(), "x").kept) == 1


def test_a_wrong_answer_drops_a_pair_only_where_that_is_asked_for() -> None:
    rows = [stored(verdict="incorrect"), stored("p1", verdict=None)]
    assert len(collect_pairs(rows, PairRules(), "x").kept) == 1  # they are the same
    found = collect_pairs(rows, PairRules(right=True), "x")
    assert (found.kept, dict(found.dropped)) == ([], {"the attempt did not end right": 2})


@pytest.mark.parametrize(
    ("mark", "missing", "reason"),
    [
        ("entailed", (), ""),
        ("not_entailed", (), "not entailed or vague"),
        ("vague", (), "not entailed or vague"),
        ("entailed", ("it is positive",), "found a constraint missing"),
    ],
)
def test_marks_of_people_count_for_what_they_judged(
    mark: Mark, missing: tuple[str, ...], reason: str
) -> None:
    other = stored("p1", text=f"{ASKED} Again.")
    rules = PairRules([judged(stored(), mark, missing)])
    found = collect_pairs([stored(), other], rules, "x")
    assert found.marked == 1
    assert [pair.key[4] for pair in found.kept] == (["p1"] if reason else ["p0", "p1"])
    assert all(reason in said for said in found.dropped)


def test_marks_of_other_words_are_refused() -> None:
    rules = PairRules([judged(stored(), "entailed")])
    with pytest.raises(InputError, match="other words in C1"):
        collect_pairs([stored(details=noted("The answer is odd."))], rules, "x")


def test_gold_constraints_judge_a_problem_of_constraintbench() -> None:
    item = next(one for one in load("mini") if one.answer.isdecimal())
    key = {"benchmark": "constraintbench-mini", "problem": item.id, "text": item.text}
    wrong = noted(f"The final answer is greater than {item.answer}.")
    right = noted("The final answer is an integer.")
    rows = [stored(**key, details=wrong, gold=None), stored(**key, details=right, run=1)]
    found = collect_pairs(rows, PairRules(), "x")
    assert [pair.key[5] for pair in found.kept] == [1]
    assert "false of the gold answer" in next(iter(found.dropped))


def test_the_order_of_attempts_changes_nothing_and_the_same_pair_is_there_once() -> None:
    rows = [stored(name, text=f"{ASKED} {name}") for name in ("b", "a", "c")]
    rows += [stored("a", text=f"{ASKED} a", run=1)]
    found, turned = (collect_pairs(one, PairRules(), "x") for one in (rows, rows[::-1]))
    assert found.kept == turned.kept
    assert [pair.key[4] for pair in found.kept] == ["a", "b", "c"]
    assert dict(found.dropped) == {"the same pair is there already": 1}


def test_attempts_without_a_stage_1_are_no_candidates() -> None:
    found = collect_pairs([stored(details={"how": "boxed"})], PairRules(), "x")
    assert (found.kept, found.dropped.total()) == ([], 0)


@pytest.mark.parametrize("garbage", [None, 5, "x", [1], {"raw_constraints": 5}])
def test_garbage_in_a_store_lists_nothing(garbage: Any) -> None:
    row = stored(details={"rung": "parsed", "constraints": garbage})
    assert "lists nothing" in next(iter(collect_pairs([row], PairRules(), "x").dropped))


def test_measured_attempts_give_pairs_that_the_gold_does_not_break() -> None:
    found = collect_pairs(pair_rows(str(MEASURED)), PairRules(), str(MEASURED))
    assert len(found.kept) == 18
    assert dict(found.dropped) == {"a constraint is false of the gold answer": 48}
    assert found.benchmarks == {"constraintbench-mini@1": 18}
    lines = [json.dumps(pair.messages("stage1")) for pair in found.kept]
    assert len(set(lines)) == 18
