from dataclasses import replace

import pytest

from cfr.engine.error import JournalMismatch
from cfr.engine.journal import MemoryJournal, digest, require_same
from cfr.protocol import Call, Completion, Message, Usage

CALL = Call.user("x", stage="direct", max_tokens=1)
COMPLETION = Completion("4", "length", "two and two", Usage(1, 2))


async def test_what_was_recorded_is_recalled_by_its_place() -> None:
    journal = MemoryJournal()
    other = replace(CALL, sample=1)
    await journal.record(0, CALL, COMPLETION)
    await journal.record(1, other, Completion("5"))
    assert journal.recall(0, CALL) is COMPLETION
    assert journal.recall(1, other) == Completion("5")
    assert journal.recall(2, CALL) is None


async def test_a_completion_is_not_handed_to_another_call() -> None:
    journal = MemoryJournal()
    await journal.record(3, CALL, COMPLETION)
    with pytest.raises(JournalMismatch, match=r"call 3 \(stage2\) differs .* start a new run"):
        journal.recall(3, replace(CALL, stage="stage2"))
    assert journal.recall(3, CALL) is COMPLETION


async def test_what_is_recorded_again_stands_instead() -> None:
    journal = MemoryJournal()
    await journal.record(0, CALL, Completion("old"))
    await journal.record(0, CALL, Completion("new"))
    assert journal.recall(0, CALL) == Completion("new")


def test_the_same_call_is_let_through_and_no_other() -> None:
    assert require_same(0, CALL, digest(CALL)) is None
    with pytest.raises(JournalMismatch, match=r"call 0 \(direct\) differs"):
        require_same(0, CALL, "another digest")


def test_a_digest_depends_on_everything_that_is_asked() -> None:
    call = Call.user("x", stage="direct", max_tokens=1)
    others = [
        Call.user("y", stage="direct", max_tokens=1),
        Call.user("x", stage="stage2", max_tokens=1),
        Call.user("x", stage="direct", max_tokens=2),
        Call.user("x", stage="direct", max_tokens=1, json=True),
        Call.user("x", stage="direct", max_tokens=1, schema="{}"),
        replace(call, sample=1),
    ]
    assert len({digest(c) for c in [call, *others]}) == 7
    assert digest(call) == digest(Call.user("x", stage="direct", max_tokens=1))


def test_digests_are_those_of_stores_that_were_written_before() -> None:
    told = (Message("system", "Be brief."), Message("user", "What is $2+2$?"))
    call = Call(told, "stage1", 1_024, json=True, schema='{"type": "object"}', sample=2)
    assert digest(call) == "f09418913bebaffa61e86e3475c2998f5f271aa06427a5887e175bbad8d4ce83"
    assert len(digest(replace(call, messages=(Message("user", "\ud800"),)))) == 64
