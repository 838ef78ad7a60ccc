"""ConstraintBench problem by problem: what each demands, and what our own reader finds of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from aiohttp import web

from constraint_first.benchmark.constraintbench.families import FAMILIES
from constraint_first.benchmark.constraintbench.item import TIERS, Item
from constraint_first.benchmark.constraintbench.split import (
    SPLITS,
    Split,
    find_item,
    load,
    split_name,
)
from constraint_first.constraint.router import route
from constraint_first.constraint.spec import KINDS
from constraint_first.constraint.stated import Stated, check_stated, read_stated
from constraint_first.file.printable import printable_json
from constraint_first.serve.error_reply import RequestError
from constraint_first.serve.page.marked_text import TextMark, cue_marks, mark_text, quote_words
from constraint_first.serve.page.query import read_number, write_query
from constraint_first.serve.page.site import in_thread, render

__all__ = ["ROUTES"]

ROUTES: Final = web.RouteTableDef()
_MOST: Final = 20
"""Problems on one page."""
_LONGEST: Final = 200
"""Characters of the words that are looked for."""


@dataclass(frozen=True, slots=True)
class _Filter:
    """Which problems are shown; an empty field is no limit."""

    split: Split = "public"
    tier: str = ""
    family: str = ""
    level: str = ""
    kind: str = ""
    q: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> _Filter:
        """Read an address; a value that there is not in the set is no limit."""
        found: list[Split] = [one for one in SPLITS if one == query.get("split")]
        split = found[0] if found else "public"
        given = {
            name: query.get(name, "")
            for name, values in _choices(split).items()
            if query.get(name) in values
        }
        return cls(split, **given, q=query.get("q", "")[:_LONGEST])

    def items(self) -> list[Item]:
        """Find the problems."""
        words = self.q.casefold().split()
        return [item for item in load(self.split) if self._fits(item, words)]

    def _fits(self, item: Item, words: Sequence[str]) -> bool:
        told = f"{item.id} {item.text}".casefold()
        return (
            self.tier in ("", item.tier)
            and self.family in ("", item.family)
            and self.level in ("", str(item.level))
            and (not self.kind or self.kind in item.kinds)
            and all(word in told for word in words)
        )

    def to_query(self, **more: object) -> str:
        """Write it as the query of an address; the usual set is not named."""
        own = {name: getattr(self, name) for name in self.__slots__}
        own["split"] = "" if self.split == "public" else self.split
        return write_query(own | more)


@cache
def _choices(split: Split) -> dict[str, list[str]]:
    """List what the problems of a set can be told apart by."""
    items = load(split)
    tiers, kinds = {item.tier for item in items}, {kind for item in items for kind in item.kinds}
    return {
        "tier": [tier for tier in TIERS if tier in tiers],
        "family": sorted({item.family for item in items}),
        "level": sorted({str(item.level) for item in items}),
        "kind": [kind for kind in KINDS if kind in kinds],
    }


def _families(items: Sequence[Item]) -> dict[str, list[str]]:
    """Put families under their tiers."""
    return {
        tier: sorted({item.family for item in items if item.tier == tier})
        for tier in TIERS
        if any(item.tier == tier for item in items)
    }


@ROUTES.get("/benchmark")
async def list_items(request: web.Request) -> web.Response:
    """List problems, those that are asked for."""
    query = request.query
    wanted, at = _Filter.read(query), read_number(query, "at", 0, least=0)
    values = await in_thread(_listed, wanted, at)
    part = "HX-Request" in request.headers
    return render(request, "benchmark_part.html" if part else "benchmark.html", **values)


def _listed(wanted: _Filter, at: int) -> dict[str, Any]:
    found, every = wanted.items(), load(wanted.split)
    here = found[at : at + _MOST]
    return {
        "wanted": wanted,
        "choices": {
            name: [("", "all"), *zip(values, values, strict=True)]
            for name, values in _choices(wanted.split).items()
        },
        "families_of": _families(every),
        "splits": {split: split_name(split) for split in SPLITS},
        "every": every,
        "total": len(found),
        "at": at,
        "shown": [(item, mark_text(item.text, cue_marks(route(item.text)))) for item in here],
        "back": wanted.to_query(at=max(0, at - _MOST)) if at else None,
        "on": wanted.to_query(at=at + _MOST) if at + _MOST < len(found) else None,
    }


@ROUTES.get("/benchmark/{name}")
async def show_item(request: web.Request) -> web.Response:
    """Show one problem with its gold constraints."""
    name = request.match_info["name"]
    item = find_item(name)
    if item is None:
        raise RequestError(f"{name[:80]}: no problem of ConstraintBench is called so", 404)
    wanted = _Filter.read(request.query)
    return render(request, "benchmark_item.html", **await in_thread(_opened, item, wanted))


def _opened(item: Item, wanted: _Filter) -> dict[str, Any]:
    text, stated = item.text, read_stated(item.text)
    cues, family = route(text), FAMILIES.get(item.family)
    split = _split_of(item)
    wanted = wanted if item in load(wanted.split) else _Filter(split)
    before, after = _neighbours(item, wanted.items())
    return {
        "item": item,
        "wanted": wanted,
        "benchmark": split_name(split),
        "about": family.about if family and item.version == 2 else "",
        "marked": mark_text(text, (*cue_marks(cues), *_gold_marks(item))),
        "cues": [(cue, cue.phrases(text)) for cue in cues],
        "stated": [
            (one, quote_words(text, one.span))
            for one in {one.sentence: one for one in stated}.values()
        ],
        "lures": [(lure, _broken(stated, lure.answer)) for lure in item.tempting],
        "row": printable_json(item.to_json(), indent=2),
        "before": before,
        "after": after,
    }


def _split_of(item: Item) -> Split:
    """Find the set that a problem belongs to; a mini set comes after the one it is part of."""
    return next(split for split in SPLITS if item in load(split))


def _neighbours(item: Item, found: Sequence[Item]) -> tuple[Item | None, Item | None]:
    if item not in found:
        return None, None
    place = found.index(item)
    return found[place - 1] if place else None, next(iter(found[place + 1 : place + 2]), None)


def _gold_marks(item: Item) -> list[TextMark]:
    """Mark the words that state a gold constraint; one that contains the answer stays hidden."""
    return [
        TextMark(start, start + len(gold.span), "stated", f"gold: {gold.description}")
        for gold in item.constraints
        if gold.span and not gold.pins and (start := item.text.find(gold.span)) >= 0
    ]


def _broken(stated: Sequence[Stated], answer: str) -> str:
    """Say which constraint that we read in the text an answer breaks; nothing where none."""
    checked = check_stated(stated, answer)
    return next((one.sentence for one, truth in checked if truth == "violated"), "")
