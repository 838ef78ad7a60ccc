"""``cfr bench``: generate, show, verify and export ConstraintBench problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click
from rich.progress import track
from rich.text import Text

from constraint_first.benchmark.constraintbench.family import (
    LEVELS,
    SPLITS,
    TIERS,
    USUAL_LEVELS,
    Family,
    Item,
    Level,
    Split,
    Tier,
    encode,
    load,
)
from constraint_first.benchmark.constraintbench.make import (
    check_file,
    check_items,
    choose,
    dataset_files,
    generate,
)
from constraint_first.cli import print_json, print_note, print_text
from constraint_first.cli.console import Column, SafeConsole, Table, bytes_bar
from constraint_first.cli.options import A_PATH, json_option, option
from constraint_first.error import CfrError, InputError, OutputError
from constraint_first.file.safe import atomic_file, refuse_overwrite
from constraint_first.model.local import DEFAULT_MODEL, catalogue, find_model, model_folder
from constraint_first.model.resolve import Preset, presets, user_file
from constraint_first.model.transport import without_secrets
from constraint_first.problem import Json

if TYPE_CHECKING:
    from constraint_first.problem import Prompt

# Fewer problems than this are generated faster than a progress bar is read.
_WORTH_A_BAR = 2000

_by_family = option(
    "--family names", "Only this family; repeatable.", multiple=True, metavar="NAME"
)
_by_tier = option("--tier tiers", "Only this tier; repeatable.", click.Choice(TIERS), multiple=True)
_by_level = option(
    "--level levels",
    "Only this level; repeatable. Without it, 1 to 3.",
    click.Choice([str(level) for level in LEVELS]),
    multiple=True,
)


class CheckFailedError(CfrError):
    """A file in which `cfr bench check` has found errors."""


@click.group("bench")
def bench_command() -> None:
    """Generate, show, verify and export ConstraintBench problems."""


@bench_command.command("generate")
@option(
    "--seed",
    "Seed of the random generator; the same seed gives the same problems.",
    int,
    required=True,
)
@option("--n count", "How many problems.", int, required=True)
@option("-o --output", kind=A_PATH, required=True, metavar="FILE.jsonl")
@_by_family
@_by_tier
@_by_level
@option("--force", "Write over a file that exists.", is_flag=True)
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


@bench_command.command("show")
@_by_family
@_by_tier
@option("--json style", "Print the families as JSON.", flag_value="json")
@option("--markdown style", "Print the data card's table.", flag_value="markdown")
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
    for item in (_example(family, shipped) for family in families):
        # Problem texts hold brackets and dollar signs: they are printed as text, never as markup.
        console.print(Text(f"\n{item.family} ({item.tier}, level {item.level})", style="bold"))
        console.print(Text(item.text))
        console.print(Text(f"answer {item.answer}", style="green"))
        for gold in item.constraints:
            console.print(Text(f"  {gold.kind}: {gold.description}"))
        for lure in item.tempting:
            console.print(Text(f"  tempting {lure.answer}: {lure.error}", style="dim"))


@bench_command.command("check")
@click.argument("file", type=A_PATH, required=False)
@option("--split", "A split that ships with the package.", click.Choice(SPLITS))
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


@bench_command.command("export")
@click.argument("folder", type=A_PATH)
@option(
    "--split splits",
    "Only this split; repeatable. Without it, all of the current version.",
    click.Choice(SPLITS),
    multiple=True,
)
@option("--force", "Write over files that exist.", is_flag=True)
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
    tier = Column("tier", "name")
    table = Table(tier, "family", prose["kinds"], Column("shipped"), prose["about"], title=title)
    for family in families:
        kinds = ", ".join(family.kinds)
        table.add_row(family.tier, family.name, kinds, str(counts[family.name]), family.about)
    return table


# ``cfr models``: the models that are available by name.

_NAME = click.argument("name", default=DEFAULT_MODEL, metavar="[NAME]")


@click.group("models", invoke_without_command=True)
@click.pass_context
def models_command(context: click.Context) -> None:
    """List, pull, verify and remove the models that run on this machine.

    \b
    cfr models                                list the catalogue and the presets
    cfr models pull smollm2-135m-instruct     fetch a model
    """
    if context.invoked_subcommand is None:
        context.invoke(list_models)


@models_command.command("list")
@json_option
def list_models(*, as_json: bool = False) -> None:
    """List the catalogue and what of it is here."""
    if as_json:
        names = ("name", "bytes", "sha256", "license", "present")
        print_json(
            [
                {name: getattr(model, name) for name in names} | {"path": str(model.path)}
                for model in catalogue().values()
            ]
        )
        return
    # Commands and variables are in a prose column, which never folds words without spaces.
    model = Column("model", "prose")
    licence = Column("licence", "name", rank=1)
    table = Table(model, Column("size"), licence, "here", Column("", "prose"))
    for model in catalogue().values():
        size, here = f"{model.bytes / 1e6:,.0f} MB", "yes" if model.present else "no"
        table.add_row(model.name, size, model.license, here, model.about)
    console = SafeConsole()
    console.print(table)
    console.print(f"\nkept in {model_folder()}; any GGUF file works too: --model FILE.gguf\n")
    _show_presets()


@models_command.command("presets")
@json_option
def list_presets(*, as_json: bool = False) -> None:
    """List the models behind endpoints that can be named, and whether their keys are set."""
    if as_json:
        print_json([_describe_preset(preset) for preset in presets().values()])
    else:
        _show_presets()


def _show_presets() -> None:
    whole = (Column(title, "prose") for title in ("model", "key", "set"))
    table = Table(*whole, Column("endpoint", "name", rank=1))
    for preset in presets().values():
        if preset.base_url:
            key_set = {None: "not needed", True: "yes", False: "no"}[preset.has_key]
            table.add_row(preset.name, ", ".join(preset.key_names), key_set, preset.shown)
    console = SafeConsole()
    console.print(table)
    own = user_file() or "a models.toml of your own (docs/models.md)"
    console.print(f"\nadd or change them in {own}")


@models_command.command("pull")
@_NAME
def pull_model(name: str) -> None:
    """Fetch a model (the default one if none is named) and check it."""
    from constraint_first.model.local import pull

    model = find_model(name)
    with bytes_bar(model.name) as report:
        path = pull(model, report)
    print_text(path)


@models_command.command("verify")
@_NAME
def verify_model(name: str) -> None:
    """Check a model file against its size and SHA-256."""
    model, done = find_model(name), 0
    with bytes_bar(model.name) as report:

        def hashed(count: int) -> None:
            nonlocal done
            done += count
            report(done, model.bytes, "checking")

        model.verify(hashed)
    print_text(f"{model.path}: as it should be")


@models_command.command("remove")
@_NAME
def remove_model(name: str) -> None:
    """Delete a model file."""
    model = find_model(name)
    print_text(f"{model.path}: " + ("removed" if model.remove() else "was not there"))


def _describe_preset(preset: Preset) -> dict[str, Json]:
    price = preset.price
    return {
        "name": preset.name,
        "label": preset.label,
        "base_url": _one_or_list([without_secrets(one) for one, _ in preset.endpoints]),
        "key_env": _one_or_list(preset.key_names),
        "key_set": preset.has_key,
        "context": preset.context,
        "reasons": preset.reasons,
        "price": price and {"input": price.input, "cached": price.cached, "output": price.output},
    }


def _one_or_list(found: list[str]) -> Json:
    """Write one text as a string, several as a list."""
    return [*found] if len(found) > 1 else "".join(found)


# ``cfr prompts``: the prompts that own prompts can replace.

_MOST_NAMED: Final = 4


@click.command("prompts")
@click.argument("name", metavar="[NAME]", required=False)
@option("--copy folder", "Copy the original prompts to this folder, to be changed.", metavar="DIR")
@json_option
def prompts_command(name: str | None, folder: str | None, *, as_json: bool) -> None:
    """List the prompts, show one, or copy them to write your own.

    Pass a folder with changed prompts to --prompts of 'cfr solve' or 'cfr eval'. Of a copy, keep
    the files that you change; the others may stay or go.

    \b
    cfr prompts                     what each is for, and which methods ask with it
    cfr prompts direct              the text of one
    cfr prompts --copy mine         all of them, as files in the folder mine
    cfr eval --prompts mine         run methods with them
    """
    from constraint_first.method.method import suggest
    from constraint_first.method.registry import original_prompts, prompt_users

    known, users = original_prompts(), prompt_users()
    if name is not None:
        if name not in known:
            hint = suggest(name, list(known))
            raise InputError(f"prompt {name!r}: not known; {hint} ('cfr prompts' lists them all)")
        known = {name: known[name]}
    if folder is not None:
        _copy(known, Path(folder))
    elif as_json:
        print_json(
            [
                {
                    "name": name,
                    "purpose": _PURPOSES[name],
                    "methods": users[name],
                    "places": sorted(prompt.places),
                    "text": prompt.text,
                }
                for name, prompt in known.items()
            ]
        )
    elif name is not None:
        print_text(known[name].text)
        places = ", ".join(f"[[{one}]]" for one in sorted(known[name].places)) or "none"
        print_note(f"{_PURPOSES[name]} ({', '.join(users[name])}); places: {places}")
    else:
        table = Table("prompt", Column("what it asks for", "prose"), Column("methods", "prose"))
        for name in known:
            methods, more = users[name][:_MOST_NAMED], len(users[name]) - _MOST_NAMED
            named = ", ".join(methods) + (f" and {more} more" if more > 0 else "")
            table.add_row(name, _PURPOSES[name], named)
        console = SafeConsole()
        console.print(table)
        console.print("\n'cfr prompts NAME' shows one; 'cfr prompts --copy DIR' starts your own")


def _copy(prompts: dict[str, Prompt], folder: Path) -> None:
    """Write prompts to a folder; changed files are never overwritten."""
    from constraint_first.file.safe import expand_user

    folder = expand_user(str(folder))
    files = {folder / f"{prompt.name}.txt": f"{prompt.text}\n" for prompt in prompts.values()}
    if there := [path for path in files if path.exists()]:
        raise OutputError(f"{there[0]}: exists already; name another folder, or move it away")
    try:
        folder.mkdir(exist_ok=True)
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be written ({error.strerror}); name a folder that can be"
        ) from None
    print_text(f"{folder}: {len(files)} prompt(s)")
    print_note(f"change what you like and run: cfr eval --prompts {folder}")


_PURPOSES: Final = {
    "check": "solve, and check the answer before it is given",
    "clarified": "solve, with the reply to a question (question=N)",
    "clarify": "answer a question about a constraint (question=N)",
    "continue": "reason on, where too little was written",
    "correct": "mend an answer that breaks a stated constraint",
    "direct": "solve step by step; also wherever a method falls back",
    "explore": "begin a solution, and claim things about the answer",
    "extended": "solve at length",
    "feedback": "criticise a solution",
    "finish": "finish a solution that was begun",
    "format": "describe the form of the answer",
    "format-solve": "solve, in the form that was described",
    "list-first": "list the constraints and solve, in one reply",
    "plan": "plan, then solve",
    "program": "write a program",
    "program-thinking": "write a program that begins with comments (style=thinking)",
    "program-bare": "write a program and nothing around it (style=bare)",
    "program-short": "write a short program and nothing around it (style=short)",
    "program-sympy": "the same, with sympy where a problem needs it (style=sympy)",
    "question": "offer to ask back before solving (question=N)",
    "reminder": "solve, with a reminder of what the answer must be",
    "reply": "the request unchanged",
    "reply-add": "add to a reply what its request demands and it lacks",
    "reply-correct": "write a reply anew that breaks what its request demands (then=turn)",
    "reply-list": "list what a request demands of the reply (mind=list)",
    "reply-reminder": "reply, with a reminder of what the request demands (mind=reminder)",
    "reply-told": "reply, with the demands that the model listed (mind=list)",
    "revise": "write a solution anew, after criticism",
    "router": "decide whether the problem restricts its answer",
    "stage1": "Stage 1 of CFR-brief: list the constraints",
    "stage1-paper": "Stage 1: list the constraints",
    "stage2-json": "Stage 2 of CFR-brief with reply=json",
    "stage2-paper-json": "Stage 2: solve under the constraints",
    "stage2-paper-prose": "Stage 2 with reply=prose",
    "stage2-prose": "Stage 2 of CFR-brief: solve under the constraints",
    "told": "name the stated constraints after the problem (tell=stated)",
    "translate": "write a solution in words as a program",
}
"""What each prompt is for; a test checks that the list is complete."""
