from pathlib import Path

import pytest

from cfr.engine import resolve as resolving
from cfr.engine.catalogue import DEFAULT_MODEL, Model
from cfr.engine.error import EngineError
from cfr.engine.local import Local
from cfr.engine.openai import OpenAI
from cfr.engine.resolve import Wanted, resolve


@pytest.fixture
def pulled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def pull(model: Model, progress: object) -> Path:
        names.append(model.name)
        return Path("/models") / model.file

    monkeypatch.setattr(resolving, "pull", pull)
    return names


def test_nothing_named_means_the_embedded_model(pulled: list[str]) -> None:
    engine = resolve(Wanted())
    assert isinstance(engine, Local)
    assert pulled == [DEFAULT_MODEL]


def test_a_gguf_file_runs_here(pulled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    engine = resolve(Wanted(model="some/file.gguf", context=999))
    assert isinstance(engine, Local)
    assert (engine.path, engine.context) == (Path("some/file.gguf"), 999)
    assert pulled == []


def test_an_address_means_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "k")
    engine = resolve(Wanted("m", "http://h/v1", "OTHER_KEY", 8_000))
    assert isinstance(engine, OpenAI)
    assert (engine.endpoint.model, engine.endpoint.base_url) == ("m", "http://h/v1")
    assert (engine.endpoint.key, engine.endpoint.context) == ("k", 8_000)


def test_the_address_may_come_from_the_environment(
    pulled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1")
    engine = resolve(Wanted(model="deepseek-chat"))
    assert isinstance(engine, OpenAI)
    assert engine.endpoint.base_url == "http://h/v1"
    assert isinstance(resolve(Wanted(model=DEFAULT_MODEL)), Local)
    assert pulled == [DEFAULT_MODEL]


def test_a_name_that_leads_nowhere() -> None:
    with pytest.raises(EngineError, match=r"'deepseek-chat': no \.gguf file .* --base-url"):
        resolve(Wanted(model="deepseek-chat"))
