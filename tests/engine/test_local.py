"""A model file on this machine."""

import os
import struct
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_file import header, pair, text, write_model

from constraint_first.attempt.drive import drive
from constraint_first.attempt.solve import asolve
from constraint_first.constraint.stage1 import WELL_FORMED, extract_constraints, read_spec
from constraint_first.error import InputError
from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import CFR, Routed
from constraint_first.model import local as gguf
from constraint_first.model.error import ModelFileError, PromptTooLong
from constraint_first.model.local import CONTEXT, Local, find_model, inspect, pull
from constraint_first.model.wire import Decoding, Watcher
from constraint_first.problem import Problem
from constraint_first.protocol import Call

# --- A real GGUF model in this process: the smallest of the catalogue, pulled on first use.


@pytest.fixture(scope="module")
def smallest() -> Path:
    model = find_model("smollm2-135m-instruct")
    try:
        return pull(model)
    except ModelFileError as error:
        pytest.skip(f"the smallest model cannot be had here: {error}")


@pytest.mark.slow
async def test_a_real_completion(smallest: Path) -> None:
    call = Call.user("Name a colour.", stage="direct", max_tokens=16)
    async with Local(smallest, Decoding(temperature=0, seed=1), context=512) as engine:
        assert engine.endpoint.base_url.startswith("http://127.0.0.1:")
        assert engine.endpoint.context == 512
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


@pytest.mark.long
async def test_a_grammar_makes_stage_1_valid_even_for_a_model_that_cannot_reason(
    smallest: Path,
) -> None:
    call = extract_constraints("Find the remainder when 100 is divided by 7.", 384)
    async with Local(smallest, Decoding(temperature=0, seed=1), context=2_048) as engine:
        completion = await engine.complete(call)
    assert (read_spec(completion.text).rung in WELL_FORMED) != completion.truncated


@pytest.mark.long
async def test_stage_1_by_a_second_real_model(smallest: Path) -> None:
    short = Direct(budget=16)
    method = CFR("prose", 48, 16, fallback=short, extractor=str(smallest))
    async with Local(smallest, Decoding(seed=1), name="main", context=2_048) as engine:
        solved = await asolve("Find the remainder when 100 is divided by 7.", method, engine=engine)
    asked = [(one.call.stage, one.call.model) for one in solved.exchanges]
    assert asked[0] == ("stage1", str(smallest))
    assert asked[1][1] is None
    assert [0 < one.completion.usage.output <= 48 for one in solved.exchanges] == [True, True]


@pytest.mark.long
async def test_routed_cfr_on_a_real_model(smallest: Path) -> None:
    problem = Problem("Find the remainder when 100 is divided by 7.")
    short = Decoding(seed=1, max_tokens=200)
    async with Local(smallest, short, context=2_048) as engine:
        outcome = await drive(Routed().solve(problem), engine)
    stages = [exchange.call.stage for exchange in outcome.exchanges]
    assert stages[0] == "stage1"
    assert stages[1] in ("stage2", "direct")
    assert outcome.result.details["routed"] is True
    assert outcome.result.text


@pytest.mark.slow
async def test_a_problem_longer_than_the_context(smallest: Path) -> None:
    call = Call.user("long " * 2_000, stage="direct", max_tokens=16)
    async with Local(smallest, context=512) as engine:
        with pytest.raises(PromptTooLong, match="exceeds the available context size"):
            await engine.complete(call)


@pytest.mark.slow
async def test_a_library_of_the_system_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail = Mock(side_effect=ImportError("libgomp.so.1: cannot open shared object file"))
    monkeypatch.setattr("constraint_first.model.local.importlib.import_module", fail)
    with pytest.raises(ModelFileError, match="apt install libgomp1"):
        await Local(write_model(tmp_path / "m.gguf")).__aenter__()


