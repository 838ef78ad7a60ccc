"""The journal of batches in the store: what was sent where, before anything of it is paid for.

A batch goes through these states, each written before the step that follows it:

- collected: its requests are known; nothing was sent yet, or the upload's reply was not read
- uploaded: its input file is there; the batch may have been made, and its reply not been read
- created: it has an id, and is waited for
- ended: nothing more will come of it; its results are read, and their calls stored
- closed: all its results are in the store, or their requests were made again
- forgotten: somebody gave it up
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import uuid4

import sqlalchemy as sa

from constraint_first.engine.batch.line import Result
from constraint_first.engine.batch.place import Place, RequestId, parse_request_id
from constraint_first.engine.batch.result_file import FoundResult
from constraint_first.error import InputError
from constraint_first.evaluation.batch.schema import METADATA, batches, requests
from constraint_first.evaluation.store import Store
from constraint_first.file.storable import storable_text

__all__ = ["BatchLog", "StoredBatch", "new_batch", "refuse_in_flight"]

_OPEN: Final = ("collected", "uploaded", "created", "ended")
_LONGEST: Final = 2_000
"""Characters of a refusal that are kept: as many as are looked at."""


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """A batch as the store knows it."""

    tag: str
    endpoint: str
    model: str
    wave: int
    requests: int
    price_factor: float
    created_at: float
    state: str = "collected"
    input_file: str = ""
    batch: str = ""
    status: str = ""
    output_file: str = ""
    error_file: str = ""
    reason: str = ""

    @property
    def shown(self) -> str:
        """What a person calls it: the provider's name for it, or ours."""
        return self.batch or self.tag


class BatchLog:
    """The batches of one store, which must be held exclusively."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.change(METADATA.create_all)

    def open(self) -> list[StoredBatch]:
        """List the batches that were not collected to the end, the oldest first."""
        order = (batches.c.wave, batches.c.created_at, batches.c.tag)
        query = sa.select(batches).where(batches.c.state.in_(_OPEN)).order_by(*order)
        return [StoredBatch(**row._mapping) for row in self._store.read(query)]

    def next_wave(self) -> int:
        """Number the next wave of the store."""
        ((last,),) = self._store.read(sa.select(sa.func.max(batches.c.wave)))
        return (last or 0) + 1

    def collect(self, batch: StoredBatch, names: Sequence[RequestId]) -> None:
        """Enter a batch with all its requests, ahead of everything that is done with it."""
        rows = [
            _columns(name.place) | {"tag": batch.tag, "digests": name.digests} for name in names
        ]

        def work(connection: sa.Connection) -> None:
            fields = {name: getattr(batch, name) for name in StoredBatch.__slots__}
            connection.execute(batches.insert(), fields)
            connection.execute(requests.insert(), rows)

        self._store.change(work)

    def change(self, tag: str, **columns: Any) -> None:
        """Note what became of a batch."""
        statement = batches.update().where(batches.c.tag == tag).values(**columns)
        self._store.change(lambda connection: connection.execute(statement))

    def drop(self, tag: str) -> None:
        """Take a batch out again of which nothing was paid for."""

        def work(connection: sa.Connection) -> None:
            connection.execute(requests.delete().where(requests.c.tag == tag))
            connection.execute(batches.delete().where(batches.c.tag == tag))

        self._store.change(work)

    def wanted(self, tag: str) -> set[str]:
        """List the ``custom_id`` of every request of a batch."""
        return {str(_request(row)) for row in self._store.read(_of(tag))}

    def fail(self, tag: str, failed: Iterable[FoundResult]) -> None:
        """Note the requests that got something else than a reply."""
        rows = [
            {
                **{f"its_{name}": value for name, value in _columns(one.request.place).items()},
                "status": one.result.status,
                "said": storable_text(one.result.body[:_LONGEST].decode("utf-8", "replace")),
            }
            for one in failed
        ]
        if not rows:
            return
        where = [requests.c[name] == sa.bindparam(f"its_{name}") for name in _KEY]
        statement = requests.update().where(requests.c.tag == tag, *where)
        values = statement.values(status=sa.bindparam("status"), said=sa.bindparam("said"))
        self._store.change(lambda connection: connection.execute(values, rows))

    def close(self, tag: str) -> None:
        """Note that all that came of a batch is in its place."""
        unknown = (requests.c.tag == tag, requests.c.status.is_(None))

        def work(connection: sa.Connection) -> None:
            connection.execute(requests.update().where(*unknown).values(status=200))
            connection.execute(batches.update().where(batches.c.tag == tag).values(state="closed"))

        self._store.change(work)

    def refusals(self, series: int) -> dict[Place, FoundResult]:
        """Return what closed batches say that was refused as it was asked, by place.

        A call that goes on without what was refused need not be refused again after a restart.
        """
        query = (
            sa.select(requests)
            .join(batches)
            .where(
                requests.c.series == series,
                requests.c.status.between(400, 499),
                batches.c.state == "closed",
            )
            .order_by(batches.c.wave)
        )
        found: dict[Place, FoundResult] = {}
        for row in self._store.read(query):
            request = _request(row)
            result = Result(row.status, (row.said or "").encode())
            found[request.place] = FoundResult(request, result)
        return found

    def forget_refusals(self, place: Place) -> None:
        """Drop the refusals of an attempt that failed: whoever makes it again asks again."""
        named = [requests.c[name] == getattr(place, name) for name in _KEY if name != "ordinal"]
        statement = requests.delete().where(*named, requests.c.status.between(400, 499))
        self._store.change(lambda connection: connection.execute(statement))


def new_batch(endpoint: str, model: str, wave: int, count: int, factor: float) -> StoredBatch:
    """Describe a batch that nothing was done with yet, under a name that no other has."""
    return StoredBatch(uuid4().hex[:16], endpoint, model, wave, count, factor, time.time())


def refuse_in_flight(
    store: Store, series: Sequence[int], here: Sequence[tuple[str, str]] = (), *, forget: bool
) -> None:
    """Refuse to ask for what batches elsewhere are asking for; or forget these, if told to.

    ``here`` are the endpoints and models whose batches are collected by this run.
    """
    if not store.change(lambda one: sa.inspect(one).has_table(batches.name), "read"):
        return
    asked = sa.exists().where(requests.c.tag == batches.c.tag, requests.c.series.in_(series))
    query = sa.select(batches).where(batches.c.state.in_(_OPEN), asked)
    found = [StoredBatch(**row._mapping) for row in store.read(query)]
    others = [one for one in found if (one.endpoint, one.model) not in here]
    if forget:
        tags = [one.tag for one in found]
        given_up = batches.update().where(batches.c.tag.in_(tags)).values(state="forgotten")
        store.change(lambda connection: connection.execute(given_up))
    if forget or not others:
        return
    first, count = others[0], len(others)
    several = "1 batch has" if count == 1 else f"{count} batches have"
    raise InputError(
        f"{store.url}: {several} not been collected yet, of {first.model} at {first.endpoint}; "
        "run the command that made them, or pay again with --forget-batches"
    )


_KEY: Final = ("series", "problem", "run", "ordinal")


def _of(tag: str) -> sa.Select[Any]:
    return sa.select(requests).where(requests.c.tag == tag)


def _columns(place: Place) -> dict[str, int]:
    return {name: getattr(place, name) for name in _KEY}


def _request(row: sa.Row[Any]) -> RequestId:
    place = Place(row.series, row.problem, row.run, row.ordinal)
    return cast("RequestId", parse_request_id(f"{place}-{row.digests}"))
