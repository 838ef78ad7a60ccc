"""A real HTTP server on loopback that plays a provider's batch API, faults included.

Batches live in a ``Provider``, which outlasts the server: one can be stopped and another started
between any two requests. A batch moves on by one status each time it is looked at.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import web
from loopback import InThread, LoopbackServer

Body: TypeAlias = dict[str, Any]
Respond: TypeAlias = Callable[[Body], tuple[int, Any]]
"""What stands behind the API: a request's body in, a status and a body out."""
Fate: TypeAlias = Callable[[str, int], str]
"""What happens to a request, by its custom_id and how often it was seen: performed, expired,
cut_out (no line at all), twice (two lines), garbage (a line that is not JSON)."""

STATES = ("validating", "in_progress", "finalizing", "completed")


@dataclass
class StoredFile:
    name: str
    purpose: str
    data: bytes


@dataclass
class Provider:
    """The files and batches of one account."""

    respond: Respond
    fate: Fate = lambda _id, _seen: "performed"
    states: Sequence[str] = STATES
    keeps_metadata: bool = True
    lists: bool = True
    performed: Counter[str] = field(default_factory=Counter[str])
    """How often each request was performed, and paid for, by custom_id."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """How often a request was expired or failed by the provider itself."""
    seen: Counter[str] = field(default_factory=Counter[str])
    files: dict[str, StoredFile] = field(default_factory=dict[str, StoredFile])
    batches: dict[str, dict[str, Any]] = field(default_factory=dict[str, "dict[str, Any]"])
    cancelled: list[str] = field(default_factory=list[str])

    def upload(self, name: str, purpose: str, data: bytes) -> dict[str, Any]:
        file = f"file-{len(self.files) + 1}"
        self.files[file] = StoredFile(name, purpose, data)
        return {"id": file, "object": "file", "bytes": len(data), "purpose": purpose}

    def create(self, body: Body) -> dict[str, Any]:
        assert body["endpoint"] == "/v1/chat/completions"
        assert body["completion_window"] == "24h"
        assert self.files[body["input_file_id"]].purpose == "batch"
        name = f"batch_{len(self.batches) + 1}"
        metadata = body.get("metadata") if self.keeps_metadata else None
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "completion_window": "24h",
            "status": self.states[0],
            "output_file_id": None,
            "error_file_id": None,
            "created_at": 2_000_000_000 + len(self.batches),
            "metadata": metadata,
            "errors": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
        }
        return self.batches[name]

    def look(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        place = self.states.index(batch["status"])
        if place + 1 < len(self.states):
            batch["status"] = self.states[place + 1]
            if place + 2 == len(self.states):
                self._end(batch)
        return batch

    def requests(self, batch: str) -> list[dict[str, Any]]:
        data = self.files[self.batches[batch]["input_file_id"]].data
        return [json.loads(line) for line in data.splitlines()]

    def listed(self) -> list[dict[str, Any]]:
        return list(reversed(self.batches.values()))

    def cancel(self, name: str) -> dict[str, Any]:
        self.cancelled.append(name)
        self.batches[name]["status"] = "cancelled"
        return self.batches[name]

    def _end(self, batch: dict[str, Any]) -> None:
        if batch["status"] == "failed":
            error = {"code": "token_limit_exceeded", "message": "too many tokens are enqueued"}
            batch["errors"] = {"object": "list", "data": [error]}
            self.lost.update(one["custom_id"] for one in self.requests(batch["id"]))
            return
        output: list[str] = []
        errors: list[str] = []
        for request in self.requests(batch["id"]):
            self._perform(request, output, errors)
        random.Random(7).shuffle(output)
        batch["request_counts"] = {
            "total": len(output) + len(errors),
            "completed": len(output),
            "failed": len(errors),
        }
        for key, lines in (("output_file_id", output), ("error_file_id", errors)):
            if lines:
                data = "".join(line + "\n" for line in lines).encode()
                batch[key] = self.upload(key, "batch_output", data)["id"]

    def _perform(self, request: dict[str, Any], output: list[str], errors: list[str]) -> None:
        name = request["custom_id"]
        fate = self.fate(name, self.seen[name])
        self.seen[name] += 1
        line: dict[str, Any] = {"id": f"batch_req_{name}", "custom_id": name, "error": None}
        if fate in ("expired", "cut_out", "garbage"):
            self.lost[name] += 1
        if fate == "expired":
            told = {"code": "batch_expired", "message": "it could not be executed in time"}
            errors.append(json.dumps(line | {"response": None, "error": told}))
        elif fate == "garbage":
            output.append('{"id": "batch_req_1", "custom_')
        elif fate != "cut_out":
            status, body = self.respond(request["body"])
            response = {"status_code": status, "request_id": "req_1", "body": body}
            if status == 200:
                self.performed[name] += 1
            else:
                self.lost[name] += 1
            written = json.dumps(line | {"response": response})
            (output if status == 200 else errors).extend([written] * (1 + (fate == "twice")))


Moment: TypeAlias = str
"""before: it was asked for and not done. after: it was done, and the reply is not sent."""


class BatchServer(InThread):
    """Serves a provider's API: ``with BatchServer(provider) as server``."""

    def __init__(self, provider: Provider, port: int = 0) -> None:
        super().__init__()
        self.provider = provider
        self.port = port
        self.asked: list[str] = []
        """Every request by its route, in order."""
        self.keys: set[str] = set()
        self.interrupt: Callable[[str, Moment], str | None] = lambda _route, _moment: None
        """What is done to a request at a moment: None, a status such as "500", or "cut"."""
        self._server: LoopbackServer | None = None

    async def start(self) -> None:
        app = web.Application(client_max_size=2**30)
        routes: list[tuple[str, str, str, Callable[..., Any]]] = [
            ("POST", "/v1/files", "upload", self._upload),
            ("GET", "/v1/files/{id}/content", "download", self._download),
            ("POST", "/v1/batches", "create", self._create),
            ("GET", "/v1/batches", "list", self._list),
            ("GET", "/v1/batches/{id}", "look", self._look),
            ("POST", "/v1/batches/{id}/cancel", "cancel", self._cancel),
        ]
        for verb, path, route, handler in routes:
            app.router.add_route(verb, path, self._wrapped(route, handler))
        self._server = await LoopbackServer.start(app, self.port)
        self.port = self._server.port

    async def stop(self) -> None:
        if self._server:
            await self._server.stop()

    def _wrapped(self, route: str, handler: Callable[..., Any]) -> Callable[..., Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.asked.append(route)
            self.keys.add(request.headers.get("Authorization", ""))
            if not self.provider.lists and route == "list":
                return web.json_response({"error": {"message": "no such route"}}, status=404)
            # The request is read first: a provider does nothing with half a body.
            ready: Any = None
            if route == "upload":
                form = await request.post()
                file = form["file"]
                assert isinstance(file, web.FileField)
                ready = file.filename, str(form["purpose"]), file.file.read()
            elif route == "create":
                ready = await request.json()
            if (fault := self.interrupt(route, "before")) is not None:
                return self._fault(request, fault)
            reply = handler(request, ready)
            if (fault := self.interrupt(route, "after")) is not None:
                return self._fault(request, fault)
            return reply

        return handle

    def _fault(self, request: web.Request, fault: str) -> web.Response:
        if fault == "cut" and request.transport is not None:
            request.transport.abort()
        status = 500 if fault == "cut" else int(fault)
        headers = {"Retry-After": "0"}
        return web.json_response({"error": {"message": "fault"}}, status=status, headers=headers)

    def _upload(self, _: web.Request, ready: Any) -> web.Response:
        return web.json_response(self.provider.upload(*ready))

    def _download(self, request: web.Request, _: Any) -> web.Response:
        return web.Response(body=self.provider.files[request.match_info["id"]].data)

    def _create(self, _: web.Request, ready: Any) -> web.Response:
        return web.json_response(self.provider.create(ready))

    def _list(self, request: web.Request, _: Any) -> web.Response:
        found, after = self.provider.listed(), request.query.get("after")
        names = [one["id"] for one in found]
        start = names.index(after) + 1 if after else 0
        page = found[start : start + 2]  # pages are turned in every test
        return web.json_response(
            {"object": "list", "data": page, "has_more": start + 2 < len(found)}
        )

    def _look(self, request: web.Request, _: Any) -> web.Response:
        if request.match_info["id"] not in self.provider.batches:
            return web.json_response({"error": {"message": "no such batch"}}, status=404)
        return web.json_response(self.provider.look(request.match_info["id"]))

    def _cancel(self, request: web.Request, _: Any) -> web.Response:
        return web.json_response(self.provider.cancel(request.match_info["id"]))