async def test_the_limit_of_a_real_model_is_in_its_file(smallest: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.gguf: its limit is 8192 tokens .* 8193 are asked for"):
        await Local(smallest, context=8_193).__aenter__()
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(smallest.read_bytes()[:4_000_000])
    with pytest.raises(ModelFileError, match=r"cut\.gguf: (cut|damaged or cut) short"):
        await Local(cut).__aenter__()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Start no server; see with which context one would have been started."""
    start = Mock(return_value=SimpleNamespace(listening_address="http://127.0.0.1:1"))
    monkeypatch.setattr(Local, "_start", start)
    return start


@pytest.mark.parametrize(
    ("limit", "asked", "given"),
    [
        (2_048, None, 2_048),
        (32_768, None, CONTEXT),
        (None, None, CONTEXT),
        (2_048, 2_048, 2_048),
        (2_048, 512, 512),
        (None, 99_999, 99_999),
    ],
)
async def test_the_context_keeps_to_the_limit_of_the_file(
    tmp_path: Path, served: Mock, limit: int | None, asked: int | None, given: int
) -> None:
    path = write_model(tmp_path / "m.gguf", context=limit)
    async with Local(path, context=asked) as engine:
        assert engine.context == given
    served.assert_called_once_with(given)


async def test_a_context_beyond_the_limit_of_the_file_is_refused(
    tmp_path: Path, served: Mock
) -> None:
    path = write_model(tmp_path / "m.gguf")
    with pytest.raises(InputError) as caught:
        await Local(path, context=2_049).__aenter__()
    assert str(caught.value) == (
        f"{path}: its limit is 2048 tokens of context, and 2049 are asked for; "
        "give a smaller --context, 2048 at the most"
    )
    served.assert_not_called()


@pytest.mark.parametrize(
    ("given", "threads"), [("3", 3), ("1", 1), ("", None), ("0", None), ("4,2", None)]
)
def test_the_threads_are_those_that_openmp_is_given_or_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, threads: int | None
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    usual = Local(tmp_path / "m.gguf")._threads  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    found = Local(tmp_path / "m.gguf")._threads  # pyright: ignore[reportPrivateUsage]
    assert found == (threads or usual)


OTHERS = (
    pair("tiny.scale", 6, struct.pack("<f", 0.5)),
    pair("tokens", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b")),
    pair("scores", 9, struct.pack("<IQ", 6, 3) + bytes(12)),
)


@pytest.mark.parametrize(
    "limit",
    [b"", pair("tiny.context_length", 8, text("long")), pair("context_length", 4, bytes(4))],
)
def test_a_file_need_not_tell_its_context(tmp_path: Path, limit: bytes) -> None:
    more = [limit] if limit else []
    assert inspect(write_model(tmp_path / "m.gguf", *more, context=None)).context is None


def test_another_kind_of_file(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"PK\x03\x04 not a model")
    os.mkfifo(tmp_path / "pipe.gguf")
    for odd, said in (
        (path, "not a GGUF"),
        (tmp_path, "not a file"),
        (tmp_path / "pipe.gguf", "not a file"),
        (tmp_path / "none.gguf", "no such file"),
    ):
        with pytest.raises(ModelFileError, match=said):
            inspect(odd)


@given(length=st.integers(4, len(header(*OTHERS)) + 32))
def test_a_file_cut_anywhere_is_noticed(tmp_path_factory: pytest.TempPathFactory, length: int):
    path = write_model(tmp_path_factory.getbasetemp() / "cut.gguf", *OTHERS)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ModelFileError, match="cut short"):
        inspect(path)


@pytest.mark.parametrize(
    "lie",
    [
        struct.pack("<IQQ", 3, 0, 2**60),  # so many pairs, all of them zeros
        struct.pack("<IQQ", 3, 2**60, 0),
        struct.pack("<IQQQI", 3, 1, 0, 0, 2**31),  # a tensor of so many dimensions
        struct.pack("<IQQQI", 3, 0, 1, 0, 9) + struct.pack("<IQ", 9, 2**60) * 5_000,
    ],
)
def test_a_header_that_lies_about_its_length_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: bytes
) -> None:
    monkeypatch.setattr(gguf, "_LONGEST_HEADER", 2**20)
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + lie)
    os.truncate(path, 20 * 10**9)
    with pytest.raises(ModelFileError, match="damaged or cut short"):
        inspect(path)
