"""Every experiment file, run on a scripted endpoint: its report has the rows that it is for."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from experiment_run import (
    EXPERIMENTS,
    PROBLEMS,
    RUNS,
    run_experiment,
    write_benchmarks,
)
from hand_made import cells
from loopback import Endpoint

from constraint_first.report.exhibit.exhibit import ReportOptions
from constraint_first.report.reader import open_study
from constraint_first.report.report import Report, assemble
from constraint_first.report.table import Table, published, published_names

MODELS = ["JustRL-1.5B", "Qwen3.5-35B-A3B", "Qwen3.5-9B", "DeepSeek-V4-Pro"]
ROUTED, LLM, ALWAYS = "Routed-CFR", "LLM router", "CFR (always-on)"
AIME = "AIME pooled (AIME24, AIME25, AIME26)"
NOT_ALL = re.compile(r"tab:aime2|tab:.*_case_|fig:|app:")
"""What a report has only for some models and benchmarks, or where a method changes an outcome."""
WHY = re.compile(r"not in these data|share no judged|No (?:model|method|benchmark) of this|has no ")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_benchmarks(tmp_path_factory.mktemp("benchmarks"))


@pytest.fixture(scope="module")
def reports(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Report]]:
    """The reports of all experiments, by the names of their files."""
    folder = tmp_path_factory.mktemp("stores")
    with pytest.MonkeyPatch.context() as patch, Endpoint() as endpoint:
        patch.setenv("CFR_DATA", str(data))
        made: dict[str, Report] = {}
        for path in EXPERIMENTS:
            store = folder / f"{path.stem}.db"
            asyncio.run(run_experiment(path, store, endpoint))
            made[path.stem] = assemble(open_study(str(store)), ReportOptions(figures=False))
        yield made


def table(report: Report, name: str) -> Table:
    return next(one for one in report.tables if one.name == name)


def rows(report: Report, name: str) -> list[list[str]]:
    """The rows of a table, without its headings."""
    return [[c.text for c in r.cells] for r in table(report, name).rows if r.kind != "heading"]


def headings(report: Report, name: str) -> list[str]:
    return [r.cells[0].text for r in table(report, name).rows if r.kind == "heading"]


@pytest.mark.parametrize("name", [path.stem for path in EXPERIMENTS])
def test_every_table_of_the_paper_is_filled_or_says_why_not(
    name: str, reports: dict[str, Report]
) -> None:
    report = reports[name]
    made = {label for one in report.tables for label in one.paper}
    wanted = {label for one in published_names() for label in published(one).label}
    said = [why for one in report.sections if one.name == "left-out" for why in one.claims]
    if not any(section.name == "paired" for section in report.sections):
        wanted -= {"tab:paired-ds", "tab:paired-qwen"}
        assert any("has no method 'direct'" in why for why in said), said
    assert all(one.rows for one in report.tables)
    missing = {label for label in wanted if not NOT_ALL.match(label)} - made
    tables = [one for each in reports.values() for one in each.tables]
    # A title goes on with the names of methods, which differ from report to report.
    titles = {label: " ".join(one.title.split()[:2]) for one in tables for label in one.paper}
    for label in missing:
        assert any(titles[label] in one and WHY.search(one) for one in said), (label, said)


@pytest.mark.parametrize(("name", "sets"), [("main", 4), ("additional", 2)])
def test_the_main_results(name: str, sets: int, reports: dict[str, Report]) -> None:
    report = reports[name]
    assert headings(report, "main") == MODELS
    shown = rows(report, "main")
    for model in range(4):
        direct, routed, gain, *paper = shown[5 * model : 5 * model + 5]
        assert (direct[0], routed[0], gain[0]) == ("Direct CoT", ROUTED, "Δ vs. Direct CoT")
        assert all(cell.startswith("66.7 [") for cell in direct[1:-1])
        assert all(cell.startswith("100.0 [") for cell in routed[1:-1])
        assert all(cell.startswith("+33.3 [") for cell in gain[1:-1])
        assert (len(gain), gain[-1]) == (sets + 2, "+33.3")
        assert [line[0] for line in paper] == ["Direct CoT, paper", "Routed-CFR, paper"]
    assert len(rows(report, "tokens-by-model")) == 8


def test_aime_is_pooled_and_nothing_else(reports: dict[str, Report]) -> None:
    report = reports["main"]
    tables = [one for one in report.tables if one.name.startswith("paired")]
    assert len(tables) == 4
    for one in tables:
        pooled = [line for line in cells(one) if "pooled" in line[0]]
        assert [line[:2] for line in pooled] == [[AIME, str(3 * PROBLEMS)]]
    together = [line for line in rows(report, "outcomes") if line[1] == AIME]
    assert [line[2:] for line in together] == [["18", "12", "6", "0", "0"]] * 4
    apart = reports["additional"]
    assert "pooled" not in str([cells(t) for t in apart.tables if t.name.startswith("paired")])


def test_the_routing_ablation(reports: dict[str, Report]) -> None:
    for name in ("routing-ablation", "prompting"):
        direct, *others = rows(reports[name], "routing-ablation")
        by_name = {line[0]: line for line in others}
        assert set(by_name) == {ROUTED, ALWAYS}
        assert direct[2] == "1.00×"
        assert 1 < float(by_name[ROUTED][2][:-1]) < float(by_name[ALWAYS][2][:-1])
        assert "–" not in str((direct, others))
        assert not any(
            "not in these data" in note for note in table(reports[name], "routing-ablation").notes
        )


def test_the_prompting_baselines(reports: dict[str, Report]) -> None:
    shown = {line[0]: line for line in rows(reports["prompting"], "prompting")}
    assert len(shown) == 9
    assert all(line[-1].endswith("×") and line[-2].endswith("×") for line in shown.values())
    assert shown[ALWAYS][-1] == shown["Direct CoT"][-2] == "1.00×"
    assert any(
        f"CFR is {ALWAYS}" in note for note in table(reports["prompting"], "prompting").notes
    )
    explored = rows(reports["prompting-comparison"], "prompting-comparison")
    assert len(explored) == 7
    assert headings(reports["prompting-comparison"], "prompting-comparison") == [
        "Qwen3.5-9B: AIME24, AIME25, AIME26"
    ]
    assert explored[0] == ["Direct CoT", f"pass@{RUNS}", "66.7", "18", "1.00×"]
    assert explored[-1][:3] == [ALWAYS, f"pass@{RUNS}", "100.0"]


def test_generalization_and_robustness(reports: dict[str, Report]) -> None:
    (line,) = rows(reports["olympiadbench"], "generalization")
    assert line[:4] == ["DeepSeek-V4-Pro", "OlympiadBench", "66.67", "100.00"]
    assert line[-1] == "4 / 6 (66.7 %)"
    for name, settings in (
        ("robustness-seed", ["Seed 101", "Seed 202"]),
        ("robustness-temperature", ["Temperature 0.2", "Temperature 0.7", "Temperature 1.0"]),
    ):
        shown = rows(reports[name], "robustness")
        assert list(dict.fromkeys(line[1] for line in shown)) == settings
        assert [line[2] for line in shown[:3]] == ["Direct CoT", ROUTED, f"Δ {ROUTED}"]
        assert "–" not in str(shown)


def test_the_routers(reports: dict[str, Report]) -> None:
    regex, llm = rows(reports["router-ablation"], "router-ablation")
    assert (regex[0], llm[0]) == ("Regex router", f"{LLM}, Qwen3.5-9B")
    assert llm[1:4] == ["18", "0.667", "1.000"]
    control = rows(reports["router-convention"], "router-convention")
    assert [line[1:] for line in control] == [["4 / 6"] * 3, ["6 / 6"] * 3]
    both = {line[1] for line in rows(reports["router-convention"], "scores")}
    assert both == {"Direct CoT", ROUTED, f"{ROUTED} [convention=aime]"}
    assert any(
        re.match(r"Routed-CFR is routed-cfr here; in these data are also .*convention", note)
        for note in table(reports["router-convention"], "main").notes
    )
