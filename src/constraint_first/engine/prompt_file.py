"""Own prompts from a folder, and a system message from a file, as a person keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar

from constraint_first.error import InputError
from constraint_first.file.field import check_text, within
from constraint_first.file.jsonl import read_text
from constraint_first.file.path import expand_user
from constraint_first.method.name import suggest
from constraint_first.method.rewording import Wording, original_prompts, reword
from constraint_first.prompt import Prompt

__all__ = ["check_system", "read_system", "read_wording", "require_used", "with_wording"]

M = TypeVar("M")

_LONGEST: Final = 100_000
"""Characters of a prompt or a system message: more than anybody writes, less than a book."""
_LONGEST_NAME: Final = 60


def read_wording(folder: str | Path, more: Iterable[Prompt] = ()) -> Wording:
    """Read own prompts: each ``NAME.txt`` of a folder replaces the prompt of that name.

    ``more`` are prompts beside the built-in ones: those of methods from other packages. A file with
    the original's text replaces nothing.
    """
    path = expand_user(str(folder))
    known = {prompt.name: prompt for prompt in more} | original_prompts()
    files = list(_prompt_files(path, known))
    if not files:
        raise InputError(
            f"{path}: has no prompts; 'cfr prompts --copy {path}' writes the originals there"
        )
    read = (_read(file, _original(file, known)) for file in files)
    own = (prompt for prompt in read if prompt.text != known[prompt.name].text)
    return Wording(_name(path), tuple(own))


def _prompt_files(folder: Path, known: Mapping[str, Prompt]) -> Iterator[Path]:
    """List what is meant for a prompt: every text file, and any other that is named like one."""
    try:
        entries = sorted(folder.iterdir())
    except NotADirectoryError:
        raise InputError(f"{folder}: a file, not a folder; name the folder that it is in") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no folder has such a name"
        raise InputError(f"{folder}: cannot be read ({reason}); name a folder") from None
    for path in entries:
        if path.name.startswith(".") or path.name.endswith("~"):
            continue
        if path.suffix == ".txt":
            yield path
        elif path.name.partition(".")[0].lower() in known:
            stem = path.name.partition(".")[0].lower()
            raise InputError(f"{path}: not the name of a prompt; call the file {stem}.txt")


def _original(path: Path, known: Mapping[str, Prompt]) -> Prompt:
    if path.stem not in known:
        raise InputError(f"{path}: there is no prompt {path.stem!r}; {_hint(path.stem, known)}")
    return known[path.stem]


def _hint(name: str, known: Mapping[str, Prompt]) -> str:
    listed = ", ".join(known)
    close = suggest(name.lower(), list(known))
    return f"{close} They are {listed}" if close.startswith("did") else close


def _read(path: Path, original: Prompt) -> Prompt:
    text = _read_bounded(path).strip()
    if not text:
        raise InputError(f"{path}: is empty; write the prompt, or take the file out of the folder")
    own = Prompt(original.name, text, replaced=True)
    if missing := sorted(original.places - own.places):
        raise InputError(f"{path}: lacks {_written(missing)}, where something is filled in; add it")
    if strange := sorted(own.places - original.places):
        places = _written(sorted(original.places)) or "none"
        raise InputError(
            f"{path}: has {_written(strange)}, which nothing fills in; its places are: {places}"
        )
    return own


def _written(places: Iterable[str]) -> str:
    return ", ".join(f"[[{place}]]" for place in places)


def _read_bounded(path: Path) -> str:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0  # reading it says what is wrong
    if size > 4 * _LONGEST:
        raise InputError(f"{path}: {size:,} bytes are too long; {_LONGEST:,} characters are most")
    with within(path):
        return check_text(read_text(path), "the text", _LONGEST)


def _name(folder: Path) -> str:
    """Name a wording after its folder, in characters that can stand in a method's name."""
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-")
    return name[:_LONGEST_NAME] or "own"


def require_used(wording: Wording, methods: Iterable[object]) -> None:
    """Refuse own prompts of which no method asks with any: a person would wait for a change."""
    names = ", ".join(f"{prompt.name}.txt" for prompt in wording.prompts)
    if names and all(reword(method, wording) is method for method in methods):
        raise InputError(
            f"prompts of {wording.name}: no method that is to be run asks with {names}; "
            "'cfr prompts' says which methods do"
        )


def with_wording(method: M, wording: Wording | None) -> M:
    """Put own prompts into a method, where there are any; some of them must be for it."""
    if wording is None:
        return method
    require_used(wording, [method])
    return reword(method, wording)


def read_system(given: str) -> str:
    """Read a system message: its own text, or ``@FILE`` for that of a file."""
    if not given.startswith("@"):
        return check_system(given)
    if given == "@":
        raise InputError("system message '@': no file is named; write @FILE, or the message itself")
    path = expand_user(given[1:])
    if not (text := _read_bounded(path).strip()):
        raise InputError(f"{path}: is empty; write the system message, or leave out --system")
    return text


def check_system(text: str) -> str:
    """Return a system message that can be sent and stored; a blank one is none."""
    return check_text(text.strip(), "system", _LONGEST)
