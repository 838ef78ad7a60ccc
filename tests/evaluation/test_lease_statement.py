import re

import sqlalchemy as sa

from constraint_first.store import writer as lease_statement

STATEMENTS = {
    name: str(value)
    for name, value in vars(lease_statement).items()
    if isinstance(value, sa.ClauseElement) and name.isupper()
}


def test_time_is_told_by_the_servers_clock_alone() -> None:
    for name, text in STATEMENTS.items():
        for part in re.split(r"\bexpires\b", text)[1:]:
            # An expiry is set to nothing, or to the clock and so many seconds, or compared with it.
            assert re.match(r" = NULL| = clock_|, | [<>] clock_| = '-infinity'", part), (name, text)


def test_nobody_waits_for_what_another_worker_is_writing() -> None:
    for name in ("CLAIM", "FREE_EXPIRED"):
        assert "FOR UPDATE SKIP LOCKED" in STATEMENTS[name]
