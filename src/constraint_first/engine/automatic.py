"""The method ``auto``: a policy, for every model; what differs is where its evidence comes from.

The package has policies for models that were measured here. The paper's four models get Routed-CFR
on problems, by the paper's evidence, and any other model Direct CoT. What is no problem goes to the
model untouched with each of them.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final, NamedTuple

from constraint_first.method.calibrated import runs_programs
from constraint_first.method.policy_file import PAPER, UNMEASURED, plain_model, shipped_for
from constraint_first.method.registry import make

__all__ = ["AUTO", "AutoChoice", "choose_for", "choose_method"]

AUTO: Final = "auto"

# Names that the paper's four models are served under (its Table 1; see also models.toml).
_PAPER_MODELS: Final = frozenset(
    "deepseek-chat deepseek-v4-pro qwen3.5-9b qwen3.5-9b-instruct qwen3.5-35b-a3b "
    "qwen3.5-35b-a3b-instruct justrl-1.5b justrl-deepseek-1.5b".split()
)


class AutoChoice(NamedTuple):
    """What ``auto`` stands for with one model, and why."""

    method: str
    """Its name, as on the command line."""
    why: str

    def __str__(self) -> str:
        return f"{AUTO} is {self.method}: {self.why}"


def choose_for(engine: object) -> AutoChoice:
    """Choose the method for an engine that is open; one without a model's name has no policy."""
    return choose_method(str(getattr(engine, "model", "")))


def choose_method(model: str) -> AutoChoice:
    """Choose the method for a model, by the name that it is served under."""
    if name := shipped_for(model):
        chosen = f"calibrated(policy={name})"
        if not runs_programs(make(chosen)) or find_spec("pydantic_monty"):
            return AutoChoice(chosen, "the policy that comes with the package for this model")
        return _unmeasured(
            f"the policy for {name} runs programs, which need pydantic-monty: pip install "
            "'constraint-first[programs]'"
        )
    if plain_model(model) in _PAPER_MODELS:
        why = "Routed-CFR on problems, as the paper measured it with this model"
        return AutoChoice(f"calibrated(policy={PAPER})", why)
    return _unmeasured(
        f"no policy comes with the package for {model or 'this model'}, so problems go to Direct "
        "CoT; 'cfr calibrate' learns one from your runs"
    )


def _unmeasured(why: str) -> AutoChoice:
    return AutoChoice(f"calibrated(policy={UNMEASURED})", why)
