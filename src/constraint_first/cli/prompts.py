"""``cfr prompts``: the prompts that can be replaced by own ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from constraint_first.cli.option import json_option
from constraint_first.cli.output import print_json, print_note, print_text
from constraint_first.error import InputError, OutputError

if TYPE_CHECKING:
    from constraint_first.prompt import Prompt

__all__ = ["command"]

_MOST_NAMED: Final = 4


@click.command("prompts")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--copy", "folder", metavar="DIR", help="Write the originals there to start from.")
@json_option
def command(name: str | None, folder: str | None, *, as_json: bool) -> None:
    """List the prompts, show one, or copy them to write your own.

    A folder with changed prompts goes to --prompts of 'cfr solve' and 'cfr eval'. Of a copy, keep
    the files that you change; the others may stay or go.

    \b
    cfr prompts                     what each is for, and which methods ask with it
    cfr prompts direct              the text of one
    cfr prompts --copy mine         all of them, as files in the folder mine
    cfr eval --prompts mine         run methods with them
    """
    from constraint_first.method.name import suggest
    from constraint_first.method.rewording import original_prompts, prompt_users

    known = original_prompts()
    if name is not None:
        if name not in known:
            hint = suggest(name, list(known))
            raise InputError(f"prompt {name!r}: not known; {hint} ('cfr prompts' lists them all)")
        known = {name: known[name]}
    if folder is not None:
        _copy(known, Path(folder))
    elif as_json:
        users = prompt_users()
        print_json([_describe(prompt, users[prompt.name]) for prompt in known.values()])
    elif name is not None:
        print_text(known[name].text)
        places = _places(known[name]) or "none"
        print_note(f"{_PURPOSES[name]} ({', '.join(prompt_users()[name])}); places: {places}")
    else:
        _print_table(known, prompt_users())


def _describe(prompt: Prompt, users: list[str]) -> dict[str, str | list[str]]:
    return {
        "name": prompt.name,
        "purpose": _PURPOSES[prompt.name],
        "methods": users,
        "places": sorted(prompt.places),
        "text": prompt.text,
    }


def _places(prompt: Prompt) -> str:
    return ", ".join(f"[[{place}]]" for place in sorted(prompt.places))


def _print_table(known: dict[str, Prompt], users: dict[str, list[str]]) -> None:
    from constraint_first.cli.console import SafeConsole
    from constraint_first.cli.table import Column, Table

    table = Table("prompt", Column("what it asks for", "prose"), Column("methods", "prose"))
    for name in known:
        table.add_row(name, _PURPOSES[name], _named(users[name]))
    console = SafeConsole()
    console.print(table)
    console.print("\n'cfr prompts NAME' shows one; 'cfr prompts --copy DIR' starts your own")


def _named(methods: list[str]) -> str:
    more = len(methods) - _MOST_NAMED
    return ", ".join(methods[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _copy(prompts: dict[str, Prompt], folder: Path) -> None:
    """Write prompts to a folder; what a person has changed there is never written over."""
    from constraint_first.file.path import expand_user

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
    "question": "offer to ask back before solving (question=N)",
    "reminder": "solve, with a reminder of what the answer must be",
    "reply": "the request as it stands",
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
"""What each prompt is for; a test holds it to the prompts that there are."""
