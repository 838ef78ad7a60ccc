"""Selections of a store's attempts, and the columns of their tokens."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from constraint_first.evaluation import schema
from constraint_first.evaluation.lease import SeriesShare
from constraint_first.evaluation.registration import Registered
from constraint_first.evaluation.shared_prompt import shared_tokens
from constraint_first.file.storable import storable_count
from constraint_first.problem import Problem
from constraint_first.protocol import Usage

__all__ = ["finished_attempts", "share_of", "summed_usage", "usage_columns"]


def share_of(registered: Registered, problems: Sequence[Problem], runs: int) -> SeriesShare:
    """Select the first runs at some problems of a series, all of them where these are all."""
    numbers = tuple(registered.problems[problem.id] for problem in problems)
    all_of_them = len(numbers) == len(registered.problems)
    return SeriesShare(registered.series, runs, None if all_of_them else numbers)


def finished_attempts(
    registered: Registered, problems: Sequence[int], runs: int
) -> list[sa.ColumnElement[bool]]:
    """Select the attempts of a series that were made, at some problems and in the first runs."""
    table = schema.attempts
    where = [table.c.series == registered.series, table.c.status != "failed", table.c.run < runs]
    if len(problems) < len(registered.problems):
        # Written into the statement: databases take only so many parameters.
        ids: sa.BindParameter[int] = sa.bindparam(
            "ids", problems, type_=sa.Integer, expanding=True, literal_execute=True
        )
        where.append(table.c.problem.in_(ids))
    return where


def usage_columns(usage: Usage) -> dict[str, int]:
    """Spread token counts over their columns."""
    return {
        "input_tokens": storable_count(usage.input),
        "output_tokens": storable_count(usage.output),
        "reasoning_tokens": storable_count(usage.reasoning),
        "cached_tokens": storable_count(usage.cached),
    }


def summed_usage() -> list[sa.ColumnElement[int]]:
    """Add up the tokens of attempts: their columns, then those of prompts that were shared."""
    columns = (*(schema.attempts.c[name] for name in usage_columns(Usage())), shared_tokens())
    # A sum of sums is a decimal number in PostgreSQL.
    return [sa.cast(sa.func.coalesce(sa.func.sum(c), 0), sa.BigInteger) for c in columns]
