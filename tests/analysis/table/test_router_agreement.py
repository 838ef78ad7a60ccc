from pathlib import Path

import pytest
from hand_made import arm, attempt, study, texts

from constraint_first.report.exhibit.routing import (
    Decisions,
    audit_router,
    routers_table,
)
from constraint_first.report.study import StageCost, Study
from constraint_first.report.table import Table, to_markdown

PROBLEMS = texts({"a": "How many?", "b": "Compute it.", "c": "How many?", "d": "Compute it."})
SAID = {"a": (True, True), "b": (True, True, False), "c": (True, False), "d": (False, False)}
LLM = arm(
    "llm-router",
    {name: [attempt("+", n, routed=r) for n, r in enumerate(rs)] for name, rs in SAID.items()},
    stages={"router": StageCost(9, 800, 100, 4.5), "direct": StageCost(9, 10**6, 10**6, 900)},
)
STUDY = study(LLM, arm("routed-cfr", {"a": [attempt("+", routed=True)]}), problems=PROBLEMS)


def table(of: Study = STUDY, labels: Decisions | None = None) -> Table:
    return routers_table(of, audit_router(STUDY), labels)


def test_a_router_is_named_with_its_model() -> None:
    printed = arm("routed-cfr(router=printed)", {"a": [attempt("+", routed=False)]})
    rows = table(study(printed, problems=PROBLEMS)).rows
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
    notes = " ".join(table(study(silent, problems=PROBLEMS)).notes)
    assert "the router's tokens are not on record" in notes
    assert "models.toml" not in notes
