"""The model that a name means: presets, prices, endpoints, and the method auto."""

from pathlib import Path
from unittest.mock import Mock

import platformdirs
import pytest

from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.solve import solve
from constraint_first.error import InputError
from constraint_first.method.method import MethodError
from constraint_first.method.policy import Calibrated, Policy, Rule
from constraint_first.method.registry import make
from constraint_first.model import resolve as automatic
from constraint_first.model.client import OpenAI
from constraint_first.model.error import EngineError, Unauthorized
from constraint_first.model.limit import Cost, Price, PriceList, sum_costs, write_dollars
from constraint_first.model.local import DEFAULT_MODEL, Local
from constraint_first.model.replicas import Balanced
from constraint_first.model.resolve import (
    ModelRef,
    Preset,
    choose_method,
    find_preset,
    find_price,
    known_context,
    presets,
    price_list,
    resolve,
    runs_here,
    served_name,
    user_file,
)
from constraint_first.model.transport import Endpoint
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion, Exchange, Usage


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("CFR_MODELS", str(path))
    return path


def test_nothing_named_means_the_embedded_model(
    pulled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(resolve(ModelRef()), Local)
    assert pulled == [DEFAULT_MODEL]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    assert isinstance(resolve(ModelRef(model=DEFAULT_MODEL)), Local)
    engine = resolve(ModelRef(model="some/file.gguf", context=999))
    assert isinstance(engine, Local)
    assert (engine.path, engine.context) == (Path("some/file.gguf"), 999)
    assert pulled == [DEFAULT_MODEL] * 2


DEEPSEEK = "https://api.deepseek.com/v1"


@pytest.mark.parametrize(
    ("ref", "environment", "endpoint"),
    [
        (
            ModelRef("m", "http://h/v1", "OTHER", 8_000),
            {"OTHER": "k"},
            Endpoint("http://h/v1", "m", "k", "OTHER", 8_000),
        ),
        (
            ModelRef("deepseek-chat"),
            {"DEEPSEEK_API_KEY": "k", "OPENAI_API_KEY": "other"},
            Endpoint(DEEPSEEK, "deepseek-chat", "k", "DEEPSEEK_API_KEY", 1_000_000),
        ),
        (  # what is said wins over a preset
            ModelRef("deepseek-chat", key_name="MINE", context=9_000),
            {"MINE": "k"},
            Endpoint(DEEPSEEK, "deepseek-chat", "k", "MINE", 9_000),
        ),
        (  # a key of a preset goes to no other address
            ModelRef("deepseek-chat", "http://h/v1"),
            {"DEEPSEEK_API_KEY": "k"},
            Endpoint("http://h/v1", "deepseek-chat"),
        ),
        (
            ModelRef("deepseek-chat"),
            {"DEEPSEEK_API_KEY": "k", "OPENAI_BASE_URL": "http://h/v1"},
            Endpoint("http://h/v1", "deepseek-chat"),
        ),
        (  # a preset without a key sends none
            ModelRef("justrl-1.5b"),
            {"OPENAI_API_KEY": "secret"},
            Endpoint("http://127.0.0.1:8000/v1", "hbx/JustRL-DeepSeek-1.5B", "", ""),
        ),
    ],
)
def test_an_address_or_a_preset_means_an_endpoint(
    ref: ModelRef, environment: dict[str, str], endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    engine = resolve(ref)
    assert isinstance(engine, OpenAI)
    assert engine.endpoint == endpoint


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        (ModelRef("deepseek-chat"), "'deepseek-chat': .* DEEPSEEK_API_KEY is not set"),
        (ModelRef("deepseek-chat", key_name="MINE"), "MINE is not set"),
        (ModelRef("gpt-7"), r"'gpt-7': no \.gguf file .*deepseek-chat.*--base-url"),
    ],
)
def test_a_missing_key_is_named_before_anything_is_sent(ref: ModelRef, said: str) -> None:
    with pytest.raises(EngineError, match=said):
        resolve(ref)


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


