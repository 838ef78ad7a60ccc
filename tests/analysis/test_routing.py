"""The router: activation, agreement and cost."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, attempt, cells, study, texts
from hypothesis import given
from hypothesis import strategies as st
from snapshot import Golden
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.error import InputError
from constraint_first.report.exhibit.marks import Judged, Label, Mark
from constraint_first.report.exhibit.routing import (
    RouterAgreement,
    agreement_between,
    audit_router,
    cofire_table,
    convention_table,
    patterns_table,
    rates_table,
    read_decisions,
    routed_share,
    routers_table,
    stored_decisions,
)
from constraint_first.report.reader import read_file, read_store
from constraint_first.report.study import StageCost
from constraint_first.report.table import Table, decimal, to_latex, to_markdown
from constraint_first.run.job import prepare, run
from constraint_first.store.query import attempt_rows
from constraint_first.store.series import Series
from constraint_first.store.store import Store

# Routing.

PROBLEMS = texts(
    {
        "none": "Compute $1 + 1$.",
        "one": "How many are there? HOW MANY?",
        "two": "Find the remainder when the area is halved.",
        "four": "Find p + q if the probability is at least the largest remainder.",
    },
    benchmark="aime24",
)
MARKS = {"none": "++", "one": "--", "two": "--", "four": "+-", "untold": "++"}
OURS = {"none": "+-", "one": "++", "two": "+-", "four": "++", "untold": "--"}
STUDY = study(
    arm("direct", MARKS, benchmark="aime24"),
    arm("routed-cfr", OURS, benchmark="aime24"),
    problems=PROBLEMS,
)
AUDIT = audit_router(STUDY)


def marked(problem: str, marks: str, missing: int, method: str = "routed-cfr") -> Label:
    words: dict[str, Mark | None] = {"e": "entailed", "n": "not_entailed", "-": None}
    judged = tuple(Judged(f"C{at}", "raw", words[mark]) for at, mark in enumerate(marks))
    key = ("aime24", method, "model", "{}", problem, 0)
    return Label("ada", key, judged, ("it is odd",) * missing)


def tables() -> Iterator[Table]:
    """Activation, families and gains by them, with marks of people and without; then routers."""
    for audit in (AUDIT, audit_router(study(arm("direct", {"p": "+"})))):
        yield from (rates_table(audit), convention_table(audit), patterns_table(audit))
    asked = {**texts({"a": "How many?"}, "aime24"), **texts({"b": "The remainder?"}, "aime25")}
    yield patterns_table(audit_router(study(problems=asked)))
    yield cofire_table(STUDY, AUDIT, "routed-cfr")
    # One of the three is a draft; then all are on an attempt of another method.
    labels = [marked("one", "en", 1), marked("four", "eee", 0), marked("two", "e-", 0)]
    yield cofire_table(STUDY, AUDIT, "routed-cfr", labels=labels)
    yield cofire_table(STUDY, AUDIT, "routed-cfr", labels=[marked("one", "e", 0, "cfr")])
    yield cofire_table(STUDY, AUDIT, "cfr")
    # Against the regex router and a person; of a vote and of what is not on record; unlike options.
    decided = audit_router(DECIDED)
    yield routers_table(DECIDED, decided)
    yield routers_table(DECIDED, decided, keyed(a=True, b=True))
    names = ("self-consistency(base=routed-cfr)", "routed-cfr(reply=json)", "llm-router")
    arms = [arm(name, {"a": [attempt("+", routed=True)]}) for name in names]
    printed = arm("routed-cfr(router=printed)", {"a": [attempt("+", routed=False)]})
    yield routers_table(study(*arms, printed, problems=ASKED), decided)


def test_tables_that_can_be_worked_out_by_hand(golden: Golden) -> None:
    made = list(tables())
    text = "\n".join(f"{table.name}: {to_markdown(table)}" for table in made)
    assert text == golden("routing-by-hand.md")
    assert "nan" not in "".join(map(to_latex, made)).lower()


# Router agreement.

ASKED = texts({"a": "How many?", "b": "Compute it.", "c": "How many?", "d": "Compute it."})
SAID = {"a": (True, True), "b": (True, True, False), "c": (True, False), "d": (False, False)}
LLM = arm(
    "llm-router",
    {name: [attempt("+", n, routed=r) for n, r in enumerate(rs)] for name, rs in SAID.items()},
    stages={"router": StageCost(9, 800, 100, 4.5), "direct": StageCost(9, 10**6, 10**6, 900)},
)
DECIDED = study(LLM, arm("routed-cfr", {"a": [attempt("+", routed=True)]}), problems=ASKED)


def keyed(**decisions: bool) -> dict[tuple[str, str], bool]:
    return {("set", name): said for name, said in decisions.items()}


def test_agreement_by_hand() -> None:
    reference = keyed(a=True, b=True, c=True, d=False, e=False, only_there=True)
    decisions = keyed(a=True, b=True, c=False, d=True, e=False, only_here=True)
    found = agreement_between(reference, decisions)
    # Two of three that it routes, two of three that it should; chance would agree on 13 of 25.
    assert found.n == 5
    assert (found.precision, found.recall, found.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert found.kappa == pytest.approx((3 / 5 - 13 / 25) / (1 - 13 / 25))


def test_ratios_without_a_denominator_are_not_numbers() -> None:
    assert agreement_between({}, {}) == RouterAgreement(0, None, None, None, None)
    none = agreement_between(keyed(a=False), keyed(a=False))
    assert none == RouterAgreement(1, None, None, None, None)
    missed = agreement_between(keyed(a=True, b=False), keyed(a=False, b=False))
    assert missed == RouterAgreement(2, None, 0.0, 0.0, 0.0)


@given(st.dictionaries(st.text(max_size=2), st.tuples(st.booleans(), st.booleans())))
def test_agreement_is_symmetric_where_it_should_be(pairs: dict[str, tuple[bool, bool]]) -> None:
    one = {("set", key): left for key, (left, _) in pairs.items()}
    other = {("set", key): right for key, (_, right) in pairs.items()}
    found, back = agreement_between(one, other), agreement_between(other, one)
    assert (found.precision, found.recall) == (back.recall, back.precision)
    assert (found.f1, found.kappa) == (back.f1, back.kappa)


def test_the_majority_of_runs_decides_and_a_tie_is_a_no() -> None:
    assert stored_decisions([LLM]) == keyed(a=True, b=True, c=False, d=False)
    assert routed_share(LLM) == (2, 4)
    assert routed_share(arm("direct", {"a": "+-"})) is None  # it has no router
    partly = {"a": [attempt("+", 0, routed=False)], "b": [attempt("?", 0)]}
    assert routed_share(arm("llm-router", partly)) == (0, 1)


def test_labels_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("problem,routed\na,TRUE\nb,false\n")
    found, strangers = read_decisions(path, DECIDED)
    assert ([*found.values()], strangers) == ([True, False], 0)


def test_a_decision_costs_what_the_model_that_decides_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / "models.toml"
    prices.write_text('[model]\nprice = { input = 9.0, output = 18.0 }\n["a/b"]\n')
    monkeypatch.setenv("CFR_MODELS", str(prices))
    by_another = study(replace(LLM, method="llm-router(reply=json,model=a/b)"), problems=ASKED)
    audit = audit_router(DECIDED)
    costs = [cells(routers_table(one, audit))[1][-1] for one in (DECIDED, by_another)]
    assert costs == ["$0.001", "–"]
    with prices.open("a") as file:
        file.write("price = { input = 18.0, output = 36.0 }\n")
    assert cells(routers_table(by_another, audit))[1][-1] == "$0.002"


async def test_a_real_store_and_its_export_know_what_a_decision_takes(tmp_path: Path) -> None:
    series = Series("sums", "llm-router", "model")
    path = tmp_path / "attempts.jsonl"
    with Store(str(tmp_path / "runs.db")) as store:
        engine = Scripted(lambda call: "no" if call.stage == "router" else right(call))
        await run(store, [prepare(store, series, sums(3), 2, engine)], width=2)
        stored = read_store(store)
        rows = [row | {"stages": json.loads(row["stages"])} for row in attempt_rows(store)]
        rows = [row | {"details": json.loads(row["details"])} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    exported = read_file(path)
    for one in (stored, exported):
        spent = one.arms[0].stages["router"]
        assert spent.calls == 6
        assert spent.seconds > 0
        latency = 1_000 * spent.seconds / 6
        (_, llm) = cells(routers_table(one, audit_router(one)))
        assert llm[7] == decimal(latency, 3 if latency < 1 else 0)
    assert exported.arms[0].stages["router"].seconds == pytest.approx(
        stored.arms[0].stages["router"].seconds
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"problem": "a", "routed": 1}', "line 1: 'routed' must be true or false, not 1"),
        ('{"problem": "a"}', "line 1: 'routed' must be true or false, not None"),
        (
            '{"problem": "a", "routed": true}\n{"problem": "a", "routed": false}',
            "line 2: an earlier line says the opposite",
        ),
        ('{"problem": "z", "routed": true}', "names no problem of by hand"),
    ],
)
def test_labels_that_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_decisions(path, DECIDED)
