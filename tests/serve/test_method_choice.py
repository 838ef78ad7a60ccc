from pathlib import Path

import pytest

from cfr.method.registry import MethodError
from cfr.serve import method_choice
from cfr.serve.error_reply import RequestError
from cfr.serve.method_choice import MethodChoice

CHOICE = MethodChoice(("auto", "vote(samples=5)"), 8)


def test_a_method_is_made_once_and_known_by_its_family() -> None:
    first = CHOICE.choose("cfr(reply=json)", "m")
    assert (first.name, first.family, first.samples) == ("cfr(reply=json)", "cfr", 1)
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
    for name, attempts in (("vote(samples=9)", 1), ("vote(samples=4)", 3), ("direct", 9)):
        with pytest.raises(RequestError, match="more than the 8"):
            CHOICE.choose(name, "m", attempts)
    assert CHOICE.choose("vote(samples=4)", "m", 2).samples == 4


def test_whoever_starts_the_server_may_name_anything() -> None:
    own = ("cfr(extractor=gpt-4o)", "vote(samples=9)")
    choice = MethodChoice(own, 8)
    assert choice.other_models == ("gpt-4o",)
    assert choice.choose(own[0], "m").others == ("gpt-4o",)
    assert choice.choose(own[1], "m").samples == 9
    with pytest.raises(RequestError, match="18 samples"):
        choice.choose(own[1], "m", 2)


def test_names_that_are_made_up_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_choice, "_KEPT", 2)
    choice = MethodChoice(("auto",), 8)
    first = choice.choose("direct", "m")
    for rounds in range(5):
        choice.choose(f"extended(rounds={rounds})", "m")
        choice.choose("auto", f"model-{rounds}")
    assert choice.choose("direct", "m") is not first
