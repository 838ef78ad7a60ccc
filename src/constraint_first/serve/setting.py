"""The settings of a server: where it listens, who may ask, and how much at a time."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import Final

from constraint_first.error import InputError

__all__ = ["ServeSettings", "is_loopback"]

_LOCALHOST: Final = "localhost"


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What the person who starts a server decides."""

    host: str = "127.0.0.1"
    port: int = 8080
    """0 for any that is free."""
    methods: tuple[str, ...] = ("auto",)
    """Methods that are listed; the first answers requests that name no model."""
    token: str = field(default="", repr=False)
    allowed_hosts: tuple[str, ...] = ()
    """Names by which clients may call the server, beside its address."""
    allowed_origins: tuple[str, ...] = ()
    """Web pages of other servers that may ask, such as ``http://localhost:3000``."""
    most_requests: int = 256
    """Requests at the same time; as many more wait for their turn, and any beyond get a 503."""
    most_waiting: int = 256
    most_connections: int = 2_048
    """Open connections, of one address half as many; idle ones are closed for new ones."""
    most_calls: int = 256
    """Calls to the model that one request may cost, all of its attempts together."""
    most_tokens: int = 4_000_000
    """Likewise in tokens, prompts and replies together."""
    body_bytes: int = 20_000_000
    request_seconds: float = 3_600.0
    grace: float = 30.0
    """Seconds that requests under way have when the server is stopped."""
    silence: float = 15.0
    """Seconds without a word after which a stream gets a comment, so that nobody hangs up."""

    def check(self) -> None:
        """Refuse a server that anybody could use."""
        if not is_loopback(self.host) and not self.token:
            raise InputError(
                f"--host {self.host}: others could use it; give it a token (--token or CFR_TOKEN), "
                "or leave --host out so that only this machine can"
            )
        if not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise InputError("--token: must be printable ASCII without spaces; choose another")


def is_loopback(host: str) -> bool:
    """Say whether an address can be reached from this machine alone."""
    name = host.strip("[]").lower()
    if name == _LOCALHOST or name.endswith(f".{_LOCALHOST}"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
