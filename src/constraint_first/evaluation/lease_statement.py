"""The statements of leases, for PostgreSQL alone. Only the database's clock is asked in them.

They are put together from parts that stand here; whatever comes from outside is a parameter.
"""

# ruff: noqa: S608

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

__all__ = [
    "ANALYZE",
    "CALLS",
    "CLAIM",
    "DROP_FINISHED",
    "ENQUEUE",
    "EXPIRE_RESERVED",
    "FREE_ALL",
    "FREE_EXPIRED",
    "GIVE_BACK",
    "HOLD",
    "OTHERS",
    "RELEASE",
    "RELEASE_BUT",
    "RELEASE_CREW",
    "RENEW",
    "RENEW_RESERVED",
    "REQUEUE_FAILED",
    "WAITING",
]

_KEY: Final = "series, problem, run"
_SHARE: Final = (
    "series = :series AND run < :runs"
    " AND (CAST(:problems AS integer[]) IS NULL OR problem = ANY(CAST(:problems AS integer[])))"
)
_FREED: Final = "owner = NULL, expires = NULL, begun = TRUE"
_UNTIL: Final = "clock_timestamp() + make_interval(secs => :seconds)"
_KEYS: Final = (
    "unnest(CAST(:all_series AS integer[]), CAST(:all_problems AS integer[]),"
    " CAST(:all_runs AS integer[])) AS named (series, problem, run)"
)
CLAIM: Final = sa.text(
    f"WITH chosen AS (SELECT {_KEY} FROM leases WHERE {_SHARE} AND owner IS NULL"
    " ORDER BY run, problem LIMIT :most FOR UPDATE SKIP LOCKED)"
    f" UPDATE leases SET owner = :owner, expires = {_UNTIL} FROM chosen"
    " JOIN problems ON problems.id = chosen.problem"
    " WHERE leases.series = chosen.series AND leases.problem = chosen.problem"
    " AND leases.run = chosen.run"
    " RETURNING leases.problem, leases.run, begun, name, text, answer, benchmark"
)
RENEW: Final = sa.text(
    f"UPDATE leases SET expires = {_UNTIL} WHERE owner = :owner RETURNING {_KEY}"
)
RENEW_RESERVED: Final = sa.text(f"UPDATE reservations SET expires = {_UNTIL} WHERE owner = :owner")
# While a server was away nobody could renew anything: after it is back all have time to.
FREE_EXPIRED: Final = sa.text(
    f"WITH dead AS (SELECT {_KEY} FROM leases"
    " WHERE owner IS NOT NULL AND owner <> :owner AND expires < clock_timestamp()"
    " AND pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :seconds)"
    " FOR UPDATE SKIP LOCKED)"
    f" UPDATE leases SET {_FREED} FROM dead WHERE leases.series = dead.series"
    " AND leases.problem = dead.problem AND leases.run = dead.run"
)
HOLD: Final = sa.text(
    "WITH wanted AS MATERIALIZED (SELECT * FROM unnest(CAST(:all_series AS integer[]),"
    " CAST(:all_problems AS integer[]), CAST(:all_runs AS integer[]), CAST(:all_ends AS boolean[]))"
    f" AS wanted ({_KEY}, ends)),"
    " ended AS (DELETE FROM leases USING wanted WHERE ends AND owner = :owner"
    " AND leases.series = wanted.series AND leases.problem = wanted.problem"
    " AND leases.run = wanted.run RETURNING leases.series, leases.problem, leases.run),"
    f" held AS (SELECT {_KEY} FROM leases JOIN wanted USING ({_KEY})"
    " WHERE NOT ends AND owner = :owner FOR UPDATE OF leases)"
    " SELECT * FROM ended UNION ALL SELECT * FROM held"
)
RELEASE: Final = sa.text(f"UPDATE leases SET {_FREED} WHERE owner = :owner")
RELEASE_CREW: Final = sa.text(f"UPDATE leases SET {_FREED} WHERE starts_with(owner, :crew)")
GIVE_BACK: Final = sa.text(
    f"UPDATE leases SET {_FREED} FROM {_KEYS} WHERE owner = :owner"
    " AND leases.series = named.series AND leases.problem = named.problem"
    " AND leases.run = named.run"
)
RELEASE_BUT: Final = sa.text(
    f"UPDATE leases SET {_FREED} WHERE owner = :owner"
    f" AND ({_KEY}) NOT IN (SELECT {_KEY} FROM {_KEYS})"
)
WAITING: Final = sa.text(
    f"SELECT count(*) FILTER (WHERE owner IS NULL), count(*) FROM leases WHERE {_SHARE}"
)
OTHERS: Final = sa.text(
    "SELECT EXISTS (SELECT FROM leases WHERE owner <> :owner AND series = :series"
    " AND expires > clock_timestamp())"
)
ENQUEUE: Final = sa.text(
    "INSERT INTO leases (series, problem, run, begun)"
    " SELECT :series, id, nth, EXISTS (SELECT FROM calls WHERE series = :series AND problem = id"
    " AND run = nth) FROM problems CROSS JOIN generate_series(0, :runs - 1) AS runs (nth)"
    " WHERE benchmark = :benchmark"
    " AND (CAST(:problems AS integer[]) IS NULL OR id = ANY(CAST(:problems AS integer[])))"
    " AND NOT EXISTS (SELECT FROM attempts WHERE series = :series AND problem = id AND run = nth"
    " AND status <> 'failed') ON CONFLICT DO NOTHING"
)
ANALYZE: Final = sa.text("ANALYZE leases")
REQUEUE_FAILED: Final = sa.text(
    "INSERT INTO leases (series, problem, run, begun)"
    " SELECT series, problem, run, TRUE FROM attempts"
    " JOIN run_settings USING (series) WHERE status = 'failed' ON CONFLICT DO NOTHING"
)
DROP_FINISHED: Final = sa.text(
    "DELETE FROM leases USING attempts WHERE attempts.series = leases.series"
    " AND attempts.problem = leases.problem AND attempts.run = leases.run"
    " AND attempts.status <> 'failed'"
    " AND leases.series = coalesce(CAST(:series AS integer), leases.series)"
)
_UP_FOR: Final = "pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => :up)"
FREE_ALL: Final = sa.text(f"UPDATE leases SET {_FREED} WHERE owner IS NOT NULL AND {_UP_FOR}")
EXPIRE_RESERVED: Final = sa.text(f"UPDATE reservations SET expires = '-infinity' WHERE {_UP_FOR}")
CALLS: Final = sa.text(f"SELECT calls.* FROM calls JOIN {_KEYS} USING ({_KEY})")
