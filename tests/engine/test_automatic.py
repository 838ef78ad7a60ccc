from importlib.machinery import ModuleSpec
from importlib.util import find_spec

import pytest

from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.solve import solve
from constraint_first.method.method import MethodError
from constraint_first.method.policy import Calibrated, Policy, Rule
from constraint_first.method.registry import make
from constraint_first.model import resolve as automatic
from constraint_first.model.pull import DEFAULT_MODEL
from constraint_first.model.resolve import choose_for, choose_method
from constraint_first.problem import Problem


def test_a_model_with_a_policy_of_the_package_gets_it() -> None:
    choice = choose_method(DEFAULT_MODEL)
    assert choice.method == f"calibrated(policy={DEFAULT_MODEL})"
    assert str(choice) == (
        f"auto is calibrated(policy={DEFAULT_MODEL}): "
        "the policy that comes with the package for this model"
    )


@pytest.mark.parametrize("model", ["", "gpt-7", "paper", "unmeasured"])
def test_any_other_model_gets_direct_cot_and_a_line_on_calibration(model: str) -> None:
    choice = choose_method(model)
    assert choice.method == "calibrated(policy=unmeasured)"
    assert "Direct CoT" in choice.why
    assert "cfr calibrate" in choice.why


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


def test_the_library_replies_to_a_request() -> None:
    solved = solve("Write of tea, without commas.", engine=Scripted(["Tea, warm tea."]))
    assert solved.solution.details["policy"] == {"rule": 0, "method": "sound(add=off,then=off)"}


def test_an_engine_is_asked_for_its_models_name() -> None:
    assert choose_for(object()).method == "calibrated(policy=unmeasured)"
    assert choose_for(Scripted([])).method == "calibrated(policy=unmeasured)"


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
    assert choice.method == "calibrated(policy=unmeasured)"
    assert "pip install 'constraint-first[programs]'" in choice.why


def test_without_programs_no_sandbox_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    ship(monkeypatch, "reminder", sandbox=False)
    assert choose_method(DEFAULT_MODEL).method.startswith("calibrated")


def test_auto_is_the_default_of_the_library() -> None:
    solved = solve("What is two plus two?", engine=Scripted([r"\boxed{4}"]))
    assert solved.answer == "4"
    assert solved.method == make("calibrated(policy=unmeasured)")
    assert [one.call.stage for one in solved.exchanges] == ["direct"]


def test_auto_is_no_method_by_itself() -> None:
    with pytest.raises(MethodError, match="method 'auto': stands for a method that the model"):
        make("auto")
    with pytest.raises(MethodError, match="method 'auto'"):
        make("self-consistency(base=auto)")
