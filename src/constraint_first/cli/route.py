"""``cfr route``: what the router sees in a problem, or in a whole file of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import cast

import click

from constraint_first.benchmark.source import read_problems
from constraint_first.cli.option import columns_option, json_option
from constraint_first.cli.output import print_json, print_note
from constraint_first.constraint.kind import read_kind, tell_kind
from constraint_first.constraint.router import (
    FAMILIES,
    PROFILES,
    Cue,
    Profile,
    aime_convention,
    route,
)
from constraint_first.problem import Json, Problem

__all__ = ["command"]


@click.command("route")
@click.argument("source", metavar="TEXT|FILE|-")
@click.option(
    "--profile",
    type=click.Choice([*PROFILES]),
    default="reconstructed",
    show_default=True,
    help="The patterns: those that give the paper's counts, or those of its pseudocode.",
)
@click.option(
    "--convention",
    type=click.Choice(["none", "aime"]),
    default="none",
    show_default=True,
    help="Ablation: also route every problem of a file whose name begins with 'aime'.",
)
@columns_option()
@json_option
def command(
    source: str, profile: str, convention: str, columns: dict[str, str], *, as_json: bool
) -> None:
    """Show which restrictive cues a problem has; on a file, count them.

    Also says what --method auto takes the text for, and why.

    \b
    cfr route "Find the remainder when 7^100 is divided by 13."
    cfr route problems.jsonl --json
    cfr route problems.csv --columns problem=question
    """
    read = read_problems(source, columns)
    problems = read.problems
    found = [route(problem.text, cast("Profile", profile)) for problem in problems]
    if read.taken:
        print_note(read.taken)
        audit = _audit(problems, found, aime=convention == "aime")
        print_json(audit) if as_json else _show_audit(source, audit)
    elif as_json:
        print_json(_describe(problems[0].text, found[0]))
    else:
        _show(problems[0].text, found[0])


def _audit(
    problems: Sequence[Problem], found: Sequence[tuple[Cue, ...]], *, aime: bool
) -> dict[str, Json]:
    families = Counter(cue.family for cues in found for cue in cues)
    cofire = Counter("4+" if len(cues) >= 4 else str(len(cues)) for cues in found)
    routed = [
        bool(cues) or (aime and aime_convention(problem.benchmark))
        for problem, cues in zip(problems, found, strict=True)
    ]
    return {
        "total": len(problems),
        "routed": sum(routed),
        "families": {family: families[family] for family in FAMILIES},
        "cofire": {count: cofire[count] for count in ("0", "1", "2", "3", "4+")},
    }


def _describe(text: str, found: tuple[Cue, ...]) -> dict[str, Json]:
    kind = read_kind(text)
    return {
        "kind": kind.what,
        "why": kind.why,
        "routed": bool(found),
        "cues": [
            {
                "family": cue.family,
                "spans": [[start, end] for start, end in cue.spans],
                "phrases": [*cue.phrases(text)],
            }
            for cue in found
        ],
    }


def _show(text: str, found: tuple[Cue, ...]) -> None:
    from constraint_first.cli import show
    from constraint_first.cli.console import SafeConsole

    console = SafeConsole()
    console.print(show.highlighted(text, found))
    console.print()
    if found:
        console.print(show.cues(text, found))
    console.print("routed to CFR" if found else "no restrictive cue: Direct CoT", style="bold")
    console.print(show.printable(tell_kind(text)))


def _show_audit(source: str, audit: dict[str, Json]) -> None:
    from rich.text import Text

    from constraint_first.cli import show
    from constraint_first.cli.console import SafeConsole
    from constraint_first.cli.table import Column, Table

    total, routed = cast("int", audit["total"]), cast("int", audit["routed"])
    console = SafeConsole()
    share = f" routed ({routed / total:.2%})  "
    console.print(Text.assemble((f"{routed:,} / {total:,}", "bold"), share, (source, "dim")))
    for title, counts in (("cue family", audit["families"]), ("families fired", audit["cofire"])):
        table = Table(title, Column("problems"), "")
        for name, count in cast("dict[str, int]", counts).items():
            bar = "█" * round(30 * count / total)
            table.add_row(name, f"{count:,}", bar, style=show.style_of(name))
        console.print()
        console.print(table)
