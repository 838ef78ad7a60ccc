"""The options of ``cfr eval`` for a Ray cluster, which reach it as one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import click

from constraint_first.cli.option import grouped

__all__ = ["ray_options"]


def _ray_options() -> Callable[..., object]:
    from constraint_first.evaluation.cluster.option import RayOptions

    def make(
        address: str | None, workers: int | None, resources: dict[str, float] | None
    ) -> RayOptions:
        if address is None and (workers is not None or resources is not None):
            name = "--ray-workers" if workers is not None else "--ray-resources"
            raise click.UsageError(f"{name} goes with --ray: name the cluster, or auto.")
        if resources is None:
            return RayOptions(address, workers)
        return RayOptions(address, workers, resources)

    return make


def _read_resources(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> dict[str, float] | None:
    if text is None:
        return None
    read: dict[str, float] = {}
    for part in text.split(","):
        name, equals, amount = (piece.strip() for piece in part.partition("="))
        try:
            if not name or not equals or name in read:
                raise ValueError(part)
            read[name] = float(amount)
        except ValueError:
            said = f"{text!r} is not a list of resources such as cpus=4,gpus=1."
            raise click.BadParameter(said) from None
    return read


ray_options: Final = grouped(
    "ray",
    _ray_options,
    click.option(
        "--ray",
        "address",
        metavar="auto|HOST:PORT",
        help="Have workers on a Ray cluster make the attempts; the store must be PostgreSQL.",
    ),
    click.option(
        "--ray-workers",
        "workers",
        type=click.IntRange(min=1),
        help="How many workers.  [one for each node]",
    ),
    click.option(
        "--ray-resources",
        "resources",
        callback=_read_resources,
        metavar="cpus=N,gpus=N",
        help="What each worker takes of its node.  [cpus=1]",
    ),
)
