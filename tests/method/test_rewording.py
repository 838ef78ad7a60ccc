from dataclasses import dataclass
from importlib.resources import files
from typing import ClassVar

import pytest

from constraint_first.method.baselines import Direct
from constraint_first.method.constraint_first import Routed
from constraint_first.method.policy import Calibrated
from constraint_first.method.registry import (
    METHODS,
    Wording,
    make,
    original_prompts,
    plain_name,
    prompt_users,
    reword,
    worded_name,
)
from constraint_first.problem import Problem, Prompt, Solution
from constraint_first.protocol import Call, Run, Steps, ask
from constraint_first.store.series import all_probe_calls


def own(*names: str) -> Wording:
    """Begin each prompt with words of one's own."""
    known = original_prompts()
    texts = {name: f"OWN {known[name].text}" for name in names}
    return Wording("mine", tuple(Prompt(*one, replaced=True) for one in texts.items()))


def first_prompt(method: object, text: str = "What is 1 + 1?") -> str:
    assert isinstance(method, Direct | Routed)
    run = Run(method.solve(Problem(text)))
    return run.calls[0].messages[0].content


def test_every_prompt_file_belongs_to_a_method() -> None:
    folders = (files(f"constraint_first.{one}") / "prompts" for one in ("constraint", "method"))
    names = {one.name.removesuffix(".txt") for folder in folders for one in folder.iterdir()}
    assert names == {*original_prompts()}
    assert all(prompt_users().values())


@pytest.mark.parametrize("name", METHODS)
def test_own_prompts_reach_every_call_and_the_method_itself_is_left_alone(name: str) -> None:
    method = make(name)
    before = [call.messages for call in all_probe_calls(method)]
    reworded = reword(method, own(*original_prompts()))
    asked = [*all_probe_calls(reworded)]
    assert asked
    assert all("OWN " in message.content for call in asked for message in call.messages[:1])
    assert [call.messages for call in all_probe_calls(method)] == before
    assert reworded != method
    assert reworded.label == method.label
    assert repr(reworded) == repr(method)


def test_two_wordings_live_side_by_side() -> None:
    plain, one = make("direct"), reword(make("direct"), own("direct"))
    other = reword(one, Wording("b", (Prompt("direct", "[[problem]] Go!", replaced=True),)))
    assert first_prompt(one).startswith("OWN Solve")
    assert first_prompt(other) == "What is 1 + 1? Go!"
    assert first_prompt(plain).startswith("Solve")
    text = "What is [[problem]] {problem} [[tokens]]?"  # what is filled in is never a template
    assert text in first_prompt(one, text)


@pytest.mark.parametrize(
    ("name", "prompt", "changes"),
    [
        ("cfr-brief", "stage1", True),
        ("cfr-brief", "stage1-paper", False),
        ("cfr", "stage1", False),
        ("cfr", "stage2-paper-json", True),
        ("cfr-brief", "stage2-json", False),
        ("cfr-brief", "clarify", False),
        ("cfr-brief(question=1)", "clarify", True),
        ("routed-cfr", "direct", True),
        ("stated-cfr", "stage1", False),
        ("stated-cfr", "stage2-prose", True),
        ("stated-cfr(own=join)", "stage1", True),
        ("program", "program-thinking", False),
        ("program(style=thinking)", "program-thinking", True),
        ("program(style=short)", "program-short", True),
        ("program(style=short)", "program", False),
        ("program", "told", False),
        ("program(tell=stated)", "told", True),
        ("vote(base=program+cfr-brief)", "stage1", True),
        ("reminder", "direct", False),
    ],
)
def test_a_method_that_asks_with_none_of_them_stays_what_it_is(
    name: str, prompt: str, changes: bool
) -> None:
    method = make(name)
    assert (reword(method, own(prompt)) is not method) == changes


def test_a_policy_is_reworded_with_its_rules_kept() -> None:
    method = make("calibrated")
    reworded = reword(method, own("direct"))
    assert isinstance(method, Calibrated)
    assert isinstance(reworded, Calibrated)
    assert reworded.policy is method.policy
    assert first_prompt(reworded.otherwise).startswith("OWN")


@dataclass(frozen=True)
class Brought:
    """A method of another package, with a prompt of the same name and one of its own."""

    label: ClassVar[str] = "Brought"
    prompts: tuple[Prompt, ...] = (Prompt("direct", "[[text]]"), Prompt("extra", "[[problem]]"))

    def solve(self, problem: Problem) -> Steps[Solution]:
        asked = Call.user(self.prompts[1].fill(problem=problem.text), stage="x", max_tokens=1)
        return Solution((yield from ask(asked)).text, "")


def test_a_method_of_another_package_has_its_prompts_replaced_where_the_places_fit() -> None:
    extra = Prompt("extra", "Now: [[problem]]", replaced=True)
    wording = Wording("mine", (*own("direct").prompts, extra))
    assert reword(Brought(), wording).prompts == (Prompt("direct", "[[text]]"), extra)


@pytest.mark.parametrize(
    ("plain", "worded"),
    [
        ("direct", "direct(wording=mine)"),
        ("cfr(reply=json)", "cfr(reply=json,wording=mine)"),
        ("vote(base=cfr(reply=json)+direct)", "vote(base=cfr(reply=json)+direct,wording=mine)"),
        ("Direct(budget=1)", "Direct(budget=1,wording=mine)"),
    ],
)
def test_a_reworded_method_is_called_so(plain: str, worded: str) -> None:
    assert worded_name(plain, Wording("mine", ())) == worded
    assert plain_name(worded) == plain
    assert plain_name(plain) == plain
