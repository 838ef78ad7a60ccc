"""Table of routers: agreement with a reference, tokens, latency and cost of a decision.

Paper: appendix "Router Ablation: Regex vs. LLM Router".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from constraint_first.analysis.audit.router_agreement import REGEX_ROUTER, RouterRow, Routers
from constraint_first.analysis.notation import NONE, decimal, several
from constraint_first.analysis.study.study import model_label
from constraint_first.analysis.table.table import Column, Row, Table, row
from constraint_first.engine.price import write_dollars

__all__ = ["ONE_ROUTER", "routers_table"]

ONE_ROUTER: Final = "No method of this study has another router; run llm-router to compare."


def routers_table(routers: Routers) -> Table:
    """Tabulate routers, a row for each."""
    columns = (
        *(Column("Router", "left"), Column("Problems"), Column("Precision"), Column("Recall")),
        *(Column("F1"), Column("κ"), Column("Tokens"), Column("Latency, ms"), Column("Cost")),
    )
    labels = routers.decisions
    reference = REGEX_ROUTER if labels is None else f"{several(labels, 'decision')} of a person"
    return Table(
        "router-ablation",
        f"Routers against {reference}",
        columns,
        tuple(map(_shown, routers.rows)),
        notes=tuple(_notes(routers)),
        paper=("tab:router-ablation",),
    )


def _shown(one: RouterRow) -> Row:
    found = one.agreement
    dollars = NONE if one.dollars is None else write_dollars(one.dollars)
    if found is None:
        agreement = ("reference", *[NONE] * 4)
    else:
        ratios = (found.precision, found.recall, found.f1, found.kappa)
        agreement = (f"{found.n:,}", *(decimal(ratio, 3) for ratio in ratios))
    latency = decimal(one.milliseconds, 3 if (one.milliseconds or 1) < 1 else 0)
    name = ", ".join(filter(None, (one.name, model_label(one.model))))
    return row(name, *agreement, decimal(one.tokens, 0), latency, dollars)


def _notes(routers: Routers) -> Iterator[str]:
    if routers.decisions is None:
        yield (
            "No person's decisions were given: this is agreement with the regex router, not a "
            "measure of which router is better."
        )
    if len(routers.rows) == 1:
        yield ONE_ROUTER
    yield (
        "Tokens, latency and cost are means for one decision; a call's latency includes the time "
        "it waited for others. Regular expressions are not timed here, so that the same data give "
        "the same table: perf/router.py measures them, and perf/README.md has the figure."
    )
    unpriced = [one for one in routers.rows if one.dollars is None]
    if any(one.tokens is None for one in unpriced):
        yield f"A cost of {NONE} without tokens means that the router's tokens are not on record."
    if any(one.tokens is not None for one in unpriced):
        yield f"A cost of {NONE} beside tokens means that models.toml sets no price for the model."
