"""A process that makes one report, with the code of ``cfr report``, and says how far it is.

The order comes as JSON on standard input, so that no password of a store stands on a command line;
each step goes out as a line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from constraint_first.analysis.audit.error_rule import DEFAULT_RULE, ErrorRule, read_classes
from constraint_first.analysis.audit.manual.label import read_labels
from constraint_first.analysis.extra import REPORT, require
from constraint_first.analysis.report.context import ReportOptions
from constraint_first.analysis.report.folder import write
from constraint_first.analysis.report.report import PARTS, assemble
from constraint_first.analysis.study.reader import open_study
from constraint_first.analysis.study.study import Study, StudyError
from constraint_first.error import CfrError
from constraint_first.file.printable import one_line

__all__ = ["FOLDER", "STEPS", "ZIP", "ReportOrder", "write_report"]

FOLDER: Final = "report"
"""Where the files are."""
ZIP: Final = "report.zip"
"""All files in one."""
_READING: Final = "Reading the runs"
_WRITING: Final = "Writing the files"
STEPS: Final = (_READING, *PARTS, _WRITING)
"""What is said before each step."""
_POLITE: Final = 5
"""How far a report stands back behind the server's own work."""


@dataclass(frozen=True, slots=True)
class ReportOrder:
    """A report that is wanted; what is empty is left to ``cfr report``."""

    runs: tuple[str, ...]
    baseline: str = ""
    method: str = ""
    benchmark: str = ""
    model: str = ""
    cases: int = 12
    figures: bool = True
    labels: str = ""
    """The file of what people marked of Stage 1's constraints."""
    classes: str = ""
    """The file of errors that people classed."""

    def to_json(self) -> str:
        """Write it down."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, written: str) -> ReportOrder:
        """Read it back."""
        fields = json.loads(written)
        return cls(tuple(fields.pop("runs")), **fields)


def write_report(order: ReportOrder, place: Path, tell: Callable[[str], None]) -> tuple[str, ...]:
    """Make a report in a folder, and all of it as one file beside that; return its verdicts."""
    require(*REPORT)
    tell(_READING)
    study = _part(order)
    options = ReportOptions(
        baseline=order.baseline,
        method=order.method,
        cases=order.cases,
        figures=order.figures,
        labels=tuple(read_labels([Path(order.labels)])) if order.labels else (),
        error_rule=_error_rule(order, study),
    )
    report = assemble(study, options, tell)
    tell(_WRITING)
    write(report, place / FOLDER)
    with zipfile.ZipFile(place / ZIP, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted((place / FOLDER).rglob("*")):
            packed.write(path, path.relative_to(place))
    return report.sections[0].claims


def _part(order: ReportOrder) -> Study:
    study = open_study(order.runs)
    if not study.arms:
        raise StudyError(f"{study.source}: no attempts yet; run 'cfr eval' first")
    return study.only(
        benchmark=[order.benchmark] if order.benchmark else [],
        model=[order.model] if order.model else [],
    )


def _error_rule(order: ReportOrder, study: Study) -> ErrorRule:
    if not order.classes:
        return DEFAULT_RULE
    return ErrorRule(DEFAULT_RULE.right, read_classes(Path(order.classes), study))


def _tell(kind: str, value: object) -> None:
    sys.stdout.write(json.dumps({kind: value}) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Make the report that is ordered, in the folder that is named."""
    with suppress(OSError):
        os.nice(_POLITE)
    order = ReportOrder.from_json(sys.stdin.readline())
    try:
        _tell("done", write_report(order, Path(sys.argv[1]), lambda step: _tell("step", step)))
    except CfrError as error:
        _tell("error", one_line(str(error)))


if __name__ == "__main__":
    main()
