import pytest

from constraint_first.attempt.drive import Scripted
from constraint_first.model.error import EngineError
from constraint_first.model.wire import SILENT, Decoding, Watcher
from constraint_first.protocol import Call, Completion

CALLS = [Call.user(text, stage="direct", max_tokens=8) for text in ("one", "two", "three")]


async def test_replies_come_in_the_order_of_the_list() -> None:
    cut = Completion("II", "length")
    engine = Scripted(["I", cut])
    assert await engine.complete(CALLS[0]) == Completion("I")
    assert await engine.complete(CALLS[1]) is cut
    assert engine.asked == CALLS[:2]


async def test_a_list_that_is_used_up_says_for_which_stage() -> None:
    engine = Scripted(iter(["I"]))
    await engine.complete(CALLS[0])
    with pytest.raises(EngineError, match="no reply left for a direct call"):
        await engine.complete(CALLS[1])
    assert engine.asked == CALLS[:2]


async def test_a_function_replies_to_what_is_asked() -> None:
    engine = Scripted(lambda call: call.messages[0].content.upper())
    assert [(await engine.complete(call)).text for call in CALLS] == ["ONE", "TWO", "THREE"]


async def test_a_watcher_sees_the_reply_as_one_piece() -> None:
    seen: list[tuple[str, bool]] = []

    class Seeing(Watcher):
        def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
            seen.append((piece, reasoning))

    await Scripted(["I"]).complete(CALLS[0], Seeing())
    assert seen == [("I", False)]


async def test_no_decoding_changes_a_reply() -> None:
    engine = Scripted(lambda _call: "I")
    for decoding in (None, Decoding(), Decoding(temperature=0, seed=1)):
        assert (await engine.complete(CALLS[0], SILENT, decoding)).text == "I"


def test_it_has_the_name_that_it_is_given() -> None:
    assert Scripted([]).model == "scripted"
    assert Scripted([], name="model-a").model == "model-a"
