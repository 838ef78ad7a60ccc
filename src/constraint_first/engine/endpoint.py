"""An endpoint: where a model is served, under which name, with which key."""

from __future__ import annotations

from dataclasses import dataclass, field

from constraint_first.engine.address import fault_in, join, secrets_in, without_secrets
from constraint_first.engine.chat import JsonMode
from constraint_first.engine.error import Rejected, Unauthorized
from constraint_first.engine.redaction import Redaction

__all__ = ["Endpoint"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model that is served elsewhere, and what is known about it."""

    base_url: str
    model: str
    """May be empty where the endpoint serves a single model."""
    key: str = field(default="", repr=False)
    key_name: str = "OPENAI_API_KEY"
    """The environment variable that the key comes from; messages name it and never the key."""
    context: int | None = None
    """Input and output tokens together, where it is known."""
    json_mode: JsonMode = "object"

    @property
    def shown(self) -> str:
        """The address without anything that could be a secret."""
        return without_secrets(self.base_url)

    @property
    def redaction(self) -> Redaction:
        """All that it is sent and must not repeat to anybody."""
        return Redaction((*((self.key,) if self.key else ()), *secrets_in(self.base_url)))

    def url(self, path: str) -> str:
        """Build the address of one of its services."""
        return join(self.base_url, path)

    def check(self) -> None:
        """Refuse an address or a key that nothing could be sent with, in a line that shows none."""
        if fault := fault_in(self.base_url):
            raise Rejected(f"{self.shown}: {fault}")
        odd = next((c for c in self.key if not (c.isascii() and c.isprintable())), "")
        if odd:
            raise Unauthorized(
                f"{self.key_name or 'the key'}: the key holds a character that no key can have "
                f"(U+{ord(odd):04X}); set it again"
            )
        if self.key and "@" in self.base_url.partition("://")[2].partition("/")[0]:
            raise Unauthorized(
                f"{self.shown}: its address carries a user name, and {self.key_name} holds a key; "
                "only one of them can be sent, so leave the other out"
            )