def test_several_addresses_mean_one_engine_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    urls = ["http://a/v1", "http://b/v1", "http://a/v1"]
    ref = ModelRef("m", urls, context=8_000)
    engine = resolve(ref)
    assert isinstance(engine, Balanced)
    assert engine.endpoints == tuple(Endpoint(url, "m", "k", context=8_000) for url in urls[:2])
    assert (served_name(ref), known_context(ref), runs_here(ref)) == ("m", 8_000, False)
    assert ref.beside("n") == ModelRef("n", tuple(urls), context=8_000)
    assert hash(ref) == hash(ModelRef("m", tuple(urls[:2]), context=8_000))
    # One address in a list is one, and none is none.
    assert ModelRef("m", urls[:1]) == ModelRef("m", (urls[0], urls[0])) == ModelRef("m", urls[0])
    assert ModelRef("m", ()) == ModelRef("m")


def test_a_preset_may_list_several_with_a_key_each(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.write_text('[m]\nbase_url = ["http://a/v1", "http://b/v1"]\nkey_env = ["A_KEY", "B_KEY"]\n')
    monkeypatch.setenv("A_KEY", "a-secret")
    with pytest.raises(Unauthorized, match="http://b/v1 takes a key, and B_KEY is not set"):
        resolve(ModelRef("m"))
    monkeypatch.setenv("B_KEY", "b-secret")
    engine = resolve(ModelRef("m"))
    assert isinstance(engine, Balanced)
    assert [(one.model, one.key) for one in engine.endpoints] == [
        ("m", "a-secret"),
        ("m", "b-secret"),
    ]
    assert "secret" not in repr(engine.endpoints)


def test_a_users_file_adds_and_overrides_key_by_key(own: Path) -> None:
    own.write_text(
        '["deepseek-chat"]\nprice = { input = 2, cached = 0.5, output = 4 }\n'
        '["my model"]\nbase_url = "http://h/v1"\n'
    )
    deepseek = presets()["deepseek-chat"]
    assert (deepseek.price, deepseek.key_env) == (Price(2, 4, 0.5), "DEEPSEEK_API_KEY")
    assert find_preset("my model") == Preset("my model", base_url="http://h/v1")
    assert find_preset("nothing") is find_preset(None) is None


def test_the_users_folder_is_looked_into(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(platformdirs, "user_config_path", Mock(return_value=tmp_path))
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
        ("[m]\nbase_url = 'me:hush@h/v1'", "'base_url' must be an address that begins with http"),
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
    with pytest.raises(InputError, match=message) as caught:
        presets()
    assert "hush" not in str(caught.value)


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


def test_a_file_that_is_named_must_be_there(own: Path) -> None:
    with pytest.raises(InputError, match=r"CFR_MODELS: there is no file .*mine\.toml; name anoth"):
        presets()
    own.write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        presets()


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


def test_what_tokens_cost() -> None:
    usage = Usage(input=1_000_000, output=500_000, cached=400_000)
    assert Price(2, 4).cost(usage) == pytest.approx(4.0)  # pyright: ignore
    assert Price(2, 4, 0.5).cost(usage) == pytest.approx(3.4)  # pyright: ignore


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0.0, "$0"),
        (1.37, "$1.37"),
        (2.0, "$2.00"),
        (1234.5, "$1,234.50"),
        (0.05, "$0.05"),
        (0.5, "$0.50"),
        (0.0042, "$0.0042"),
        (0.004, "$0.004"),
        (0.000_999_9, "$0.001"),
        (0.000_012_3, "$0.000012"),
        (1e-9, "under $0.000001"),
        (0.999, "$1.00"),
    ],
)
def test_money_is_written_for_people(amount: float, written: str) -> None:
    assert write_dollars(amount) == written


def exchange(usage: Usage, model: str | None = None) -> Exchange:
    return Exchange(
        Call.user("?", stage="direct", max_tokens=9, model=model), Completion("", usage=usage)
    )


def test_each_call_is_priced_by_the_model_that_answered() -> None:
    listed = PriceList(Price(1, 1), {"small": Price(10, 10), "free": None})
    own = exchange(Usage(10**6))
    for other, cost in (
        (exchange(Usage(0, 10**6), "small"), "$11.00"),
        (exchange(Usage(5), "free"), "$1.00+"),
        (exchange(Usage(reported=False)), "$1.00+"),
    ):
        assert str(listed.total([own, other])) == cost
    assert PriceList(None, {"free": None}).total([own]) is None
    assert sum_costs([None, Cost(1.0), Cost(0.5, complete=False)]) == Cost(1.5, complete=False)
    assert sum_costs([None]) is None


