from pathlib import Path

import pytest

from constraint_first.error import OutputError
from constraint_first.report.canvas import Figure
from constraint_first.report.exhibit.errors import CaseAttempt, CaseStudy
from constraint_first.report.report import Report, Section, report_markdown, write
from constraint_first.report.study import Transcript
from constraint_first.report.table import Column, Table, row

TABLE = Table("scores", "Scores", (Column("Method", "left"), Column("n")), (row("direct", "3"),))
PAPER = Table("paper-scores", "Scores (paper)", (Column("n"),), (row("30"),))
FIGURE = Figure("gains", "Gains", "Bars.", "<svg></svg>", b"\x89PNG")
CASE = CaseStudy(
    *("fixed", "aime24", "m", "7", "What is 2 + 2?", ""),
    CaseAttempt("Direct CoT", 0, 2, 1, Transcript("…", None, False, 1_200)),
    CaseAttempt("Routed-CFR", 1, 1, 0, Transcript("…", "4*", True, 90)),
)
SECTION = Section("main", "Main results", ("It *is* better.",), (TABLE,), (FIGURE,), (PAPER,))
REPORT = Report("2 methods", "by hand", (SECTION,), (CASE,), "Chosen by rule.")


def test_everything_is_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "report"
    made = write(REPORT, folder)
    assert made == [folder / n for n in ("report.html", "report.md", "tables", "figures")]
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == [
        *("figures/gains.png", "figures/gains.svg"),
        *("report.html", "report.md", "tables/scores.tex"),
    ]
    assert (folder / "report.md").read_text(encoding="utf-8") == report_markdown(REPORT)
    assert r"\label{tab:scores}" in (folder / "tables" / "scores.tex").read_text(encoding="utf-8")
    assert list(REPORT.tables) == [TABLE]  # those of the paper are not ours to keep


def test_without_figures_there_is_no_folder_for_them(tmp_path: Path) -> None:
    plain = Report("t", "a", (Section("s", "S", tables=(TABLE,)),), (), "")
    assert [path.name for path in write(plain, tmp_path)] == ["report.html", "report.md", "tables"]
    assert not (tmp_path / "figures").exists()


def test_a_report_in_markdown() -> None:
    assert (
        report_markdown(REPORT)
        == """# 2 methods

by hand

## Main results

- It \\*is\\* better.

**Scores**

| Method | n |
| :-- | --: |
| direct | 3 |

![Bars.](figures/gains.svg)

*Gains*

**Scores (paper)**

| n |
| --: |
| 30 |

## Cases

Chosen by rule.

### No constraint named

#### What is 2 + 2? (7, AIME24, m): fixed

What is 2 + 2?

Gold answer: not given.

- **Direct CoT**: no answer (wrong; right in 0 of 2 runs; 1,200 tokens)

- **Routed-CFR**: 4\\* (right; right in 1 of 1 run; 90 tokens)
"""
    )


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "report").write_text("in the way")
    with pytest.raises(OutputError, match=r"report: cannot be a folder \(.*\); name another"):
        write(REPORT, tmp_path / "report")
