"""The process of the symbolic tier."""

from __future__ import annotations

from constraint_first.process import serve

__all__ = ["main"]


def main() -> None:
    """Serve the symbolic tier."""
    from constraint_first.answer.judgement.symbolic import TASKS

    serve(TASKS)


if __name__ == "__main__":
    main()
