"""The router: activation, agreement and cost."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, attempt, cells, study, texts
from hypothesis import given
from hypothesis import strategies as st
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
from constraint_first.report.study import StageCost, Study
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


def test_what_is_routed_and_what_the_convention_would_add() -> None:
    assert "| AIME24 | 3 / 4 | 75.00 % |" in to_markdown(rates_table(AUDIT))
    control = to_markdown(convention_table(AUDIT))
    assert "| Text-only router | 3 / 4 |" in control
    assert "| + AIME convention | 4 / 4 |" in control


def test_a_problem_without_a_text_is_left_out_and_said_to_be() -> None:
    for table in (rates_table(AUDIT), convention_table(AUDIT), patterns_table(AUDIT)):
        assert "AIME24, left out for want of a text: 1 problem." in table.notes


def test_a_family_has_its_phrases_and_its_share() -> None:
    table = to_markdown(patterns_table(AUDIT))
    assert "| P2: Modular | “remainder” 2 | 2 | 50.0 % |" in table
    assert "| P7: Game/Adversarial | – | 0 | 0.0 % |" in table


def test_families_are_counted_for_each_of_several_benchmarks() -> None:
    asked = {**texts({"a": "How many?"}, "aime24"), **texts({"b": "The remainder?"}, "aime25")}
    table = patterns_table(audit_router(study(problems=asked)))
    assert [column.title for column in table.columns[4:]] == ["AIME24", "AIME25"]
    found = {line.cells[0].text: [c.text for c in line.cells[4:]] for line in table.rows}
    assert found["P1: Integer/Count"] == ["1", "0"]
    assert found["P2: Modular"] == ["0", "1"]


def test_gains_by_the_number_of_families() -> None:
    table = to_markdown(cofire_table(STUDY, AUDIT, "routed-cfr"))
    assert "| model | 0 (not routed) | 1 | −50.0 | – | – |" in table
    assert "|  | 3 | 0 | – | – | – |" in table
    assert "it takes marks by a person, which the page of 'cfr serve' makes" in table


def marked(problem: str, marks: str, missing: int, method: str = "routed-cfr") -> Label:
    words: dict[str, Mark | None] = {"e": "entailed", "n": "not_entailed", "-": None}
    judged = tuple(Judged(f"C{at}", "raw", words[mark]) for at, mark in enumerate(marks))
    key = ("aime24", method, "model", "{}", problem, 0)
    return Label("ada", key, judged, ("it is odd",) * missing)


def test_completeness_comes_from_the_marks_of_people() -> None:
    labels = [marked("one", "en", 1), marked("four", "eee", 0), marked("two", "e-", 0)]
    table = cofire_table(STUDY, AUDIT, "routed-cfr", labels=labels)
    found = {line[1]: line[4:] for line in cells(table)}
    assert found["1"] == ["50.0 % [9.5, 90.5]", "2"]
    assert found["4+"] == ["100.0 % [43.9, 100.0]", "3"]
    assert found["2"] == found["0 (not routed)"] == ["–", "–"]  # a draft, and none
    assert "in the 2 attempts of Routed-CFR that they marked" in table.notes[-1]


def test_marks_on_another_method_fill_nothing() -> None:
    table = cofire_table(STUDY, AUDIT, "routed-cfr", labels=[marked("one", "e", 0, "cfr")])
    assert all(line[4:] == ["–", "–"] for line in cells(table))
    assert table.notes[-1] == (
        "Stage 1 complete is empty: no mark by a person is on an attempt of Routed-CFR."
    )


def test_what_is_not_there_is_said_in_words() -> None:
    nothing = audit_router(study(arm("direct", {"p": "+"})))
    assert rates_table(nothing).notes[0] == "No problem of this study has a text on record."
    assert convention_table(nothing).rows == ()
    missing = cofire_table(STUDY, AUDIT, "cfr")
    assert missing.rows == ()
    assert "cfr and direct share no judged problem" in missing.notes[0]
    for table in (rates_table(nothing), patterns_table(nothing), missing):
        assert "nan" not in to_latex(table).lower()


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


def test_an_arm_without_a_router_has_no_share() -> None:
    assert routed_share(arm("direct", {"a": "+-"})) is None
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
    prices.write_text('[model]\nprice = { input = 900.0, output = 1800.0 }\n["a/b"]\n')
    monkeypatch.setenv("CFR_MODELS", str(prices))
    by_another = replace(LLM, method="llm-router(reply=json,model=a/b)")
    studied = study(by_another, problems=ASKED)
    assert cells(routers_table(studied, audit_router(DECIDED)))[1][-1] == "–"
    with prices.open("a") as file:
        file.write("price = { input = 9.0, output = 18.0 }\n")
    assert cells(routers_table(studied, audit_router(DECIDED)))[1][-1] == "$0.001"


def test_a_vote_over_a_router_is_not_another_router() -> None:
    names = (
        "self-consistency(base=routed-cfr)",
        "routed-cfr(reply=json)",
        "llm-router(reply=json)",
    )
    arms = [arm(name, {"a": [attempt("+", routed=True)]}) for name in names]
    table = routers_table(made := study(*arms, problems=ASKED), audit_router(made))
    assert [line[0] for line in cells(table)] == ["Regex router", f"{arms[2].name}, model"]


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


# Tables of routers.


def table(of: Study = DECIDED, labels: Mapping[tuple[str, str], bool] | None = None) -> Table:
    return routers_table(of, audit_router(DECIDED), labels)


def test_a_router_is_named_with_its_model() -> None:
    printed = arm("routed-cfr(router=printed)", {"a": [attempt("+", routed=False)]})
    rows = table(study(printed, problems=ASKED)).rows
    names = [line.cells[0].text for line in rows]
    assert names == ["Regex router", "Routed-CFR [router=printed], model"]


def test_a_call_has_a_latency_and_a_regular_expression_has_none() -> None:
    regex, llm = ([cell.text for cell in line.cells][6:8] for line in table().rows)
    assert (regex, llm) == (["0", "–"], ["100", "500"])
    assert "perf/README.md has the figure" in " ".join(table().notes)


def test_without_labels_the_regex_router_is_the_reference() -> None:
    assert table().title == "Routers against Regex router"
    notes = " ".join(table().notes)
    assert "not a measure of which router is better" in notes
    assert "models.toml sets no price" in notes
    assert "not on record" not in notes


def test_labels_judge_every_router() -> None:
    labels = {("set", "a"): True, ("set", "b"): True}
    found = table(labels=labels)
    assert found.title == "Routers against 2 decisions of a person"
    assert "which router is better" not in " ".join(found.notes)


def test_a_price_makes_a_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prices = tmp_path / "models.toml"
    prices.write_text("[model]\nprice = { input = 9.0, output = 18.0 }\n")
    monkeypatch.setenv("CFR_MODELS", str(prices))
    assert "$0.001" in to_markdown(table())


def test_what_a_store_does_not_know_stays_open() -> None:
    silent = arm("llm-router", {"a": [attempt("+", routed=True)]})
    notes = " ".join(table(study(silent, problems=ASKED)).notes)
    assert "the router's tokens are not on record" in notes
    assert "models.toml" not in notes
