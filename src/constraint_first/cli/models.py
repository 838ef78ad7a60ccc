"""``cfr models``: the models that can be had by name."""

from __future__ import annotations

import click

from constraint_first.cli.option import json_option
from constraint_first.cli.output import print_json, print_text
from constraint_first.engine.address import without_secrets
from constraint_first.engine.catalogue import (
    DEFAULT_MODEL,
    Model,
    catalogue,
    find_model,
    model_folder,
)
from constraint_first.engine.presets import Preset, presets, user_file
from constraint_first.problem import Json

__all__ = ["command"]

_NAME = click.argument("name", default=DEFAULT_MODEL, metavar="[NAME]")


@click.group("models", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List, pull, verify and remove the models that run on this machine.

    \b
    cfr models                                list the catalogue and the presets
    cfr models pull smollm2-135m-instruct     fetch a model
    """
    if context.invoked_subcommand is None:
        context.invoke(list_models)


@command.command("list")
@json_option
def list_models(*, as_json: bool = False) -> None:
    """List the catalogue and what of it is here."""
    if as_json:
        print_json([_describe(model) for model in catalogue().values()])
        return
    from constraint_first.cli.console import SafeConsole
    from constraint_first.cli.table import Column, Table

    # What a person types or sets is prose here: it has no space, so it is never folded.
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


@command.command("presets")
@json_option
def list_presets(*, as_json: bool = False) -> None:
    """List the models behind endpoints that can be named, and whether their keys are set."""
    if as_json:
        print_json([_describe_preset(preset) for preset in presets().values()])
    else:
        _show_presets()


def _show_presets() -> None:
    from constraint_first.cli.console import SafeConsole
    from constraint_first.cli.table import Column, Table

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


@command.command("pull")
@_NAME
def pull_model(name: str) -> None:
    """Fetch a model (the default one if none is named) and check it."""
    from constraint_first.cli.progress import bytes_bar
    from constraint_first.engine.pull import pull

    model = find_model(name)
    with bytes_bar(model.name) as report:
        path = pull(model, report)
    print_text(path)


@command.command("verify")
@_NAME
def verify_model(name: str) -> None:
    """Check a model file against its size and SHA-256."""
    from constraint_first.cli.progress import bytes_bar

    model, done = find_model(name), 0
    with bytes_bar(model.name) as report:

        def hashed(count: int) -> None:
            nonlocal done
            done += count
            report(done, model.bytes, "checking")

        model.verify(hashed)
    print_text(f"{model.path}: as it should be")


@command.command("remove")
@_NAME
def remove_model(name: str) -> None:
    """Delete a model file."""
    model = find_model(name)
    print_text(f"{model.path}: " + ("removed" if model.remove() else "was not there"))


def _describe(model: Model) -> dict[str, str | int | bool]:
    return {
        "name": model.name,
        "bytes": model.bytes,
        "sha256": model.sha256,
        "license": model.license,
        "present": model.present,
        "path": str(model.path),
    }


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
    """Write what is usually one text as one, and several as a list."""
    return [*found] if len(found) > 1 else "".join(found)
