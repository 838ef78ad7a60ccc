"""How an evaluation is asked in batches."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from constraint_first.engine.batch.request_file import MOST_BYTES, MOST_REQUESTS, FileLimits
from constraint_first.file.path import expand_user

__all__ = ["BatchOptions"]

_HALF: Final = 0.5
"""What providers take for a batch: half of the price."""


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How an evaluation is asked in batches, if it is."""

    batch: bool = False
    """Through the batch API of the endpoint."""
    batch_dir: str | None = None
    """Through files in a folder, for vLLM's ``run_batch``."""
    batch_poll: float | None = None
    """Seconds between two looks at a batch; without it five, growing to sixty."""
    batch_file_requests: int = MOST_REQUESTS
    batch_file_bytes: int = MOST_BYTES
    batch_price_factor: float | None = None
    """What a call in a batch costs, as a part of the model's price: half of it at a provider, all
    of it through a folder, unless told otherwise."""
    forget_batches: bool = False
    """Give up batches of earlier runs that have not been collected."""

    @property
    def wanted(self) -> bool:
        """Whether calls go into batches at all."""
        return self.batch or self.batch_dir is not None

    @property
    def folder(self) -> Path | None:
        """The folder of the files, where there is one."""
        return expand_user(self.batch_dir).absolute() if self.batch_dir is not None else None

    @property
    def price_factor(self) -> float:
        """What a call costs, as a part of the model's price."""
        if self.batch_price_factor is not None:
            return self.batch_price_factor
        return _HALF if self.batch else 1.0

    @property
    def limits(self) -> FileLimits:
        """How large one input file may be."""
        return FileLimits(self.batch_file_requests, self.batch_file_bytes)
