"""Presets of models: where each is served, which key it takes, what it costs.

The presets of the package are in ``models.toml`` beside this file, which explains the keys. A
user's own ``models.toml`` adds to them and overrides them key by key.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import platformdirs

from constraint_first.engine.address import without_secrets
from constraint_first.engine.price import Price, PriceList
from constraint_first.error import InputError
from constraint_first.file.field import (
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
from constraint_first.file.jsonl import read_text
from constraint_first.file.path import expand_user
from constraint_first.file.toml_file import parse_toml

__all__ = ["Preset", "find_preset", "find_price", "presets", "price_list", "user_file"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A model that can be named, and what is known about it."""

    name: str
    label: str = ""
    """As the paper prints it."""
    base_url: str | tuple[str, ...] = ""
    """Empty for a model that runs on this machine; several where several endpoints serve it."""
    model: str = ""
    """Its name at the endpoint, where that is another."""
    key_env: str | tuple[str, ...] = ""
    """The environment variable with the key; empty where the endpoint takes none; as many as
    addresses where each has a key of its own."""
    context: int | None = None
    reasons: bool = False
    price: Price | None = None

    @property
    def endpoints(self) -> list[tuple[str, str]]:
        """Its addresses, each with the variable that holds its key."""
        keys = (self.key_env,) if isinstance(self.key_env, str) else self.key_env
        addresses = _listed(self.base_url)
        return list(zip(addresses, keys * (len(addresses) if len(keys) == 1 else 1), strict=True))

    @property
    def key_names(self) -> list[str]:
        """The variables that hold its keys, each once."""
        return list(dict.fromkeys(name for name in _listed(self.key_env) if name))

    @property
    def shown(self) -> str:
        """Its addresses without anything that could be a secret."""
        return ", ".join(map(without_secrets, _listed(self.base_url)))

    @property
    def served_as(self) -> str:
        """The name that the endpoint knows it by."""
        return self.model or self.name

    @property
    def has_key(self) -> bool | None:
        """Whether all keys are set; None where none is needed."""
        names = self.key_names
        return all(map(os.environ.get, names)) if names else None


def presets() -> dict[str, Preset]:
    """Read all presets, by name: those of the package, then the user's."""
    text = files("constraint_first.engine").joinpath("models.toml").read_text(encoding="utf-8")
    tables = _tables("the package's models.toml", text)
    if path := user_file():
        for name, table in _tables(path, read_text(path)).items():
            tables[name] = tables.get(name, {}) | table
    return {name: _check_keys(Preset(name, **table)) for name, table in tables.items()}


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
_TEXTS: Final[FieldType[Any]] = FieldType(
    "a text or a list of texts",
    lambda value: TEXT.fits(value) or (type(value) is list and value != []),
)
_PRICES: Final = {"input": _DOLLARS, "output": _DOLLARS, "cached": _DOLLARS}
_SETTINGS: Final[dict[str, FieldType[Any]]] = {
    "label": TEXT,
    "base_url": _TEXTS,
    "model": TEXT,
    "key_env": _TEXTS,
    "context": FieldType("a whole number of tokens", lambda value: WHOLE.fits(value) and value > 0),
    "reasons": TRUTH,
    "price": FieldType("{ input = …, cached = …, output = … }", OBJECT.fits),
}
_LISTS: Final = ("base_url", "key_env")
_TABLE: Final[FieldType[_Table]] = FieldType('a table, headed ["NAME"]', OBJECT.fits)


def _tables(where: Path | str, text: str) -> dict[str, _Table]:
    tables = parse_toml(where, text)
    with within(where):
        return {name: _settings(name, read_field(tables, name, _TABLE)) for name in tables}


def _settings(name: str, table: _Table) -> _Table:
    with within(f'["{name}"]'):
        check_fields(table, _SETTINGS)
        lists: _Table = {n: tuple(table[n]) for n in _LISTS if type(table.get(n)) is list}
        # Without what stands there: it may carry a password.
        if odd := [name for name, value in lists.items() if not all(map(TEXT.fits, value))]:
            raise FieldError(f"'{odd[0]}' must be a text or a list of texts")
        if not all(one.startswith(_SCHEMES) for one in _listed(table.get("base_url", ""))):
            raise FieldError("'base_url' must be an address that begins with http:// or https://")
        price = {"price": _price(table["price"])} if "price" in table else {}
        return table | lists | price


def _check_keys(preset: Preset) -> Preset:
    """Refuse keys of which nobody could say where each belongs."""
    keys, addresses = preset.key_env, _listed(preset.base_url)
    if isinstance(keys, tuple) and len(keys) != len(addresses):
        with within(f'["{preset.name}"]'):
            raise FieldError(
                f"'key_env' lists {len(keys)}, and 'base_url' {len(addresses)}; name one variable "
                "for all addresses, or one for each"
            )
    return preset


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    """Take a text for a list of one, and an empty one for an empty list."""
    return (*((value,) if value else ()),) if isinstance(value, str) else tuple(value)


def _price(table: _Table) -> Price:
    with within("price"):
        check_fields(table, _PRICES)
        spent, made = (read_field(table, name, _DOLLARS) for name in ("input", "output"))
        return Price(spent, made, table.get("cached"))
