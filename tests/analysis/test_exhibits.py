"""Every exhibit of a study with something of everything, compared with what it was."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from made_up import write_marks, write_runs
from snapshot import Golden

from constraint_first.report.comparison import Plan, compare
from constraint_first.report.exhibit.cost import ratios_table
from constraint_first.report.exhibit.errors import error_tables
from constraint_first.report.exhibit.exhibit import ReportOptions
from constraint_first.report.exhibit.gains import comparison_json, paired_table
from constraint_first.report.exhibit.marks import ErrorRule, read_classes, read_labels
from constraint_first.report.reader import open_study
from constraint_first.report.report import (
    Report,
    assemble,
    report_html,
    report_markdown,
    report_style,
)
from constraint_first.report.study import Study, with_short_names
from constraint_first.report.table import to_latex, to_markdown


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made-up")
    write_runs(made / "runs.jsonl")
    write_marks(made / "labels.jsonl", made / "classes.jsonl")
    return made


@pytest.fixture(scope="module")
def study(folder: Path) -> Study:
    return replace(open_study(folder / "runs.jsonl"), source="made up")


@pytest.fixture(scope="module")
def report(study: Study, folder: Path) -> Report:
    rule = ErrorRule("any", read_classes(folder / "classes.jsonl", study))
    labels = tuple(read_labels([folder / "labels.jsonl"]))
    options = ReportOptions(cases=3, figures=False, labels=labels, error_rule=rule)
    return assemble(study, options)


def test_the_report_in_markdown(golden: Golden, report: Report) -> None:
    assert report_markdown(report) == golden("exhibits.md")


def test_the_report_as_a_page(golden: Golden, report: Report) -> None:
    page = report_html(report).replace(report_style(), "")
    body = page[: page.index('<section id="part-routing"')]
    assert body + page[page.index('<section id="part-cases"') :] == golden("exhibits.html")


def test_tables_for_latex(golden: Golden, report: Report) -> None:
    wanted = ("main", "prompting", "cofire", "router-ablation", "manual-extraction")
    tables = (table for table in report.tables if table.name in wanted)
    assert "\n".join(map(to_latex, tables)) == golden("exhibits.tex")


def test_errors_by_the_first_run(golden: Golden, study: Study) -> None:
    tables = error_tables(with_short_names(study), "cfr-brief", "direct", ErrorRule("first"))
    assert "\n".join(map(to_markdown, tables)) == golden("errors-first.md")


def test_a_comparison_as_json_and_as_tables(golden: Golden, study: Study) -> None:
    comparison = compare(
        study.only(model=["deepseek-chat"]), methods="cfr", plan=Plan(pool_all=True)
    )
    written = orjson.dumps(comparison_json(comparison), option=orjson.OPT_INDENT_2).decode()
    assert written + "\n" == golden("comparison.json")
    tables = (paired_table(comparison), ratios_table(comparison, named=True))
    text = orjson.dumps([one.to_json() for one in tables], option=orjson.OPT_INDENT_2).decode()
    assert text + "\n" == golden("comparison-tables.json")
