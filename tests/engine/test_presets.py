from pathlib import Path

import platformdirs
import pytest

from constraint_first.error import InputError
from constraint_first.model.pull import DEFAULT_MODEL, catalogue
from constraint_first.model.resolve import (
    Preset,
    Price,
    find_preset,
    find_price,
    presets,
    price_list,
    user_file,
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("CFR_MODELS", str(path))
    return path


def test_the_models_of_the_paper_have_presets() -> None:
    labels = {name: preset.label for name, preset in presets().items()}
    assert labels["deepseek-chat"] == "DeepSeek-V4-Pro"
    assert labels["qwen3.5-9b-instruct"] == "Qwen3.5-9B"
    assert labels["qwen3.5-35b-a3b-instruct"] == "Qwen3.5-35B-A3B"
    assert labels["justrl-1.5b"] == "JustRL-1.5B"


def test_the_embedded_model_runs_here() -> None:
    preset = presets()[DEFAULT_MODEL]
    assert preset.base_url == ""
    assert preset.context == catalogue()[DEFAULT_MODEL].context


def test_a_users_file_adds_and_overrides_key_by_key(own: Path) -> None:
    own.write_text(
        '["deepseek-chat"]\nprice = { input = 2, cached = 0.5, output = 4 }\n'
        '["my model"]\nbase_url = "http://h/v1"\n'
    )
    deepseek = presets()["deepseek-chat"]
    assert deepseek.price == Price(2, 4, 0.5)
    assert deepseek.key_env == "DEEPSEEK_API_KEY"
    assert find_preset("my model") == Preset("my model", base_url="http://h/v1")
    assert find_preset("nothing") is None
    assert find_preset(None) is None


def test_the_users_folder_is_looked_into(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def config(_name: str) -> Path:
        return tmp_path

    monkeypatch.setattr(platformdirs, "user_config_path", config)
    assert user_file() is None
    (tmp_path / "models.toml").write_text('[mine]\nlabel = "Mine"\n')
    assert presets()["mine"].label == "Mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label = 3", r"mine\.toml: 'label' must be a table, headed \[\"NAME\"\], not 3"),
        ("[m]\nlabel", r"mine\.toml: not TOML"),
        ("[m]\nkey = 'x'", r"mine\.toml: \[\"m\"\]: there is no 'key'; did you mean 'key_env'\?"),
        ("[m]\nzzz = 'x'", "there is no 'zzz'; choose from label, base_url"),
        ("[m]\nlabel = 3", "'label' must be a text, not 3"),
        ("[m]\nbase_url = 'h/v1'", "'base_url' must be an address that begins with http"),
        ("[m]\nbase_url = []", "'base_url' must be a text or a list of texts, not"),
        (
            "[m]\nbase_url = ['http://me:hush@h', 3]",
            "'base_url' must be a text or a list of texts$",
        ),
        ("[m]\nbase_url = ['http://h', 'h']", "'base_url' must be an address that begins"),
        (
            "[m]\nbase_url = ['http://a', 'http://b']\nkey_env = ['A', 'B', 'C']",
            r"\[\"m\"\]: 'key_env' lists 3, and 'base_url' 2; name one variable for all",
        ),
        ("[m]\ncontext = true", "'context' must be a whole number of tokens, not True"),
        ("[m]\ncontext = 0", "'context' must be a whole number of tokens, not 0"),
        ("[m]\nreasons = 'yes'", "'reasons' must be true or false, not 'yes'"),
        ("[m]\nprice = 3", "'price' must be { input = …, cached = …, output = … }, not 3"),
        ("[m]\nprice = { input = 3 }", "price: needs 'output', dollars for a million tokens"),
        ("[m]\nprice = { input = -1, output = 1 }", "price: 'input' must be dollars"),
        (
            "[m]\nprice = { inputs = 1, output = 1 }",
            "price: there is no 'inputs'; did you mean 'input'",
        ),
    ],
)
def test_a_mistake_is_named_with_file_and_key(own: Path, text: str, message: str) -> None:
    own.write_text(text)
    with pytest.raises(InputError, match=message):
        presets()


def test_several_endpoints_have_one_key_or_one_each(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = 'base_url = ["http://me:hush@a/v1", "http://b/v1"]\n'
    own.write_text(
        f'[one]\n{addresses}key_env = "A"\n[none]\n{addresses}'
        f'[each]\n{addresses}key_env = ["A", "B"]\n'
    )
    one, none, each = (presets()[name] for name in ("one", "none", "each"))
    assert [key for _, key in one.endpoints] == ["A", "A"]
    assert each.endpoints == [("http://me:hush@a/v1", "A"), ("http://b/v1", "B")]
    assert none.endpoints[1] == ("http://b/v1", "")
    assert one.shown == "http://a/v1, http://b/v1"
    monkeypatch.setenv("A", "k")
    assert (one.has_key, none.has_key, each.has_key) == (True, None, False)
    assert each.key_names == ["A", "B"]


def test_a_mistake_in_an_address_shows_no_password(own: Path) -> None:
    own.write_text("[m]\nbase_url = 'me:hush@h/v1'")
    with pytest.raises(InputError, match="'base_url' must be an address that begins") as caught:
        presets()
    assert "hush" not in str(caught.value)


def test_a_file_that_is_named_must_be_there(own: Path) -> None:
    with pytest.raises(
        InputError, match=r"CFR_MODELS: there is no file .*mine\.toml; name another"
    ):
        presets()
    own.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        presets()


def test_whether_a_key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Preset("m").has_key is None
    assert Preset("m", key_env="MINE").has_key is False
    monkeypatch.setenv("MINE", "k")
    assert Preset("m", key_env="MINE").has_key is True


def test_a_price_is_found_by_either_name_of_a_model(own: Path) -> None:
    own.write_text(
        '["mine"]\nmodel = "org/served"\nprice = { input = 1, output = 2 }\n'
        '["free"]\nmodel = "org/free"\n'
    )
    assert find_price("mine") == find_price("org/served") == Price(1, 2)
    assert find_price("org/free") is find_price("else") is find_price(None) is None
    listed = price_list("free", ["mine"])
    assert (listed.main, listed.others, listed.has_prices) == (None, {"mine": Price(1, 2)}, True)
    assert not price_list("free").has_prices
