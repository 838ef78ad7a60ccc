"""A real GGUF model in this process: the smallest of the catalogue, pulled on first use."""

from pathlib import Path

import pytest

from cfr.constraint.recovery import read_spec
from cfr.constraint.stage import extract_constraints
from cfr.engine.catalogue import find_model
from cfr.engine.drive import drive
from cfr.engine.engine import Decoding, Watcher
from cfr.engine.error import ModelFileError, PromptTooLong
from cfr.engine.local import Local
from cfr.engine.pull import pull
from cfr.method import Routed
from cfr.problem import Problem
from cfr.protocol import Call

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def smallest() -> Path:
    model = find_model("smollm2-135m-instruct")
    try:
        return pull(model)
    except ModelFileError as error:
        pytest.skip(f"the smallest model cannot be had here: {error}")


async def test_a_real_completion(smallest: Path) -> None:
    call = Call.user("Name a colour.", stage="direct", max_tokens=16)
    async with Local(smallest, Decoding(temperature=0, seed=1), context=512) as engine:
        first = await engine.complete(call)
        streamed: list[str] = []

        class Collecting(Watcher):
            def wrote(self, call: Call, piece: str, *, reasoning: bool) -> None:
                streamed.append(piece)

        second = await engine.complete(call, Collecting())
    assert first.text.strip()
    assert first.usage.reported
    assert first.usage.input > 5
    assert 0 < first.usage.output <= 16
    assert "".join(streamed) == second.text == first.text


async def test_a_grammar_makes_stage_1_valid_even_for_a_model_that_cannot_reason(
    smallest: Path,
) -> None:
    call = extract_constraints("Find the remainder when 100 is divided by 7.", 1_024)
    async with Local(smallest, Decoding(temperature=0, seed=1), context=2_048) as engine:
        completion = await engine.complete(call)
    expected = "repaired" if completion.truncated else "parsed"
    assert read_spec(completion.text).rung == expected


async def test_routed_cfr_on_a_real_model(smallest: Path) -> None:
    problem = Problem("Find the remainder when 100 is divided by 7.")
    async with Local(smallest, Decoding(seed=1), context=2_048) as engine:
        outcome = await drive(Routed().solve(problem), engine)
    stages = [exchange.call.stage for exchange in outcome.exchanges]
    assert stages[0] == "stage1"
    assert stages[1] in ("stage2", "direct")
    assert outcome.result.details["routed"] is True
    assert outcome.result.text


async def test_a_problem_longer_than_the_context(smallest: Path) -> None:
    call = Call.user("long " * 2_000, stage="direct", max_tokens=16)
    async with Local(smallest, context=512) as engine:
        with pytest.raises(PromptTooLong, match="exceeds the available context size"):
            await engine.complete(call)


async def test_a_model_cut_short_is_named_before_it_is_loaded(
    smallest: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(smallest.read_bytes()[:4_000_000])
    with pytest.raises(ModelFileError, match=r"cut\.gguf: (cut|damaged or cut) short"):
        async with Local(cut):
            pass
    with pytest.raises(ModelFileError, match="no such file"):
        async with Local(tmp_path / "none.gguf"):
            pass
