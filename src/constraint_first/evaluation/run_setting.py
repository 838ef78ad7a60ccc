"""How a series is run, kept in a shared store, so that a worker elsewhere can run it too.

The store has the method's name, own prompts, problems, decoding and system prompt already. Beside
them it keeps how the models are named and where they are served. Keys it never has: they come from
the environment and the presets of each machine, and so do prices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from constraint_first.engine.address import without_secrets
from constraint_first.engine.engine import Decoding
from constraint_first.engine.resolve import ModelRef, endpoint_addresses
from constraint_first.error import CfrError, InputError
from constraint_first.evaluation.series import Series, fingerprint
from constraint_first.evaluation.series_name import read_row
from constraint_first.evaluation.served_model import ServedModel
from constraint_first.evaluation.store import Store
from constraint_first.evaluation.stored_prompt import read_prompts
from constraint_first.file.path import expand_user
from constraint_first.file.storable import storable_json
from constraint_first.method import make
from constraint_first.method.rewording import Wording, plain_name, reword
from constraint_first.problem import Json
from constraint_first.prompt import Prompt

__all__ = ["PendingSeries", "SeriesModels", "Unrunnable", "pending_series", "write_settings"]


class Unrunnable(InputError):
    """A series that cannot be run on this machine; its words say what is missing."""


@dataclass(frozen=True, slots=True)
class SeriesModels:
    """The models of a series: its own, and those that its method names beside it."""

    main: ModelRef
    beside: tuple[tuple[str, ModelRef], ...] = ()


@dataclass(frozen=True, slots=True)
class PendingSeries:
    """A series of which attempts are to be made, as a store describes it."""

    number: int
    benchmark: str
    method: str
    model: str
    decoding: Mapping[str, Any]
    fingerprint: str
    prompts: Mapping[str, str]
    models: Mapping[str, Any] | None
    budget: str | None

    def __str__(self) -> str:
        return f"series {self.number} ({self.method} on {self.benchmark} with {self.model})"

    def build(self) -> Series:
        """Make the series as it was entered, or say why that cannot be done here."""
        try:
            method = make(plain_name(self.method))
        except CfrError as error:
            raise Unrunnable(
                f"{error}; a method or policy of one's own must be on this machine too, and one "
                "that was given as an object runs only where it was made"
            ) from None
        own = tuple(Prompt(name, text, replaced=True) for name, text in self.prompts.items())
        method = reword(method, Wording("", own)) if own else method
        if fingerprint(method) != self.fingerprint:
            raise Unrunnable(
                "its method asks otherwise here than where it was entered; install the same "
                "version of cfr and of what it uses"
            )
        settings = dict(self.decoding)
        system = settings.pop("system", "")
        return Series(self.benchmark, self.method, self.model, Decoding(**settings), system, method)

    def find_models(self, instead: ModelRef) -> SeriesModels:
        """Say how its models are to be named here; an address that is given stands instead."""
        if self.models is None:
            raise Unrunnable("its engine was given as an object; it runs only where it was made")
        main = _read_ref(self.models["main"], instead)
        beside = {name: _read_ref(one, instead) for name, one in self.models["beside"].items()}
        return SeriesModels(main, tuple(beside.items()))


def write_settings(
    store: Store, series: Sequence[int], model: ServedModel, budget: str | None
) -> None:
    """Keep how some series are run, as the last command said it; a file has no need for it."""
    if not store.is_shared or not series:
        return
    described = None if model.ref is None else storable_json(_describe(model))
    rows = [{"series": number, "models": described, "budget": budget} for number in series]
    store.change(lambda connection: connection.execute(_PUT, rows))


def pending_series(store: Store) -> list[PendingSeries]:
    """List the series of which attempts are to be made."""

    def read(connection: sa.Connection) -> Iterator[PendingSeries]:
        for row in connection.execute(_PENDING).mappings():
            series = read_row(row)
            yield PendingSeries(
                series.id,
                series.benchmark,
                series.method,
                series.model,
                orjson.loads(series.decoding),
                series.fingerprint,
                read_prompts(connection, series.id),
                None if row["models"] is None else orjson.loads(row["models"]),
                row["budget"],
            )

    with store.reading():
        return store.change(lambda connection: list(read(connection)), "read")


def _describe(model: ServedModel) -> dict[str, Json]:
    beside: dict[str, Json] = {n: _describe_ref(one) for n, one in model.others.items()}
    return {"main": _describe_ref(model), "beside": beside}


def _describe_ref(model: ServedModel) -> dict[str, Json]:
    """Describe how a model is named, without any secret."""
    ref = model.ref or ModelRef(model.served.model)
    name, addresses = ref.model or model.served.model, endpoint_addresses(ref)
    if not addresses and name.lower().endswith(".gguf"):
        name = str(expand_user(name).absolute())
    shown = tuple(map(without_secrets, addresses))
    return {
        "model": name,
        "base_url": list(shown),
        "withheld": shown != addresses,
        "key_name": ref.key_name,
        "context": ref.context,
    }


def _read_ref(described: Mapping[str, Any], instead: ModelRef) -> ModelRef:
    given = dict(described)
    withheld = given.pop("withheld", False)
    if given["base_url"] and instead.base_url:
        given["base_url"] = instead.base_url
    elif withheld:
        raise Unrunnable(
            f"the address of its endpoint ({', '.join(given['base_url'])}) carries a secret, "
            "which is not stored; give the address with --base-url"
        )
    given["key_name"] = instead.key_name or given["key_name"]
    return ModelRef(**given)


_PENDING = sa.text(
    "SELECT series.*, models, budget FROM series LEFT JOIN run_settings"
    " ON run_settings.series = series.id"
    " WHERE EXISTS (SELECT FROM leases WHERE leases.series = series.id) ORDER BY id"
)
_PUT = sa.text(
    "INSERT INTO run_settings (series, models, budget) VALUES (:series, :models, :budget)"
    " ON CONFLICT (series) DO UPDATE SET budget = excluded.budget,"
    " models = coalesce(excluded.models, run_settings.models)"
)