@pytest.mark.parametrize("model", ["", "gpt-7", "paper", "unmeasured"])
def test_any_other_model_gets_direct_cot_and_a_line_on_calibration(model: str) -> None:
    choice = choose_method(model)
    assert choice.method == "calibrated(policy=unmeasured)"
    assert "Direct CoT" in choice.why
    assert "cfr calibrate" in choice.why
    chosen = f"calibrated(policy={DEFAULT_MODEL})"
    why = "the policy that comes with the package for this model"
    assert str(choose_method(DEFAULT_MODEL)) == f"auto is {chosen}: {why}"


@pytest.mark.parametrize(
    "model", ["deepseek-chat", "Qwen/Qwen3.5-9B", "hbx/JustRL-DeepSeek-1.5B", "Qwen3.5-35B-A3B-FP8"]
)
def test_the_papers_models_get_its_method_on_problems(model: str) -> None:
    choice = choose_method(model)
    assert choice.method == "calibrated(policy=paper)"
    method = make(choice.method)
    assert isinstance(method, Calibrated)
    chosen = method.choose(Problem("Find the remainder when 7^100 is divided by 13.")).method
    assert chosen == make("routed-cfr(reply=prose)")
    assert method.leaves_alone(Problem("hello"))


@pytest.mark.parametrize("model", ["", "gpt-7", "deepseek-chat", DEFAULT_MODEL])
@pytest.mark.parametrize("text", ["hello", "thanks!", "Write me a poem about tea.", "and why?"])
def test_what_is_no_problem_is_one_plain_call_with_every_model(model: str, text: str) -> None:
    engine = Scripted(["Hi!"])
    solved = solve(text, make(choose_method(model).method), engine=engine)
    (exchange,) = solved.exchanges
    assert [(one.role, one.content) for one in exchange.call.messages] == [("user", text)]
    assert solved.answer == "Hi!"


def ship(monkeypatch: pytest.MonkeyPatch, method: str, *, sandbox: bool) -> None:
    """Ship a policy of one method for every problem, on a machine with or without the sandbox."""
    policy = Policy("m", (Rule((), method),))
    shipped = Calibrated(policy.digest, (make(method),), make("direct"), policy)
    monkeypatch.setattr(automatic, "make", Mock(return_value=shipped))
    monkeypatch.setattr(automatic, "find_spec", Mock(return_value=sandbox))


@pytest.mark.parametrize("method", ["self-consistency(base=program)", "vote", "prove"])
def test_a_policy_that_runs_programs_needs_their_sandbox(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    ship(monkeypatch, method, sandbox=True)
    assert choose_method(DEFAULT_MODEL).method.startswith("calibrated")
    ship(monkeypatch, method, sandbox=False)
    choice = choose_method(DEFAULT_MODEL)
    assert choice.method == "calibrated(policy=unmeasured)"
    assert "pip install 'constraint-first[programs]'" in choice.why
    ship(monkeypatch, "reminder", sandbox=False)
    assert choose_method(DEFAULT_MODEL).method == f"calibrated(policy={DEFAULT_MODEL})"


def test_auto_is_the_default_of_the_library() -> None:
    solved = solve("What is two plus two?", engine=Scripted([r"\boxed{4}"]))
    assert solved.answer == "4"
    assert solved.method == make("calibrated(policy=unmeasured)")
    assert [one.call.stage for one in solved.exchanges] == ["direct"]
    solved = solve("Write of tea, without commas.", engine=Scripted(["Tea, warm tea."]))
    assert solved.solution.details["policy"] == {"rule": 0, "method": "sound(add=off,then=off)"}


def test_auto_is_no_method_by_itself() -> None:
    with pytest.raises(MethodError, match="method 'auto': stands for a method that the model"):
        make("auto")
    with pytest.raises(MethodError, match="method 'auto'"):
        make("self-consistency(base=auto)")
