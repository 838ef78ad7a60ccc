"""A worker on a node of a Ray cluster: ``cfr work`` as an actor, which reports how it ended.

Everything that it says is plain data without a secret: Ray shows errors of actors to everybody.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Coroutine
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from constraint_first.engine.refusal import DecodingRefused
from constraint_first.engine.resolve import ModelRef
from constraint_first.evaluation.cluster.message import Refusal, WorkerReport, WorkerSettings
from constraint_first.evaluation.run_options import RunOptions
from constraint_first.evaluation.watcher import EvaluationWatcher
from constraint_first.evaluation.worker import NothingRunnable, awork
from constraint_first.file.printable import one_line

__all__ = ["RayWorker"]


class RayWorker:
    """A worker in a process of its own, with a thread to work and one to be told to stop.

    No method of it is a coroutine: Ray would run all of them in a loop of its own.
    """

    def __init__(self) -> None:
        self._stoppable = _Stoppable()

    def locate(self) -> str:
        """Say on which machine it is, once it is anywhere."""
        return socket.gethostname()

    def work(self, settings: WorkerSettings) -> WorkerReport:
        """Make what is missing of some series, until nothing is that can be made here."""
        heard, error = _Hearing(), ""
        work = awork(
            RunOptions(store=settings["store"], **settings["limits"]),
            instead=ModelRef(base_url=settings["base_url"] or None),
            series=settings["series"],
            crew=settings.get("crew", ""),
            watcher=heard,
        )
        try:
            asyncio.run(self._stoppable.run(work))
        except (NothingRunnable, asyncio.CancelledError):
            pass  # why it cannot run has been heard
        except Exception as raised:  # what goes out must be clean, whatever it is
            error = _without_password(str(raised) or type(raised).__name__, settings["store"])
        return {"skipped": heard.skips, "refused": heard.refusal, "error": error}

    def stop(self) -> None:
        """End in good order: what was claimed is left to others at once."""
        self._stoppable.stop()


class _Stoppable:
    """Work that another thread may stop, also before it begins."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._stopped = False
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None

    async def run(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.ensure_future(work)
        with self._guard:
            self._running = asyncio.get_running_loop(), task
            if self._stopped:
                task.cancel()
        try:
            await task
        finally:
            with self._guard:
                self._running = None

    def stop(self) -> None:
        with self._guard:
            self._stopped = True
            if self._running:
                loop, task = self._running
                loop.call_soon_threadsafe(task.cancel)


class _Hearing(EvaluationWatcher):
    """Keeps what a worker leaves alone, and why."""

    def __init__(self) -> None:
        self.skips: list[str] = []
        self.refusal: Refusal | None = None

    def skipped(self, what: str, why: str) -> None:  # noqa: ARG002
        if why not in self.skips:
            self.skips.append(why)

    def refused(self, error: DecodingRefused) -> None:
        self.refusal = {
            "message": str(error),
            "model": error.model,
            "setting": error.setting,
            "most": error.most,
        }


def _without_password(text: str, store: str) -> str:
    password = str(sa.make_url(store).password or "")
    for written in filter(None, (password, quote(password))):
        text = text.replace(written, "***")
    return one_line(text)
