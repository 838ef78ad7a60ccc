from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.attempt.drive import (
    MemoryJournal,
    digest,
    require_same,
    storable_call,
    storable_completion,
    storable_output,
    storable_program,
    storable_usage,
)
from constraint_first.file.safe import LONGEST, MOST
from constraint_first.model.error import JournalMismatch
from constraint_first.protocol import Call, Completion, Message, Output, Program, Usage

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


async def test_an_output_is_not_handed_to_another_program() -> None:
    journal = MemoryJournal()
    output = Output("1\n", "", 0.25)
    await journal.record(2, Program("print(1)"), output)
    assert journal.recall(2, Program("print(1)")) is output
    with pytest.raises(JournalMismatch, match=r"program 2 \(program\) differs"):
        journal.recall(2, Program("print(2)"))
    with pytest.raises(JournalMismatch, match=r"call 2 \(direct\) differs"):
        journal.recall(2, CALL)


def test_digests_of_programs_have_a_length_and_no_model() -> None:
    assert len(digest(Program("\ud800"))) == 64
    assert digest(Program("a@b")) != digest(Program("a@b", "check"))


@given(st.text(st.characters(exclude_categories=())), st.text(), st.floats())
def test_any_program_and_output_can_be_stored(text: str, error: str, seconds: float) -> None:
    output = storable_output(Output(text, error, seconds))
    assert storable_output(output) == output
    for kept in (output.text, output.error, storable_program(Program(text)).source):
        assert "\0" not in kept
        assert kept.encode().decode() == kept
    assert output.seconds >= 0 or seconds < 0


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


def test_what_can_be_stored_is_handed_on_as_it_is() -> None:
    assert storable_completion(COMPLETION) is COMPLETION
    assert storable_call(CALL) is CALL
    assert storable_usage(COMPLETION.usage) is COMPLETION.usage


def test_what_cannot_be_stored_is_replaced_before_a_method_sees_it() -> None:
    odd = Completion("half \ud83d \0", "stop", "\ud83d", Usage(2**63, -5, reasoning=1))
    kept = Completion(
        "half \ufffd \ufffd", "stop", "\ufffd", Usage(MOST, 0, reasoning=1, reported=False)
    )
    assert storable_completion(odd) == kept


def test_a_reply_that_is_cut_counts_as_truncated() -> None:
    assert storable_completion(Completion("x" * LONGEST)).finish == "stop"
    cut = storable_completion(Completion("x" * (LONGEST + 1)))
    assert (len(cut.text), cut.truncated) == (LONGEST, True)


def test_counts_are_whole_numbers_whatever_an_engine_says() -> None:
    odd: Any = Usage(True, 2.5, float("nan"), 4)  # pyright: ignore[reportArgumentType]
    kept = storable_usage(odd)
    assert kept == Usage(1, 2, 0, 4, reported=False)
    assert {type(count) for count in (kept.input, kept.output, kept.reasoning)} == {int}


def test_a_call_is_sent_without_what_no_request_can_carry() -> None:
    told = (Message("system", "Be brief."), Message("user", "half \ud83d pair"))
    call = Call(told, "stage2", 9, json=True, sample=3)
    sent = storable_call(call)
    assert sent.messages[1] == Message("user", "half \ufffd pair")
    assert replace(sent, messages=told) == call


def test_a_digest_says_which_other_model_a_call_was_for() -> None:
    # As it was before a call could name one: stores of that time are resumed.
    assert digest(CALL) == "94648bba88cd531d37bb3870cd87db188309b3507abbbff0264d88cc4c071695"
    assert digest(replace(CALL, model="org/small@q4")) == digest(CALL) + "@org/small@q4"
