"""The process of the symbolic tier."""

from __future__ import annotations

from cfr.process import serve

__all__ = ["main"]


def main() -> None:
    """Serve the symbolic tier."""
    from cfr.answer.judgement.symbolic import TASKS

    serve(TASKS)


if __name__ == "__main__":
    main()
