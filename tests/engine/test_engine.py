from pathlib import Path
from types import SimpleNamespace

import pytest
from loopback import Endpoint as Server
from model_file import write_model

from constraint_first.attempt.drive import Scripted
from constraint_first.model.client import Client
from constraint_first.model.error import ModelFileError, ModelNotFound
from constraint_first.model.local import Local
from constraint_first.model.openai import OpenAI
from constraint_first.model.transport import Endpoint
from constraint_first.model.wire import (
    SILENT,
    Decoding,
    Engine,
    Served,
    Watcher,
)
from constraint_first.protocol import Call, Completion

CALL = Call.user("x", stage="direct", max_tokens=8)


class Recording:
    """The least that a served model can be: it needs no opening, and keeps how it was decoded."""

    model = "recording"

    def __init__(self) -> None:
        self.decodings: list[Decoding | None] = []

    async def complete(
        self, call: Call, watcher: Watcher = SILENT, decoding: Decoding | None = None
    ) -> Completion:
        self.decodings.append(decoding)
        return Completion(call.messages[0].content)


def local(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Local:
    """An engine for a model file, with a server that nobody starts."""

    def start(_engine: Local, _context: int) -> object:
        return SimpleNamespace(listening_address="http://127.0.0.1:1")

    monkeypatch.setattr(Local, "_start", start)
    return Local(write_model(folder / "m.gguf"))


def test_decoding_is_the_papers_primary_setting() -> None:
    assert Decoding() == Decoding(temperature=0.7, top_p=0.95, seed=None)


async def test_a_decoded_engine_samples_every_call_alike() -> None:
    served = Recording()
    cold = Decoding(temperature=0)
    assert (await Client(served, decoding=cold).complete(CALL)).text == "x"
    await Client(served, decoding=cold).complete(CALL)
    assert served.decodings == [cold, cold]


def test_nothing_is_streamed_for_the_silent_watcher_alone() -> None:
    assert SILENT.streams is False
    assert Watcher().streams is True


async def test_an_endpoint_is_opened_and_closed_where_it_was_closed(endpoint: Server) -> None:
    engine = OpenAI(Endpoint(endpoint.url, ""))
    assert not engine.is_open
    async with Client(engine) as served:
        assert served.main is engine
        assert engine.is_open
        assert served.model == "test-model"
        assert (await served.complete(CALL)).text == "the answer is \\boxed{4}"
    assert not engine.is_open


async def test_an_endpoint_that_is_open_stays_so(endpoint: Server) -> None:
    async with OpenAI(Endpoint(endpoint.url, "m")) as engine:
        async with Client(engine) as served:
            assert served.main is engine
        assert engine.is_open
        await engine.complete(CALL)
    assert len(endpoint.requests) == 1


async def test_an_endpoint_that_could_not_be_opened_is_closed(endpoint: Server) -> None:
    endpoint.served = []
    engine = OpenAI(Endpoint(endpoint.url, ""))
    with pytest.raises(ModelNotFound):
        async with Client(engine):
            pass
    assert not engine.is_open


async def test_an_engine_is_closed_after_an_error(endpoint: Server) -> None:
    engine = OpenAI(Endpoint(endpoint.url, "m"))
    with pytest.raises(OSError, match="went wrong"):
        async with Client(engine):
            raise OSError("went wrong")
    assert not engine.is_open


async def test_a_local_model_is_opened_and_closed_where_it_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = local(tmp_path, monkeypatch)
    assert not engine.is_open
    async with Client(engine) as served:
        assert served.main is engine
        assert engine.is_open
        async with Client(engine):
            pass
        assert engine.is_open
    assert not engine.is_open
    with pytest.raises(RuntimeError, match="inside `async with`"):
        await engine.complete(CALL)


async def test_a_local_model_that_could_not_be_opened_is_closed(tmp_path: Path) -> None:
    engine = Local(tmp_path / "none.gguf")
    with pytest.raises(ModelFileError, match="no such file"):
        async with Client(engine):
            pass
    assert not engine.is_open


@pytest.mark.parametrize("engine", [Scripted(lambda _call: "x"), Recording()])
async def test_an_engine_that_needs_no_opening_is_taken_as_it_is(engine: Served) -> None:
    for _ in range(2):
        async with Client(engine) as served:
            assert served.main is engine
            assert (await served.complete(CALL)).text == "x"


def test_every_engine_is_one_model_that_is_served(endpoint: Server) -> None:
    engines: list[Served] = [
        OpenAI(Endpoint(endpoint.url, "one")),
        Local(Path("two.gguf")),
        Scripted([], name="three"),
    ]
    performers: list[Engine] = [*engines, Client(engines[0], decoding=Decoding())]
    assert [engine.model for engine in engines] == ["one", "two", "three"]
    assert len(performers) == 4
