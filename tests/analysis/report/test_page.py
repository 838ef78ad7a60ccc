import re
from dataclasses import replace

from constraint_first.constraint.stage1 import ConstraintSpec
from constraint_first.report.canvas import Figure
from constraint_first.report.exhibit.errors import CaseAttempt, CaseStudy
from constraint_first.report.page import report_html
from constraint_first.report.report import Report, Section
from constraint_first.report.study import Transcript
from constraint_first.report.table import Cell, Column, Table, row

TABLE = Table(
    "scores",
    "Scores",
    (Column("Method", "left"), Column("n", group="AIME24"), Column("p", group="AIME24")),
    (
        row("A model", kind="heading"),
        row("direct", Cell("+5.0", bold=True, tone="gain"), "<b>"),
    ),
    ("A note.",),
)
FIGURE = Figure("gains", "Gains", "Bars.", "<svg><g/></svg>", b"", ("Few.",))
SECTION = Section("main", "Main results", ("It is & is not.",), (TABLE,), (FIGURE,), (TABLE,))
SPEC = ConstraintSpec.from_mapping(
    {
        "raw_constraints": [{"id": "C1", "type": "domain", "description": "x is <whole>"}],
        "propagated_constraints": [{"id": "P1", "derived_from": ["C1"], "description": "x > 0"}],
    }
)
CASE = CaseStudy(
    *("broken", "aime24", "m", "7", "What is $x$?", "4"),
    CaseAttempt("Direct CoT", 1, 2, 0, Transcript("It is <i>4</i>.", "4", True, 1_000)),
    CaseAttempt("Routed-CFR", 0, 1, 0, Transcript("", None, False, 2_500, SPEC)),
)
REPORT = Report("Two & more", "by hand", (SECTION,), (CASE,), "Chosen by rule.")


def test_cases_stand_under_the_constraint_that_dominates_them() -> None:
    two = (replace(CASE, kind="Parity"), replace(CASE, kind="Parity"), CASE)
    page = report_html(replace(REPORT, cases=two))
    assert page.count("<h3>Parity</h3>") == 1
    assert page.index("<h3>Parity</h3>") < page.index("<h3>No constraint named</h3>")


def test_a_table_on_the_page() -> None:
    page = report_html(REPORT)
    assert '<th class="group" colspan="1"></th><th class="group" colspan="2">AIME24</th>' in page
    assert '<tr class="heading"><td colspan="3"><span>A model</span></td></tr>' in page
    assert (
        '<td class="right gain bold short">+5.0</td><td class="right plain short">&lt;b&gt;</td>'
        in page
    )
    assert '<p class="note">A note.</p>' in page


def test_sections_claims_and_figures() -> None:
    page = report_html(REPORT)
    assert "<title>Two &amp; more</title>" in page
    assert "<li>It is &amp; is not.</li>" in page
    assert '<li><a href="#part-main">Main results</a></li>' in page
    assert "<figcaption>Gains. Few.</figcaption>" in page
    assert "<svg><g/></svg>" in page
    assert "What the paper printed (1)" in page


def test_a_case_with_both_attempts() -> None:
    page = report_html(REPORT)
    (heading,) = re.findall(r"<summary>(<span class=.tag broken.*?)</summary>", page, re.DOTALL)
    assert re.sub(r"<[^>]*>|\n", "", heading) == "broken What is x? 7, AIME24, m"
    assert "Gold answer: 4; Routed-CFR took 2.50 times the tokens" in page
    assert '<span class="correct">✓ 4</span>' in page
    assert '<span class="wrong">✗ no answer</span>' in page
    assert "1,000 tokens; right in 1 of 2 runs; this is run 0" in page
    assert "It is &lt;i&gt;4&lt;/i&gt;." in page
    assert re.search(r"<b>C1</b> <i>domain</i>: .*x is &lt;whole&gt;", page)
    assert "<b>P1</b> from C1:" in page


def test_without_cases_there_is_no_such_part() -> None:
    assert 'id="part-cases"' not in report_html(replace(REPORT, cases=()))


def test_control_codes_are_not_passed_on() -> None:
    assert "\x1b" not in report_html(replace(REPORT, about="a\x1b[31mb"))


def test_a_long_table_and_a_long_figure_are_folded() -> None:
    rows = (row("A model", kind="heading"), *(row("direct", str(n), "x") for n in range(21)))
    long = replace(TABLE, name="long", title="Long", rows=rows)
    tall = replace(FIGURE, name="tall", long=True)
    tables = (replace(TABLE, rows=rows[:21]), long)
    page = report_html(replace(REPORT, sections=(Section("s", "S", (), tables, (FIGURE, tall)),)))
    before, inside = page.split("<details", 1)
    assert 'data-name="scores"' in before
    assert inside.startswith(' class="long"><summary>Show the table: 21 rows</summary>')
    assert 'data-name="long"' in inside
    assert page.count("<summary>Show the figure</summary>") == 1


def test_whatever_may_be_wide_scrolls_in_a_box_that_a_keyboard_reaches() -> None:
    page = report_html(REPORT)
    boxes = page.count('<div class="wide" role="region" tabindex="0" aria-label')
    assert boxes == page.count("<table") + page.count("<svg") == 3


def test_an_interval_in_a_claim_stays_on_one_line() -> None:
    section = Section(
        "verdict", "First", ("It is +5.0 points [−1.0, 11.0], [x, y] (p = 1).",), notes=("So.",)
    )
    page = report_html(replace(REPORT, sections=(section,)))
    kept = "+5.0 points [−1.0,~11.0], [x, y] (p~=~1).".replace("~", "\N{NO-BREAK SPACE}")
    assert kept in page
    assert '<ul class="claims verdict">' in page
    assert '<p class="note">So.</p>' in page
