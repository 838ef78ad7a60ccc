"""What endpoints list of their models, held against each other: several must serve the same one.

A list may be missing, and a model may be served that is on none: servers of llama.cpp list the path
of a file and take any name. Only what differs between two endpoints tells that they do not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.engine.endpoint import Endpoint
from constraint_first.engine.error import ModelNotFound
from constraint_first.file.storable import storable_text
from constraint_first.problem import Json

__all__ = ["Listing", "common_name", "differences", "misfit", "other_names"]

_MOST_NAMED: Final = 8
_Entry = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Listing:
    """The models that an endpoint lists, as it describes them."""

    endpoint: Endpoint
    entries: Sequence[_Entry]

    @property
    def names(self) -> list[str]:
        """The names of its models."""
        found = (entry.get("id") for entry in self.entries)
        return [name for name in found if isinstance(name, str) and name == storable_text(name)]

    @property
    def shown_names(self) -> str:
        """The first of the names, for a person."""
        return self.endpoint.redaction.quote(", ".join(self.names[:_MOST_NAMED])) or "nothing"

    def entry(self, model: str) -> _Entry:
        """Find what it says of a model; of its only one where that goes by another name."""
        named = [one for one in self.entries if one.get("id") == model]
        found = named or (self.entries if len(self.entries) == 1 else [])
        return found[0] if found else {}


def common_name(listings: Sequence[Listing]) -> str:
    """Find the model's name, which need not be given where each endpoint serves just one."""
    for one in listings:
        if len(one.names) != 1:
            choice = f"it serves {one.shown_names}" if one.names else "it lists none"
            raise ModelNotFound(f"{one.endpoint.shown}: name a model with --model; {choice}")
    first = listings[0]
    if fault := misfit(listings, first.names[0]):
        raise fault
    return first.names[0]


def misfit(listings: Sequence[Listing], model: str) -> ModelNotFound | None:
    """Find an endpoint that does not list a model, while another one does."""
    has = next((one for one in listings if model in one.names), None)
    lacks = next((one for one in listings if one.names and model not in one.names), None)
    if has is None or lacks is None:
        return None
    return ModelNotFound(
        f"{lacks.endpoint.shown}: serves {lacks.shown_names}, and {has.endpoint.shown} "
        f"{has.endpoint.redaction.quote(model)}; endpoints that are given together must serve the "
        "same model: leave one out, or start it with the other's model"
    )


def other_names(listings: Sequence[Listing]) -> Iterator[str]:
    """Say which endpoints list other models than the first, where none of them was chosen."""
    for one in listings[1:]:
        if set(one.names) != set(listings[0].names):
            yield (
                f"{one.endpoint.shown}: serves {one.shown_names}, and {listings[0].endpoint.shown} "
                f"{listings[0].shown_names}; a request may come to either: name one with --model"
            )


def differences(
    listings: Sequence[Listing], model: str, *, with_context: bool = True
) -> Iterator[str]:
    """Say where endpoints describe a model otherwise than the first that describes it."""
    for read, words in _COMPARED if with_context else _COMPARED[1:]:
        told = [(one, value) for one in listings if (value := read(one.entry(model)))]
        for one, value in told[1:]:
            first, usual = told[0]
            if value != usual:
                own = one.endpoint.redaction.quote(str(value))
                other = first.endpoint.redaction.quote(str(usual))
                yield f"{one.endpoint.shown}: {words(own, other, first.endpoint.shown)}"


def _meta(entry: _Entry, name: str) -> Json:
    meta = entry.get("meta")
    return meta.get(name) if isinstance(meta, dict) else None


def _context(entry: _Entry) -> Json:
    """Read the tokens of context, as vLLM, llama.cpp, or gateways give them."""
    named = (entry.get(name) for name in ("max_model_len", "context_length", "context_window"))
    return next(filter(None, (*named, _meta(entry, "n_ctx"))), None)


_COMPARED: Final[tuple[tuple[Callable[[_Entry], Json], Callable[[str, str, str], str]], ...]] = (
    (
        _context,
        lambda own, other, first: (
            f"{own} tokens of context, and {first} has {other}; replies may be cut at one and not "
            "at the other: --context gives both the same"
        ),
    ),
    (
        lambda entry: entry.get("root"),
        lambda own, other, first: f"the model is {own} there, and {other} at {first}",
    ),
    (
        lambda entry: _meta(entry, "n_params"),
        lambda own, other, first: f"its model has {own} parameters, and that of {first} {other}",
    ),
    (
        lambda entry: _meta(entry, "size"),
        lambda own, other, first: (
            f"its model has {own} bytes, and that of {first} {other}: another quantization?"
        ),
    ),
)
