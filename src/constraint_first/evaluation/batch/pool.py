"""The models of an evaluation in batches, and where the batches of each go."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from constraint_first.engine.balanced import Balanced
from constraint_first.engine.batch.client import BatchClient
from constraint_first.engine.batch.model import BatchModel
from constraint_first.engine.dispatch import Dispatch
from constraint_first.engine.engine import Served
from constraint_first.engine.limit import Limiter
from constraint_first.engine.openai import Endpoint, OpenAI
from constraint_first.engine.presets import find_preset, find_price
from constraint_first.engine.resolve import ModelRef, runs_here
from constraint_first.engine.retry import Retry
from constraint_first.error import InputError
from constraint_first.evaluation.batch.log import BatchLog
from constraint_first.evaluation.batch.option import BatchOptions
from constraint_first.evaluation.batch.service import BatchService, Folder, Provider
from constraint_first.evaluation.experiment import Experiment
from constraint_first.evaluation.model_pool import ModelPool
from constraint_first.evaluation.run_options import RunOptions
from constraint_first.evaluation.served_model import ServedModel

__all__ = ["BatchPool", "check_options", "name_in_folder", "open_models", "refuse_local"]

_NO_LIMIT: Final = 2**31
_LINE_ROOM: Final = 2**20
"""Bytes that a line of results may have beside its reply."""


@dataclass
class BatchPool:
    """The models that are asked in batches; those of a provider are closed by ``stack``."""

    options: RunOptions
    stack: AsyncExitStack
    models: list[BatchModel] = field(default_factory=list[BatchModel])
    _clients: dict[tuple[str, str], BatchClient] = field(
        default_factory=dict[tuple[str, str], BatchClient]
    )

    @property
    def longest(self) -> int:
        """The size of a line of results beyond which it is not looked at."""
        return self.options.max_reply_bytes + _LINE_ROOM

    @property
    def places(self) -> list[tuple[str, str]]:
        """Where batches of this run go, and of which model."""
        return [(model.where, model.model) for model in self.models]

    async def take(self, models: Iterable[ServedModel]) -> list[ServedModel]:
        """Have models of endpoints asked through their batch API."""
        made: dict[int, ServedModel] = {}

        async def convert(one: ServedModel) -> ServedModel:
            if id(one.served) not in made:
                made[id(one.served)] = await self._of_endpoint(one)
            return made[id(one.served)]

        return [
            replace(
                await convert(one),
                others={name: await convert(other) for name, other in one.others.items()},
            )
            for one in models
        ]

    async def _of_endpoint(self, model: ServedModel) -> ServedModel:
        if isinstance(model.served, Balanced):
            raise InputError(
                f"model {model.served.model}: --batch goes to one endpoint, and several are named; "
                "leave one --base-url"
            )
        if not isinstance(model.served, OpenAI):
            raise _not_an_endpoint(model.served.model)
        endpoint = model.served.endpoint
        client = BatchClient(endpoint, self.options.bounds, Retry())
        self._clients[endpoint.shown, endpoint.model] = client
        await self.stack.enter_async_context(client)
        served = self._model(endpoint, endpoint.shown, model)
        return ServedModel(served, Limiter(_NO_LIMIT), model.price, model.refused)

    def _model(self, endpoint: Endpoint, where: str, model: ServedModel | None) -> BatchModel:
        price = model.price if model else find_price(endpoint.model)
        factor = self.options.batch.price_factor
        made = BatchModel(endpoint, where, self.options.bounds, price and price.scaled(factor))
        self.models.append(made)
        return made

    def make_for_folder(
        self, experiment: Experiment, ref: ModelRef, folder: Path
    ) -> list[ServedModel]:
        """Make models that nobody serves yet: their requests are files in a folder."""
        names = [name or ref.model or "" for name in experiment.models]
        served = {
            name: self._of_folder(name, ref, folder)
            for name in dict.fromkeys((*names, *experiment.other_models()))
        }
        others = {name: served[name] for name in experiment.other_models()}
        return [replace(served[name], others=others) for name in names]

    def _of_folder(self, name: str, ref: ModelRef, folder: Path) -> ServedModel:
        preset, model = find_preset(name), name_in_folder(name)
        context = ref.context or (preset.context if preset else None)
        price = find_price(name)
        if price is None and self.options.max_cost is not None:
            raise InputError(
                f"model {name}: --max-cost needs its price; write it into a models.toml of your "
                "own and name that in CFR_MODELS"
            )
        endpoint = Endpoint(str(folder), model, context=context)
        made = self._model(endpoint, str(folder), None)
        return ServedModel(made, Limiter(_NO_LIMIT), price)

    def services(self, log: BatchLog) -> dict[tuple[str, str], BatchService]:
        """Say where the batches of each model go."""
        if folder := self.options.batch.folder:
            return {place: Folder(folder, log, self.longest) for place in self.places}
        return {place: Provider(client, log) for place, client in self._clients.items()}


async def open_models(
    experiment: Experiment,
    ref: ModelRef,
    pool: ModelPool,
    engine: Served | Dispatch[Served] | None,
    batches: BatchPool | None,
) -> list[ServedModel]:
    """Open the models of a grid, to be asked one call at a time or in batches."""
    if batches and (folder := batches.options.batch.folder):
        return batches.make_for_folder(experiment, ref, folder)
    if batches and engine is None:
        refuse_local(experiment, ref)
    if engine is None:
        models = await pool.open(experiment, ref)
    else:
        models = await pool.open_given(experiment, engine)
    return await batches.take(models) if batches else models


def name_in_folder(name: str | None) -> str:
    """Say what the model of files in a folder is called: as its preset says, or as it is named."""
    if not name:
        raise InputError(
            "--batch-dir: name the model that the files are for with --model, as vLLM knows it"
        )
    preset = find_preset(name)
    return preset.served_as if preset else name


def check_options(options: RunOptions) -> None:
    """Refuse options that do not go together, before anything is opened."""
    batch: BatchOptions = options.batch
    if not batch.wanted:
        return
    if batch.batch and batch.batch_dir is not None:
        raise InputError("--batch and --batch-dir: one or the other; leave one out")
    given = {
        "--concurrency": options.concurrency,
        "--requests-per-minute": options.requests_per_minute,
        "--tokens-per-minute": options.tokens_per_minute,
    }
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name}: goes with single calls; leave it out with a batch")
    if (folder := batch.folder) and folder.exists() and not folder.is_dir():
        raise InputError(f"--batch-dir: {folder} is not a folder; name another")


def refuse_local(experiment: Experiment, ref: ModelRef) -> None:
    """Refuse models that run on this machine, before one is fetched."""
    for name in experiment.models:
        if runs_here(replace(ref, model=name or ref.model)):
            raise _not_an_endpoint(name or ref.model or "the embedded one")


def _not_an_endpoint(name: str) -> InputError:
    return InputError(
        f"model {name}: --batch needs an endpoint with a batch API; name it with --base-url, or "
        "write files for vLLM with --batch-dir"
    )
