"""How an evaluation is run on a Ray cluster."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from constraint_first.error import InputError

__all__ = ["RayOptions"]

_ADDRESS: Final = re.compile(r"auto|[^\s:/]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}")
_RAYS_OWN: Final = ("cpu", "gpu", "memory", "object_store_memory", "node")
_NAMES: Final = {"cpus": "CPU", "gpus": "GPU"}


@dataclass(frozen=True, slots=True)
class RayOptions:
    """How an evaluation is run on a Ray cluster, if it is."""

    address: str | None = None
    """HOST:PORT of the cluster's head, or auto for the cluster that this machine belongs to."""
    workers: int | None = None
    """How many workers; without it one for each node that has room for one."""
    resources: Mapping[str, float] = field(default_factory=lambda: {"cpus": 1.0})
    """What each worker asks of its node: cpus, gpus, and resources that the cluster names itself.
    An embedded model runs on as many threads as there are cpus."""
    patience: float = 600.0
    """Seconds to wait for a node that can take a worker at all; room on one is waited for."""

    @property
    def wanted(self) -> bool:
        """Whether workers run on a cluster at all."""
        return self.address is not None

    @property
    def requested(self) -> dict[str, float]:
        """What each worker asks for, by the names that Ray has for it."""
        return {_NAMES.get(name, name): amount for name, amount in self.resources.items()}

    def check(self) -> None:
        """Refuse values that Ray would refuse, or wait for without end."""
        if self.address is not None and not _ADDRESS.fullmatch(self.address):
            raise InputError(
                f"--ray {self.address}: not an address of a cluster; give HOST:PORT of its head, "
                "as 'ray start --head' says it, or auto"
            )
        if self.workers is not None and self.workers < 1:
            raise InputError(f"--ray-workers {self.workers}: at least one is needed")
        for name, amount in self.resources.items():
            _check_resource(name, amount)


def _check_resource(name: str, amount: float) -> None:
    shown = f"--ray-resources {name}={amount:g}"
    if not name or name.lower().partition(":")[0] in _RAYS_OWN:
        raise InputError(f"{shown}: name cpus, gpus, or a resource of the cluster's own")
    if not math.isfinite(amount) or amount < 0 or (amount > 1 and amount % 1):
        raise InputError(f"{shown}: give a whole number, or a part of one below 1")
