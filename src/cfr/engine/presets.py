"""Presets of models: where each is served, which key it takes, what it costs.

The presets of the package are in ``models.toml`` beside this file, which explains the keys. A
user's own ``models.toml`` adds to them and overrides them key by key.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import platformdirs

from cfr.engine.address import without_secrets
from cfr.engine.price import Price, PriceList
from cfr.error import InputError
from cfr.file.field import (
    NUMBER,
    OBJECT,
    TEXT,
    TRUTH,
    WHOLE,
    FieldError,
    FieldType,
    check_fields,
    read_field,
    within,
)
from cfr.file.jsonl import read_text
from cfr.file.path import expand_user
from cfr.file.toml_file import parse_toml

__all__ = ["Preset", "find_preset", "find_price", "presets", "price_list", "user_file"]


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
        for name, table in _tables(path, read_text(path)).items():
            tables[name] = tables.get(name, {}) | table
    return {name: Preset(name, **table) for name, table in tables.items()}


def find_preset(name: str | None) -> Preset | None:
    """Look a preset up; None where there is none of that name."""
    return presets().get(name) if name else None


def find_price(name: str | None) -> Price | None:
    """Look a model's price up, by the name of its preset or by the one that it is served under."""
    known = presets() if name else {}
    if name in known:
        return known[name].price
    served = (preset.price for preset in known.values() if preset.served_as == name)
    return next((price for price in served if price), None)


def price_list(model: str | None, others: Iterable[str] = ()) -> PriceList:
    """Look up the prices of a model and of those that a method names beside it."""
    return PriceList(find_price(model), {name: find_price(name) for name in others})


def user_file() -> Path | None:
    """Return the user's ``models.toml``: the one CFR_MODELS names, else that of the user's folder.

    One that CFR_MODELS names must be there; the other need not.
    """
    if chosen := os.environ.get("CFR_MODELS"):
        path = expand_user(chosen)
        if not path.is_file():
            raise InputError(f"CFR_MODELS: there is no file {path}; name another, or unset it")
        return path
    path = platformdirs.user_config_path("constraint-first") / "models.toml"
    return path if path.is_file() else None


_Table = dict[str, Any]
_SCHEMES: Final = ("http://", "https://")
_DOLLARS: Final[FieldType[float]] = FieldType(
    "dollars for a million tokens, zero or more", lambda value: NUMBER.fits(value) and value >= 0
)
_PRICES: Final = {"input": _DOLLARS, "output": _DOLLARS, "cached": _DOLLARS}
_SETTINGS: Final[dict[str, FieldType[Any]]] = {
    "label": TEXT,
    "base_url": TEXT,
    "model": TEXT,
    "key_env": TEXT,
    "context": FieldType("a whole number of tokens", lambda value: WHOLE.fits(value) and value > 0),
    "reasons": TRUTH,
    "price": FieldType("{ input = …, cached = …, output = … }", OBJECT.fits),
}
_TABLE: Final[FieldType[_Table]] = FieldType('a table, headed ["NAME"]', OBJECT.fits)


def _tables(where: Path | str, text: str) -> dict[str, _Table]:
    tables = parse_toml(where, text)
    with within(where):
        return {name: _settings(name, read_field(tables, name, _TABLE)) for name in tables}


def _settings(name: str, table: _Table) -> _Table:
    with within(f'["{name}"]'):
        check_fields(table, _SETTINGS)
        if (address := table.get("base_url")) and not address.startswith(_SCHEMES):
            # Without what stands there: it may carry a password.
            raise FieldError("'base_url' must be an address that begins with http:// or https://")
        return table | {"price": _price(table["price"])} if "price" in table else table


def _price(table: _Table) -> Price:
    with within("price"):
        check_fields(table, _PRICES)
        spent, made = (read_field(table, name, _DOLLARS) for name in ("input", "output"))
        return Price(spent, made, table.get("cached"))
