from importlib.machinery import ModuleSpec
from importlib.util import find_spec

import pytest

from cfr.engine import automatic
from cfr.engine.automatic import choose_for, choose_method
from cfr.engine.catalogue import DEFAULT_MODEL
from cfr.engine.scripted import Scripted
from cfr.engine.solve import solve
from cfr.method import make
from cfr.method.calibrated import Calibrated
from cfr.method.policy import Policy, Rule
from cfr.method.registry import MethodError


def test_a_model_with_a_policy_of_the_package_gets_it() -> None:
    choice = choose_method(DEFAULT_MODEL)
    assert choice.method == f"calibrated(policy={DEFAULT_MODEL})"
    assert str(choice) == (
        f"auto is calibrated(policy={DEFAULT_MODEL}): "
        "the policy that comes with the package for this model"
    )


@pytest.mark.parametrize("model", ["", "gpt-7"])
def test_any_other_model_gets_routed_cfr(model: str) -> None:
    choice = choose_method(model)
    assert choice.method == "routed-cfr"
    assert "cfr calibrate" in choice.why


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("Find the remainder when 7^100 is divided by 13.", "routed-cfr"),
        ("Write me a poem about tea.", "plain"),
        ("Write me a poem about tea, without commas.", "sound(then=off)"),
    ],
)
def test_a_request_for_a_text_is_no_problem_to_solve(text: str, method: str) -> None:
    choice = choose_for(Scripted([]), text)
    assert choice.method == method
    assert ("this request demands" in choice.why) == (method != "routed-cfr")


def test_a_policy_decides_about_requests_by_itself() -> None:
    assert choose_method(DEFAULT_MODEL, "demand") == choose_method(DEFAULT_MODEL, "problem")


def test_the_library_replies_to_a_request() -> None:
    solved = solve("Write of tea, without commas.", engine=Scripted(["Tea, warm tea."]))
    assert solved.method == make("sound(then=off)")
    assert "," not in (solved.answer or ",")


def test_an_engine_is_asked_for_its_models_name() -> None:
    assert choose_for(object()).method == "routed-cfr"
    assert choose_for(Scripted([])).method == "routed-cfr"


def ship(monkeypatch: pytest.MonkeyPatch, method: str, *, sandbox: bool) -> None:
    """Ship a policy of one method for every problem, on a machine with or without the sandbox."""
    policy = Policy("m", (Rule((), method),))
    shipped = Calibrated(policy.digest, (make(method),), make("direct"), policy)

    def find(_: str) -> ModuleSpec | None:
        return find_spec("os") if sandbox else None

    def made(_: str) -> Calibrated:
        return shipped

    monkeypatch.setattr(automatic, "make", made)
    monkeypatch.setattr(automatic, "find_spec", find)


@pytest.mark.parametrize("method", ["self-consistency(base=program)", "vote", "prove"])
def test_a_policy_that_runs_programs_needs_their_sandbox(
    monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    ship(monkeypatch, method, sandbox=True)
    assert choose_method(DEFAULT_MODEL).method.startswith("calibrated")
    ship(monkeypatch, method, sandbox=False)
    choice = choose_method(DEFAULT_MODEL)
    assert choice.method == "routed-cfr"
    assert "pip install 'constraint-first[programs]'" in choice.why


def test_without_programs_no_sandbox_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, "reminder", sandbox=False)
    assert choose_method(DEFAULT_MODEL).method.startswith("calibrated")


def test_auto_is_the_default_of_the_library() -> None:
    solved = solve("What is two plus two?", engine=Scripted([r"\boxed{4}"]))
    assert solved.answer == "4"
    assert solved.method == make("routed-cfr")


def test_auto_is_no_method_by_itself() -> None:
    with pytest.raises(MethodError, match="method 'auto': stands for a method that the model"):
        make("auto")
    with pytest.raises(MethodError, match="method 'auto'"):
        make("self-consistency(base=auto)")
