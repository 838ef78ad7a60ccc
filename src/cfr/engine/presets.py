"""Presets of models: where each is served, which key it takes, what it costs.

The presets of the package are in ``models.toml`` beside this file, which explains the keys. A
user's own ``models.toml`` adds to them and overrides them key by key.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, cast

import platformdirs

from cfr.engine.address import without_secrets
from cfr.engine.error import EngineError
from cfr.protocol import Usage

__all__ = ["Preset", "PresetError", "Price", "find_preset", "presets", "user_file"]


class PresetError(EngineError):
    """A ``models.toml`` that cannot be read or says something impossible."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Price:
    """A price in US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For input from the endpoint's prompt cache; the full price where none is given."""

    def cost(self, usage: Usage) -> float:
        """Price what was used, in dollars."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input - usage.cached
        spent = fresh * self.input + usage.cached * cached + usage.output * self.output
        return spent / 1_000_000


@dataclass(frozen=True, slots=True)
class Preset:
    """A model that can be named, and what is known about it."""

    name: str
    label: str = ""
    """As the paper prints it."""
    base_url: str = ""
    """Empty for a model that runs on this machine."""
    model: str = ""
    """Its name at the endpoint, where that is another."""
    key_env: str = ""
    """The environment variable with the key; empty where the endpoint takes none."""
    context: int | None = None
    reasons: bool = False
    price: Price | None = None

    @property
    def shown(self) -> str:
        """Its address without anything that could be a secret."""
        return without_secrets(self.base_url)

    @property
    def served_as(self) -> str:
        """The name that the endpoint knows it by."""
        return self.model or self.name

    @property
    def has_key(self) -> bool | None:
        """Whether the key is set; None where none is needed."""
        return bool(os.environ.get(self.key_env)) if self.key_env else None


def presets() -> dict[str, Preset]:
    """Read all presets, by name: those of the package, then the user's."""
    text = files("cfr.engine").joinpath("models.toml").read_text(encoding="utf-8")
    tables = _tables("the package's models.toml", text)
    if path := user_file():
        for name, table in _tables(str(path), _read(path)).items():
            tables[name] = tables.get(name, {}) | table
    return {name: Preset(name, **_typed(table)) for name, table in tables.items()}


def find_preset(name: str | None) -> Preset | None:
    """Look a preset up; None where there is none of that name."""
    return presets().get(name) if name else None


def user_file() -> Path | None:
    """Return the user's ``models.toml``: the one CFR_MODELS names, else that of the user's folder.

    One that CFR_MODELS names must be there; the other need not.
    """
    if chosen := os.environ.get("CFR_MODELS"):
        return Path(chosen).expanduser()
    path = platformdirs.user_config_path("constraint-first") / "models.toml"
    return path if path.is_file() else None


_Table = dict[str, Any]
_KEYS: Final = tuple(field.name for field in fields(Preset) if field.name != "name")
_PRICE_KEYS: Final = tuple(field.name for field in fields(Price))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise PresetError(f"{path}: cannot be read ({reason}); check CFR_MODELS") from None


def _tables(where: str, text: str) -> dict[str, _Table]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PresetError(f"{where}: not TOML ({error})") from None
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise PresetError(f'{where}, {name}: must be a table: ["{name}"]')
        _check(f'{where}, ["{name}"]', cast("_Table", table), _KEYS)
    return tables


def _check(where: str, table: Mapping[str, object], keys: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key not in keys:
            close = difflib.get_close_matches(key, keys, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(keys)}"
            raise PresetError(f"{where} {key}: no such key; {hint}")
        if wrong := _fault(key, value):
            raise PresetError(f"{where} {key}: {wrong}")
        if key == "price":
            _check_price(f"{where} price", cast("_Table", value))


def _check_price(where: str, price: _Table) -> None:
    _check(where, price, _PRICE_KEYS)
    if missing := {"input", "output"} - price.keys():
        raise PresetError(f"{where}: lacks {' and '.join(sorted(missing))}")


def _fault(key: str, value: object) -> str:
    """Say what is wrong with a value; nothing where it is right."""
    if key == "price":
        return "" if isinstance(value, dict) else "must be { input = …, cached = …, output = … }"
    if key in _PRICE_KEYS:
        priced = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        return "" if priced else "must be dollars for a million tokens, zero or more"
    if key == "reasons":
        return "" if isinstance(value, bool) else "must be true or false"
    if key == "context":
        whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
        return "" if whole else "must be a whole number of tokens"
    if key == "base_url":
        address = isinstance(value, str) and (
            not value or value.startswith(("http://", "https://"))
        )
        return "" if address else "must be an address that begins with http:// or https://"
    return "" if isinstance(value, str) else "must be a text"


def _typed(table: _Table) -> _Table:
    return table | {"price": Price(**table["price"])} if "price" in table else table
