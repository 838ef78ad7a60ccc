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
