"""Provenance of a report: its title, and where, when and with what its data were made."""

from __future__ import annotations

import time
from importlib.metadata import PackageNotFoundError, version

from constraint_first.analysis.notation import several
from constraint_first.analysis.study.study import Study, model_label

__all__ = ["about", "title"]


def title(study: Study) -> str:
    """Name a study by its methods and models."""
    models = [model_label(name) for name in study.names("model") if name]
    methods = several(len(study.names("method")), "method")
    if not models:
        return f"{methods} compared"
    named = models[0] if len(models) == 1 else several(len(models), "model")
    return f"{methods} with {named}"


def about(study: Study) -> str:
    """Say what a study holds, and when it was made."""
    attempts = list(study.all_attempts())
    times = [attempt.finished_at for attempt in attempts if attempt.finished_at]
    made = ""
    if times:
        first, last = (time.strftime("%Y-%m-%d", time.gmtime(t)) for t in (min(times), max(times)))
        made = f"; attempts made {first if first == last else f'{first} to {last}'}"
    return (
        f"{study.source}: {several(len(study.attempted), 'problem')}, "
        f"{several(len(attempts), 'attempt')}{made}; {_software()}"
    )


def _software() -> str:
    try:
        return f"constraint-first {version('constraint-first')}"
    except PackageNotFoundError:  # run from its source, without being installed
        return "constraint-first"
