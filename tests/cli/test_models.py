import json
from pathlib import Path

from .conftest import Run


def test_the_catalogue_is_listed(cfr: Run) -> None:
    for arguments in ((), ("list",)):
        ran = cfr("models", *arguments)
        assert "qwen2.5-coder-1.5b-instruct" in ran.out
        assert "smollm2-135m-instruct" in ran.out
    listed = json.loads(cfr("models", "list", "--json").out)
    assert [entry["present"] for entry in listed] == [False, False]


def test_a_model_that_is_not_there(cfr: Run) -> None:
    ran = cfr("models", "verify", "smollm2-135m-instruct")
    assert ran.code == 3
    assert "not on this machine; run 'cfr models pull'" in ran.err
    assert "was not there" in cfr("models", "remove", "smollm2-135m-instruct").out
    assert "choose from" in cfr("models", "pull", "gpt-7").err


def test_a_model_with_the_wrong_hash(cfr: Run, tmp_path: Path) -> None:
    path = tmp_path / "cache" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF but not really")
    for command in (["models", "verify"], ["models", "pull"], ["solve", "2+2", "--model"]):
        ran = cfr(*command, "smollm2-135m-instruct")
        assert ran.code == 3
        assert "wrong size or SHA-256" in ran.err
        assert "cfr models remove smollm2-135m-instruct" in ran.err
    assert "removed" in cfr("models", "remove", "smollm2-135m-instruct").out
    assert not path.exists()


def test_presets_are_listed_without_their_keys(cfr: Run, tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('[mine]\nbase_url = "http://user:hidden@h/v1?token=hidden"\nkey_env = "MINE"\n')
    environment = {"CFR_MODELS": str(own), "MINE": "hidden", "DASHSCOPE_API_KEY": ""}
    for arguments in ((), ("presets",)):
        ran = cfr("models", *arguments, **environment)
        lines = {line.split()[0]: line for line in ran.out.splitlines() if line.strip()}
        assert "http://h/v1" in lines["mine"]
        assert " yes " in lines["mine"]
        assert " no " in lines["qwen3.5-9b-instruct"]
        assert "not needed" in lines["justrl-1.5b"]
        assert str(own) in ran.out
        assert "hidden" not in ran.out + ran.err
    ran = cfr("models", "presets", "--json", **environment)
    assert "hidden" not in ran.out
    listed = {entry["name"]: entry for entry in json.loads(ran.out)}
    assert listed["mine"]["key_set"] is True
    assert listed["qwen3.5-9b-instruct"]["key_set"] is False
    assert listed["justrl-1.5b"]["key_set"] is None


def test_a_preset_with_several_endpoints_is_listed_with_all(cfr: Run, tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    addresses = '["http://me:hidden@a/v1", "http://b/v1"]'
    own.write_text(f'[mine]\nbase_url = {addresses}\nkey_env = ["A", "B"]\n')
    environment = {"CFR_MODELS": str(own), "A": "hidden"}
    ran = cfr("models", "presets", **environment)
    assert "http://a/v1, http://b/v1" in ran.out
    listed = json.loads(cfr("models", "presets", "--json", **environment).out)
    (mine,) = [entry for entry in listed if entry["name"] == "mine"]
    assert mine["base_url"] == ["http://a/v1", "http://b/v1"]
    assert (mine["key_env"], mine["key_set"]) == (["A", "B"], False)
    assert "hidden" not in ran.out + str(mine)


def test_a_preset_without_its_key_is_refused_in_one_line(cfr: Run) -> None:
    ran = cfr("solve", "2+2", "--model", "deepseek-chat")
    assert ran.code == 3
    assert len(ran.err.strip().splitlines()) == 1
    assert "DEEPSEEK_API_KEY is not set" in ran.err
