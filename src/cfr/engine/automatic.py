"""The method ``auto``: the policy that comes with the package for a model.

For any other model it is Routed-CFR, and for a request for a text a reply that is sound, or plain.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final, NamedTuple

from cfr.constraint.feature import TextKind, find_features, kind_of
from cfr.method.method import Method, parts_of
from cfr.method.policy_file import shipped_for
from cfr.method.program import Programmed
from cfr.method.prove import Prove
from cfr.method.registry import make

__all__ = ["AUTO", "AutoChoice", "choose_for", "choose_method"]

AUTO: Final = "auto"
_OTHERWISE: Final[Mapping[TextKind, tuple[str, str]]] = {
    "problem": ("routed-cfr", ""),
    "demand": ("sound(then=off)", "; this request demands something of its reply"),
    "request": ("plain", "; this request demands nothing that could be checked"),
}
"""What ``auto`` is without a policy, and what is added to the reason."""


class AutoChoice(NamedTuple):
    """What ``auto`` stands for with one model, and why."""

    method: str
    """Its name, as on the command line."""
    why: str

    def __str__(self) -> str:
        return f"{AUTO} is {self.method}: {self.why}"


def choose_for(engine: object, text: str = "") -> AutoChoice:
    """Choose the method for an engine that is open; one without a model's name has no policy."""
    return choose_method(str(getattr(engine, "model", "")), kind_of(find_features(text)))


def choose_method(model: str, kind: TextKind = "problem") -> AutoChoice:
    """Choose the method for texts of a kind on a model, by the name that it is served under."""
    name = shipped_for(model)
    if not name:
        unknown = f"no policy comes with the package for {model or 'this model'}"
        return _otherwise(kind, f"{unknown}; 'cfr calibrate' learns one from your runs")
    chosen = f"calibrated(policy={name})"
    if _runs_programs(make(chosen)) and find_spec("pydantic_monty") is None:
        return _otherwise(
            kind,
            f"the policy for {name} runs programs, which need pydantic-monty: pip install "
            "'constraint-first[programs]'",
        )
    return AutoChoice(chosen, "the policy that comes with the package for this model")


def _otherwise(kind: TextKind, why: str) -> AutoChoice:
    method, more = _OTHERWISE[kind]
    return AutoChoice(method, why + more)


def _runs_programs(method: Method) -> bool:
    return any(isinstance(one, Programmed | Prove) for one in parts_of(method))
