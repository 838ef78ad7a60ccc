from pathlib import Path

import pytest

from constraint_first.model.error import EngineError, Unauthorized
from constraint_first.model.local import Local
from constraint_first.model.openai import OpenAI
from constraint_first.model.pull import DEFAULT_MODEL
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import ModelRef, known_context, resolve, runs_here, served_name


def test_nothing_named_means_the_embedded_model(pulled: list[str]) -> None:
    engine = resolve(ModelRef())
    assert isinstance(engine, Local)
    assert pulled == [DEFAULT_MODEL]


def test_a_gguf_file_runs_here(pulled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    engine = resolve(ModelRef(model="some/file.gguf", context=999))
    assert isinstance(engine, Local)
    assert (engine.path, engine.context) == (Path("some/file.gguf"), 999)
    assert pulled == []


def test_an_address_means_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "k")
    engine = resolve(ModelRef("m", "http://h/v1", "OTHER_KEY", 8_000))
    assert isinstance(engine, OpenAI)
    assert (engine.endpoint.model, engine.endpoint.base_url) == ("m", "http://h/v1")
    assert (engine.endpoint.key, engine.endpoint.context) == ("k", 8_000)


def test_the_address_may_come_from_the_environment(
    pulled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1")
    engine = resolve(ModelRef(model="deepseek-chat"))
    assert isinstance(engine, OpenAI)
    assert engine.endpoint.base_url == "http://h/v1"
    assert isinstance(resolve(ModelRef(model=DEFAULT_MODEL)), Local)
    assert pulled == [DEFAULT_MODEL]


def test_a_name_that_leads_nowhere() -> None:
    with pytest.raises(EngineError, match=r"'gpt-7': no \.gguf file .*deepseek-chat.*--base-url"):
        resolve(ModelRef(model="gpt-7"))


def test_a_preset_names_endpoint_key_and_context(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    engine = resolve(ModelRef(model="deepseek-chat"))
    assert isinstance(engine, OpenAI)
    assert engine.endpoint.base_url == "https://api.deepseek.com/v1"
    assert (engine.endpoint.model, engine.endpoint.key) == ("deepseek-chat", "k")
    assert (engine.endpoint.key_name, engine.endpoint.context) == ("DEEPSEEK_API_KEY", 1_000_000)


def test_what_is_said_wins_over_a_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "k")
    engine = resolve(ModelRef(model="deepseek-chat", key_name="MINE", context=9_000))
    assert isinstance(engine, OpenAI)
    assert (engine.endpoint.key, engine.endpoint.context) == ("k", 9_000)
    assert "deepseek.com" in engine.endpoint.base_url


@pytest.mark.parametrize("by", ["option", "environment"])
def test_the_key_of_a_preset_goes_to_no_other_address(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1" if by == "environment" else "")
    engine = resolve(ModelRef("deepseek-chat", "http://h/v1" if by == "option" else None))
    assert isinstance(engine, OpenAI)
    assert (engine.endpoint.base_url, engine.endpoint.key) == ("http://h/v1", "")


def test_a_missing_key_is_named_before_anything_is_sent() -> None:
    with pytest.raises(Unauthorized, match=r"'deepseek-chat': .* DEEPSEEK_API_KEY is not set"):
        resolve(ModelRef(model="deepseek-chat"))
    with pytest.raises(Unauthorized, match="MINE is not set"):
        resolve(ModelRef(model="deepseek-chat", key_name="MINE"))


def test_a_preset_without_a_key_sends_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    engine = resolve(ModelRef(model="justrl-1.5b"))
    assert isinstance(engine, OpenAI)
    assert (engine.endpoint.model, engine.endpoint.key) == ("hbx/JustRL-DeepSeek-1.5B", "")


@pytest.mark.parametrize(
    ("ref", "name", "context"),
    [
        (ModelRef(), DEFAULT_MODEL, 4_096),
        (ModelRef("mine.gguf"), "mine", 4_096),
        (ModelRef("mine.gguf", context=9), "mine", 9),
        (ModelRef("m", "http://h/v1"), "m", None),
        (ModelRef(None, "http://h/v1", context=7), "", 7),
        (ModelRef("deepseek-chat"), "deepseek-chat", 1_000_000),
    ],
)
def test_the_name_of_a_model_is_known_before_it_is_asked(
    ref: ModelRef, name: str, context: int | None
) -> None:
    assert (served_name(ref), known_context(ref)) == (name, context)


def test_a_model_that_nobody_knows_has_no_name() -> None:
    with pytest.raises(EngineError, match="not in the catalogue"):
        served_name(ModelRef("gpt-7"))


def test_several_addresses_mean_one_engine_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    urls = ["http://a/v1", "http://b/v1", "http://a/v1"]
    ref = ModelRef("m", urls, context=8_000)
    engine = resolve(ref)
    assert isinstance(engine, Balanced)
    assert [one.base_url for one in engine.endpoints] == urls[:2]
    assert {(one.model, one.key, one.context) for one in engine.endpoints} == {("m", "k", 8_000)}
    assert (served_name(ref), known_context(ref), runs_here(ref)) == ("m", 8_000, False)
    assert ref.beside("n") == ModelRef("n", tuple(urls), context=8_000)
    assert hash(ref) == hash(ModelRef("m", tuple(urls[:2]), context=8_000))


def test_one_address_in_a_list_is_one_and_none_is_none() -> None:
    assert ModelRef("m", ["http://a/v1"]) == ModelRef("m", "http://a/v1")
    assert ModelRef("m", ()) == ModelRef("m")
    assert isinstance(resolve(ModelRef("m", ("http://a/v1", "http://a/v1"))), OpenAI)


def test_a_preset_may_list_several_with_a_key_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "models.toml"
    own.write_text('[m]\nbase_url = ["http://a/v1", "http://b/v1"]\nkey_env = ["A_KEY", "B_KEY"]\n')
    monkeypatch.setenv("CFR_MODELS", str(own))
    monkeypatch.setenv("A_KEY", "a-secret")
    with pytest.raises(Unauthorized, match="http://b/v1 takes a key, and B_KEY is not set"):
        resolve(ModelRef("m"))
    monkeypatch.setenv("B_KEY", "b-secret")
    engine = resolve(ModelRef("m"))
    assert isinstance(engine, Balanced)
    assert [one.key for one in engine.endpoints] == ["a-secret", "b-secret"]
    assert "secret" not in repr(engine.endpoints)
    assert {one.model for one in engine.endpoints} == {"m"}
