"""Methods by the names that clients give them, within what the server allows."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from constraint_first.engine.automatic import AUTO, choose_method
from constraint_first.evaluation.call_bound import needs_more_calls
from constraint_first.method import Method, make
from constraint_first.method.calibrated import Calibrated, in_conversation
from constraint_first.method.method import models_of
from constraint_first.method.name import split_name
from constraint_first.protocol import Message
from constraint_first.serve.error_reply import RequestError

__all__ = ["ChosenMethod", "MethodChoice"]

K = TypeVar("K")
T = TypeVar("T")

_KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class ChosenMethod:
    """A method that was made, and what it is called."""

    name: str
    """As on the command line; what ``auto`` stands for under its own name."""
    method: Method
    family: str
    """Its name without options: one of a few, so that it can label a count."""
    others: tuple[str, ...]
    """Other models that it asks."""

    def after(self, ahead: Sequence[Message]) -> ChosenMethod:
        """Choose for a text that other messages come ahead of."""
        return replace(self, method=in_conversation(self.method, ahead))

    @property
    def alone(self) -> bool:
        """Whether the text is all that the model is told."""
        return not isinstance(self.method, Calibrated) or self.method.alone


class MethodChoice:
    """Makes methods, and keeps those that were made last."""

    def __init__(self, own: Sequence[str], most_calls: int) -> None:
        self.own = tuple(own)
        """Those of the person who started the server, who may do anything."""
        self._most_calls = most_calls
        self._made: OrderedDict[str, ChosenMethod] = OrderedDict()
        self._too_costly: OrderedDict[str, bool] = OrderedDict()
        self._automatic: OrderedDict[str, str] = OrderedDict()

    def check(self) -> None:
        """Make the server's own methods once, so that a mistake shows before anybody asks."""
        for name in self.own:
            if name != AUTO:
                self.choose(name, "")

    @property
    def other_models(self) -> tuple[str, ...]:
        """The other models that the server's own methods ask."""
        made = [_made(name) for name in self.own if name != AUTO]
        return tuple(dict.fromkeys(name for one in made for name in one.others))

    def choose(self, name: str, upstream: str, attempts: int = 1) -> ChosenMethod:
        """Make a method, or find it; refuse one that reaches further than a client may."""
        is_own = name in self.own
        if name == AUTO:
            name = _remember(self._automatic, upstream, lambda: choose_method(upstream).method)
        if not is_own and ".toml" in name.lower():
            raise _refused("policy files are named by whoever starts the server, with --method")
        chosen = _remember(self._made, name, lambda: _made(name))
        most = self._most_calls
        if _remember(self._too_costly, name, lambda: needs_more_calls(chosen.method, most)):
            raise self._too_many(f"method {name!r}")
        if not is_own and chosen.others:
            raise _refused("other models are named by whoever starts the server, with --method")
        if attempts > most:
            raise self._too_many(f"n={attempts}")
        return chosen

    def _too_many(self, what: str) -> RequestError:
        return _refused(
            f"{what} needs more than the {self._most_calls:,} calls that one request may cost; "
            "--max-calls of the server allows more"
        )


def _made(name: str) -> ChosenMethod:
    method = make(name)
    family, _ = split_name(name)
    return ChosenMethod(name, method, family, models_of(method))


def _remember(kept: OrderedDict[K, T], key: K, find: Callable[[], T]) -> T:
    if key not in kept:
        kept[key] = find()
    kept.move_to_end(key)
    while len(kept) > _KEPT:
        kept.popitem(last=False)
    return kept[key]


def _refused(why: str) -> RequestError:
    return RequestError(f"model: {why}", param="model", code="method_not_allowed")
