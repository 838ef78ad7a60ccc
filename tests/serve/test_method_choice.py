from pathlib import Path

import pytest

from constraint_first.method.method import MethodError
from constraint_first.serve import request as method_choice
from constraint_first.serve.request import MethodChoice
from constraint_first.serve.setting import RequestError

CHOICE = MethodChoice(("auto", "vote(samples=5)"), 8)


def test_a_method_is_made_once_and_known_by_its_family() -> None:
    first = CHOICE.choose("cfr(reply=json)", "m")
    assert (first.name, first.family) == ("cfr(reply=json)", "cfr")
    assert CHOICE.choose("cfr(reply=json)", "other") is first


def test_auto_is_what_measured_best_on_the_model() -> None:
    assert CHOICE.choose("auto", "nobody-knows-it").name == "calibrated(policy=unmeasured)"
    assert CHOICE.choose("auto", "Qwen/Qwen3.5-9B").name == "calibrated(policy=paper)"
    shipped = CHOICE.choose("auto", "qwen2.5-coder-1.5b-instruct")
    assert shipped.family == "calibrated"


def test_a_mistake_in_the_servers_own_methods_shows_at_once() -> None:
    with pytest.raises(MethodError, match="did you mean 'direct'"):
        MethodChoice(("dirct",), 8).check()
    CHOICE.check()


def test_what_a_client_may_not_name(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    for name in (f"calibrated(policy={policy})", f"checked(base=calibrated(policy='{policy}'))"):
        with pytest.raises(RequestError, match="policy files"):
            CHOICE.choose(name, "m")
    for name in ("cfr(extractor=gpt-4o)", "checked(base=llm-router(model=x))"):
        with pytest.raises(RequestError, match="other models"):
            CHOICE.choose(name, "m")
    for name in (
        "vote(samples=9)",
        "self-refine(iterations=999999999)",
        "self-consistency(base=self-consistency(samples=3),samples=3)",
        "prove(base=checked(base=self-consistency(samples=4)),samples=4)",
    ):
        with pytest.raises(RequestError, match=r"more than the 8 calls .*--max-calls"):
            CHOICE.choose(name, "m")
    with pytest.raises(RequestError, match="n=9 needs more than the 8"):
        CHOICE.choose("direct", "m", 9)
    assert CHOICE.choose("self-consistency(samples=8)", "m").family == "self-consistency"


@pytest.mark.parametrize(
    "name",
    [
        "calibrated(policy=/etc/passwd)",
        "calibrated(policy=../../../etc/passwd)",
        "calibrated(policy='/etc/passwd')",
        "checked(base=calibrated(policy=~/secret))",
        "direct(" * 400,
        "self-refine(iterations=" + "9" * 5_000 + ")",
        "self-consistency(samples=99999999)",
        "\ud800",
    ],
)
def test_names_that_cannot_be_made_are_refused_in_words(name: str) -> None:
    with pytest.raises((RequestError, MethodError)) as refused:
        CHOICE.choose(name, "m")
    assert "\n" not in str(refused.value)


def test_whoever_starts_the_server_may_name_anything_that_can_end() -> None:
    own = ("cfr(extractor=gpt-4o)",)
    choice = MethodChoice(own, 8)
    assert choice.other_models == ("gpt-4o",)
    assert choice.choose(own[0], "m").others == ("gpt-4o",)
    with pytest.raises(RequestError, match="--max-calls"):
        MethodChoice(("self-consistency(samples=9)",), 8).check()


def test_names_that_are_made_up_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_choice, "_KEPT", 2)
    choice = MethodChoice(("auto",), 8)
    first = choice.choose("direct", "m")
    for rounds in range(5):
        choice.choose(f"extended(rounds={rounds})", "m")
        choice.choose("auto", f"model-{rounds}")
    assert choice.choose("direct", "m") is not first


def test_a_method_that_costs_too_much_is_played_through_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played: list[int] = []

    def too_many(_: object, most: int) -> bool:
        played.append(most)
        return True

    monkeypatch.setattr(method_choice, "needs_more_calls", too_many)
    choice = MethodChoice(("auto",), 8)
    for _ in range(3):
        with pytest.raises(RequestError, match="needs more than the 8 calls"):
            choice.choose("self-refine(iterations=99)", "m")
    assert played == [8]
