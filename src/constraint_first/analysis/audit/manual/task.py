"""A sampled attempt laid out for a person to mark: its problem, its constraints, marks so far."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from constraint_first.analysis.audit.manual.label import Label, Mark, unmarked
from constraint_first.analysis.audit.manual.sample import Sample, refuse_mismatch
from constraint_first.analysis.study.study import ProblemText, Study
from constraint_first.constraint.spec import ConstraintSpec
from constraint_first.evaluation.record import RecordKey

__all__ = ["MarkingTask", "lay_out"]


@dataclass
class MarkingTask:
    """An attempt whose constraints are to be marked. Which model it is by is not shown."""

    number: int
    """Its place in the sample."""
    asked: ProblemText
    spec: ConstraintSpec
    label: Label
    saved: Label
    """What is on the disk, or the label without a mark."""
    at: int = 0

    def mark(self, mark: Mark) -> None:
        """Mark the constraint in turn."""
        marked = list(self.label.constraints)
        marked[self.at] = replace(marked[self.at], mark=mark)
        self.label = replace(self.label, constraints=tuple(marked))
        self.at += 1

    @property
    def current(self) -> Mark | None:
        """The mark that the constraint in turn has already."""
        return None if self.finished else self.label.constraints[self.at].mark

    @property
    def finished(self) -> bool:
        """Whether there is no constraint left in turn."""
        return self.at == len(self.label.constraints)

    @property
    def constraints(self) -> list[tuple[str, str, str]]:
        """All constraints: the name of each, its kind or its origin, what it says."""
        raw = ((one.id, one.type, one.description) for one in self.spec.raw_constraints)
        derived = (
            (one.id, f"from {', '.join(one.derived_from)}", one.description)
            if one.derived_from
            else (one.id, "derived", one.description)
            for one in self.spec.propagated_constraints
        )
        return [*raw, *derived]

    def constraint(self) -> tuple[str, str, str]:
        """Return the constraint in turn."""
        return self.constraints[self.at]


def lay_out(
    study: Study,
    sample: Sample,
    labels: Iterable[Label],
    annotator: str,
    keys: Collection[RecordKey],
) -> list[MarkingTask]:
    """Lay out some attempts of a sample for an annotator, with all the text that they need.

    Labels of attempts that have other constraints now are refused.
    """
    every = list(labels)
    transcripts = study.transcripts({*keys, *(label.key for label in every)})
    refuse_mismatch(every, transcripts, study.source)
    drafts = {label.key: label for label in every if label.annotator == annotator}
    missing = ProblemText("(its text is not in these runs)")
    tasks: list[MarkingTask] = []
    for key in keys:
        spec = transcripts[key].constraints or ConstraintSpec()
        label = drafts.get(key) or unmarked(annotator, key, spec)
        asked = study.problems.get((key[0], key[4])) or missing
        open_ones = (n for n, one in enumerate(label.constraints) if one.mark is None)
        first = next(open_ones, len(label.constraints))
        tasks.append(MarkingTask(sample.keys.index(key) + 1, asked, spec, label, label, first))
    return tasks
