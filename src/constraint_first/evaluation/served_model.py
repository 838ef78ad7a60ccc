"""A model as an evaluation asks it: how fast, at which price, decoded as far as it lets itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from constraint_first.benchmark import Benchmark
from constraint_first.engine.dispatch import Dispatch
from constraint_first.engine.engine import Decoded, Decoding, Engine, Served
from constraint_first.engine.limit import Limited, Limiter
from constraint_first.engine.price import Price, PriceList
from constraint_first.engine.refusal import DecodingRefused, Setting
from constraint_first.engine.resolve import ModelRef
from constraint_first.engine.retry import Once, Retried, Retrying
from constraint_first.error import InputError
from constraint_first.evaluation.budget import Budget, Budgeted
from constraint_first.evaluation.experiment import Experiment
from constraint_first.evaluation.series import Series

__all__ = ["ServedModel", "no_price"]


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model that is being served, how fast it may be asked, and what it costs.

    A method may name others to be asked beside it, each of which has limits and a price of its own.
    """

    served: Served
    limiter: Limiter | None
    """None where it keeps to limits by itself, as several endpoints do."""
    price: Price | None
    refused: dict[Setting, DecodingRefused] = field(
        default_factory=dict["Setting", DecodingRefused]
    )
    """Settings that it will not be decoded with."""
    others: Mapping[str, ServedModel] = field(default_factory=dict[str, "ServedModel"])
    """Models that are asked beside it, by the names that methods have for them."""

    ref: ModelRef | None = None
    """How it was named; None for an engine that somebody made."""

    @property
    def prices(self) -> PriceList:
        """What it costs, and what those beside it do."""
        return PriceList(self.price, {name: one.price for name, one in self.others.items()})

    def adapt(self, refused: DecodingRefused) -> bool:
        """Do without a setting from now on; whether this is news and about a model of these."""
        for one in (self, *self.others.values()):
            if refused.model == one.served.model and refused.setting not in one.refused:
                one.refused[refused.setting] = refused
                return True
        return False

    def series(self, experiment: Experiment, benchmark: Benchmark) -> list[Series]:
        """List the series of a benchmark, all decoded alike and in a way that the model takes.

        A series is named after the decoding that it really has. Where a whole sweep comes down to
        the same one it is run once.
        """
        named = experiment.series(benchmark, self.served.model)
        return list(
            dict.fromkeys(replace(one, decoding=self._adapted(one.decoding)) for one in named)
        )

    def engine(self, decoding: Decoding, budget: Budget | None) -> Dispatch[Engine]:
        """Build the engine of one series, which pays out of a budget where there is one.

        Models beside this one are decoded as it is, as far as they let themselves.
        """
        others = {name: one._paying(decoding, budget) for name, one in self.others.items()}
        return Dispatch(self._paying(decoding, budget), others)

    def _paying(self, decoding: Decoding, budget: Budget | None) -> Engine:
        taken = self._adapted(decoding)
        engine = self._limited(taken)
        if budget is None:
            return engine
        known = (taken.max_tokens, getattr(self.served, "context", None))
        longest = min((limit for limit in known if limit), default=None)
        return Budgeted(engine, budget, self.price, longest)

    def _limited(self, decoding: Decoding) -> Engine:
        """Keep to the limits; a call that pauses before it is asked again lets others go first."""
        if not isinstance(self.served, Retried):
            return self._in_turn(Decoded(self.served, decoding))
        once = self._in_turn(Decoded(Once(self.served), decoding))
        return Retrying(once, self.served.retry)

    def _in_turn(self, engine: Engine) -> Engine:
        return Limited(engine, self.limiter) if self.limiter else engine

    def _adapted(self, decoding: Decoding) -> Decoding:
        for refused in self.refused.values():
            decoding = refused.adapt(decoding)
        return decoding


def no_price(model: str) -> InputError:
    """Say that money is limited and a model has no price."""
    return InputError(
        f"model {model or 'without a name'}: --max-cost needs its price; write it into a "
        "models.toml of your own and name that in CFR_MODELS"
    )
