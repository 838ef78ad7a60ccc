"""``cfr bench``: generate, show, verify and export ConstraintBench problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import click
from rich.progress import track
from rich.text import Text

from constraint_first.benchmark.constraintbench.dataset import dataset_files
from constraint_first.benchmark.constraintbench.family import Family
from constraint_first.benchmark.constraintbench.generate import choose, generate
from constraint_first.benchmark.constraintbench.item import (
    LEVELS,
    TIERS,
    USUAL_LEVELS,
    Item,
    Level,
    Tier,
    encode,
)
from constraint_first.benchmark.constraintbench.split import SPLITS, Split, load
from constraint_first.benchmark.constraintbench.verify import check_file, check_items
from constraint_first.cli.console import SafeConsole
from constraint_first.cli.output import print_json, print_text
from constraint_first.cli.table import Column, Table
from constraint_first.error import CfrError, OutputError
from constraint_first.file.atomic import atomic_file, refuse_overwrite
from constraint_first.problem import Json

__all__ = ["command"]

# Fewer problems than this are generated faster than a progress bar is read.
_WORTH_A_BAR = 2000

_by_family = click.option(
    "--family", "names", multiple=True, metavar="NAME", help="Only this family; may be repeated."
)
_by_tier = click.option(
    "--tier",
    "tiers",
    multiple=True,
    type=click.Choice(TIERS),
    help="Only this tier; may be repeated.",
)
_by_level = click.option(
    "--level",
    "levels",
    multiple=True,
    type=click.Choice([str(level) for level in LEVELS]),
    help="Only this level; may be repeated. Without it, 1 to 3.",
)


class CheckFailedError(CfrError):
    """A file that `cfr bench check` has found at fault."""


@click.group("bench")
def command() -> None:
    """Generate, show, verify and export ConstraintBench problems."""


@command.command("generate")
@click.option(
    "--seed",
    type=int,
    required=True,
    help="Seed of the random generator; the same seed gives the same problems.",
)
@click.option("--n", "count", type=int, required=True, help="How many problems.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE.jsonl"
)
@_by_family
@_by_tier
@_by_level
@click.option("--force", is_flag=True, help="Write over a file that exists.")
def generate_command(
    seed: int,
    count: int,
    output: Path,
    names: tuple[str, ...],
    tiers: tuple[Tier, ...],
    levels: tuple[str, ...],
    force: bool,
) -> None:
    """Generate problems into a JSON Lines file.

    Families, tiers and levels take turns, so that any beginning of the file is balanced.

    \b
    cfr bench generate --seed 7 --n 200 -o mine.jsonl
    cfr bench generate --seed 7 --n 50 --tier misleading --level 1 -o easy.jsonl
    """
    refuse_overwrite(output, force=force)
    chosen = cast("list[Level]", sorted({int(level) for level in levels})) or USUAL_LEVELS
    drawn = generate(seed, count, families=choose(names, tiers), levels=chosen)
    err = SafeConsole(stderr=True)
    bar = track(drawn, "generating", total=count, console=err, disable=count < _WORTH_A_BAR)
    with atomic_file(output) as temporary:
        temporary.write_bytes(encode(bar))
    print_text(f"{output}: {count} problems (seed {seed})")


@command.command("show")
@_by_family
@_by_tier
@click.option("--json", "style", flag_value="json", help="Print the families as JSON.")
@click.option("--markdown", "style", flag_value="markdown", help="Print the data card's table.")
def show_command(names: tuple[str, ...], tiers: tuple[Tier, ...], style: str | None) -> None:
    """Print the families, how often each occurs in the splits public and hard, and examples.

    \b
    cfr bench show --tier joint
    cfr bench show --family minute_display --json
    """
    families = choose(names, tiers)
    shipped = (*load("public"), *load("hard"))
    if style == "json":
        rows = [_describe(family, shipped) for family in families]
        print_json(rows, indent=2)
        return
    if style == "markdown":
        print_text(_markdown(families, shipped))
        return
    console = SafeConsole()
    console.print(_overview(families, shipped))
    for family in families:
        _print_example(console, _example(family, shipped))


@command.command("check")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--split", type=click.Choice(SPLITS), help="A split that ships with the package.")
def check_command(file: Path | None, split: Split | None) -> None:
    """Verify problems: schema, answers, constraints, spans, drawing again, shortcuts, levels.

    \b
    cfr bench check mine.jsonl
    cfr bench check --split public
    """
    if (file is None) == (split is None):
        raise click.UsageError("name a file, or one split with --split")
    report = (
        check_file(file) if file else check_items(dict(enumerate(load(cast("Split", split)), 1)))
    )
    name = file or split
    if report.faults:
        first, more = report.faults[0], len(report.faults) - 1
        rest = f" (and {more} more fault{'s' if more > 1 else ''})" if more else ""
        raise CheckFailedError(f"{name}, line {first.line}: {first.message}{rest}")
    print_text(f"{name}: {report.count} problems, all as they should be")
    drawn = report.count - report.not_drawn
    print_text(f"  drawn again, each answer computed in two ways: {drawn} of {report.count}")
    if report.not_drawn:
        print_text(f"  of version 1, whose families this package no longer has: {report.not_drawn}")
    for shortcut in report.shortcuts:
        print_text(f"  {shortcut}")
    if report.levels:
        print_text(f"  {report.levels}")


@command.command("export")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=click.Choice(SPLITS),
    help="Only this split; may be repeated. Without it, all of the current version.",
)
@click.option("--force", is_flag=True, help="Write over files that exist.")
def export_command(folder: Path, splits: tuple[Split, ...], force: bool) -> None:
    """Write shipped splits as a Hugging Face dataset: README.md, the card, and data/*.jsonl.

    \b
    cfr bench export constraintbench
    cfr bench export old --split public@1
    """
    chosen = tuple(dict.fromkeys(splits)) or tuple(one for one in SPLITS if "@" not in one)
    try:
        (folder / "data").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
    files = {folder / place: content for place, content in dataset_files(chosen)}
    for path in files:
        refuse_overwrite(path, force=force)
    for path, content in files.items():
        with atomic_file(path) as temporary:
            temporary.write_bytes(content)
    print_text(f"{folder}: {', '.join(chosen)}")


def _example(family: Family, shipped: Sequence[Item]) -> Item:
    return next(item for item in shipped if item.family == family.name)


def _describe(family: Family, shipped: Sequence[Item]) -> dict[str, Json]:
    return {
        "family": family.name,
        "tier": family.tier,
        "kinds": list(family.kinds),
        "about": family.about,
        "shipped": sum(item.family == family.name for item in shipped),
        "example": _example(family, shipped).to_json(),
    }


def _markdown(families: Sequence[Family], shipped: Sequence[Item]) -> str:
    lines = ["| tier | levels | family | kinds | example | answer |", "| --- " * 6 + "|"]
    for family in families:
        item = _example(family, shipped)
        levels, kinds = ", ".join(map(str, family.levels)), ", ".join(family.kinds)
        cells = (family.tier, levels, f"`{family.name}`", kinds, item.text, item.answer)
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines)


def _overview(families: Sequence[Family], shipped: Sequence[Item]) -> Table:
    counts = Counter(item.family for item in shipped)
    size = sum(counts[family.name] for family in families)
    title = f"ConstraintBench: {len(families)} families, {size} problems"
    prose = {title: Column(title, "prose") for title in ("kinds", "about")}
    tier = Column("tier", "name", shared=True)
    table = Table(tier, "family", prose["kinds"], Column("shipped"), prose["about"], title=title)
    for family in families:
        kinds = ", ".join(family.kinds)
        table.add_row(family.tier, family.name, kinds, str(counts[family.name]), family.about)
    return table


def _print_example(console: SafeConsole, item: Item) -> None:
    # Problem texts hold brackets and dollar signs: they are printed as text, never as markup.
    console.print(Text(f"\n{item.family} ({item.tier}, level {item.level})", style="bold"))
    console.print(Text(item.text))
    console.print(Text(f"answer {item.answer}", style="green"))
    for gold in item.constraints:
        console.print(Text(f"  {gold.kind}: {gold.description}"))
    for lure in item.tempting:
        console.print(Text(f"  tempting {lure.answer}: {lure.error}", style="dim"))
