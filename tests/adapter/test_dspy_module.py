"""DSPy's own package with our module in it, against a real endpoint."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
from loopback import Endpoint, Reply, completion, failure
from served import CUED, PLAIN, SPEC

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # else DSPy fetches a price list
dspy: Any = pytest.importorskip(
    "dspy", reason="DSPy holds openai back and cannot be in the development lock: make recipes"
)

from constraint_first.adapter.dspy_module import ConstraintFirst, LMEngine, grade_answer  # noqa: E402
from constraint_first.attempt.solve import asolve  # noqa: E402

pytestmark = pytest.mark.recipe

KEY = "sk-" + "0123456789abcdef" * 2
SUMS = [
    dspy.Example(question=f"What is {n} + 3?", answer=str(n + 3)).with_inputs("question")
    for n in range(6)
]


def reply(body: dict[str, Any]) -> Reply:
    """Play a model that writes Stage 1 as JSON and is right about sums up to 3 + 3."""
    asked = body["messages"][-1]["content"]
    if "raw_constraints" in asked and "Constraints" not in asked:
        return completion(SPEC)
    for n in range(6):
        if f"{n} + 3" in asked:
            return completion(rf"That is \boxed{{{min(n, 3) + 3}}}.")
    return completion(r"243 = 34 · 7 + 5, so \boxed{5}.")


@pytest.fixture(autouse=True)
def _own_cache() -> None:
    """Keep replies of one test, and of a developer, out of another."""
    dspy.configure_cache(enable_disk_cache=False)


@pytest.fixture
def lm(endpoint: Endpoint) -> Iterator[Any]:
    endpoint.respond = reply
    made = dspy.LM("openai/test-model", api_base=endpoint.url, api_key=KEY, num_retries=0)
    with dspy.context(lm=made, track_usage=True):
        yield made
    made.close()


def test_a_prediction_has_the_answer_and_all_that_led_to_it(lm: Any, endpoint: Endpoint) -> None:
    module = ConstraintFirst("routed-cfr")
    found = module(question=CUED)
    assert (found.answer, found.confidence) == ("5", 0.5)
    assert found.reasoning == r"243 = 34 · 7 + 5, so \boxed{5}."
    assert [check["truth"] for check in found.checks] == ["holds"]
    assert found.constraints["raw_constraints"][0]["description"] == "taken modulo 7"
    assert found.details["method"] == "Routed-CFR"
    assert found.get_lm_usage()["openai/test-model"]["total_tokens"] == 36
    assert len(endpoint.requests) == len(lm.history) == len(module.history) == 2


def test_what_was_asked_before_comes_from_dspys_cache(lm: Any, endpoint: Endpoint) -> None:
    module = ConstraintFirst("routed-cfr")
    first, again = module(question=CUED), module(question=CUED)
    assert again.answer == first.answer
    assert len(endpoint.requests) == 2
    assert again.get_lm_usage() == {}


def test_samples_of_a_vote_are_asked_for_one_by_one(lm: Any, endpoint: Endpoint) -> None:
    with dspy.context(lm=lm.copy(seed=7, temperature=0.5)):
        found = ConstraintFirst("vote(samples=3)")(question=PLAIN)
    assert sorted(body["seed"] for body in endpoint.requests) == [7, 8, 9]
    assert {body["temperature"] for body in endpoint.requests} == {0.5}
    assert found.confidence > 0.9


def test_the_lm_decides_how_long_a_reply_may_be(lm: Any, endpoint: Endpoint) -> None:
    ConstraintFirst("cfr")(question=CUED)
    with dspy.context(lm=lm.copy(max_tokens=300)):
        ConstraintFirst("cfr")(question=CUED)
    limits = [body.get("max_completion_tokens") for body in endpoint.requests]
    assert limits == [1024, None, 300, 300]  # Stage 1 is short by itself
    assert "temperature" not in endpoint.requests[0]


def test_json_is_asked_for_where_dspy_knows_that_the_model_has_it(
    lm: Any, endpoint: Endpoint
) -> None:
    with dspy.context(lm=lm.copy(model="openai/gpt-4o-mini")):
        ConstraintFirst("cfr(json=object)")(question=CUED)
    assert [body.get("response_format") for body in endpoint.requests] == [
        {"type": "json_object"},
        {"type": "json_object"},
    ]


def test_a_running_event_loop_is_no_hindrance(lm: Any, endpoint: Endpoint) -> None:
    other = lm.copy(model="openai/other-model")

    async def notebook() -> tuple[str, str]:
        with dspy.context(lm=other):
            plain = ConstraintFirst("direct")(question=CUED)
            return plain.answer, (await ConstraintFirst("direct").acall(question=CUED)).answer

    assert asyncio.run(notebook()) == ("5", "5")
    assert {body["model"] for body in endpoint.requests} == {"other-model"}
    assert len(other.history) == 2


async def test_it_is_asynchronous_where_its_caller_is(lm: Any, endpoint: Endpoint) -> None:
    found = await ConstraintFirst("routed-cfr").acall(question=CUED)
    assert (found.answer, len(endpoint.requests)) == ("5", 2)
    assert found.get_lm_usage()["openai/test-model"]["total_tokens"] == 36
    await lm.aclose()


async def test_a_stream_ends_with_the_prediction(lm: Any) -> None:
    parts = [part async for part in dspy.streamify(ConstraintFirst("direct"))(question=CUED)]
    assert parts[-1].answer == "5"


def test_auto_is_chosen_by_the_name_of_the_model(lm: Any) -> None:
    assert ConstraintFirst()(question=CUED).details["policy"] == {"rule": 0, "method": "direct"}
    paper = lm.copy(model="openai/Qwen/Qwen3.5-9B")
    with dspy.context(lm=paper):
        assert (
            ConstraintFirst()(question=CUED).details["policy"]["method"]
            == "routed-cfr(reply=prose)"
        )


def test_evaluate_judges_with_our_grader(lm: Any) -> None:
    evaluate = dspy.Evaluate(
        devset=SUMS, metric=grade_answer, num_threads=3, display_progress=False
    )
    assert evaluate(ConstraintFirst("direct")).score == pytest.approx(66.67)
    fraction = dspy.Example(question="Half of one?", answer="0.5")
    assert grade_answer(fraction, dspy.Prediction(answer=r"\frac{1}{2}"))
    assert not grade_answer(fraction, dspy.Prediction(answer=""))


def test_best_of_n_asks_anew_each_time(lm: Any, endpoint: Endpoint) -> None:
    def never_good_enough(arguments: object, found: object) -> float:
        return 0.0

    best = dspy.BestOfN(ConstraintFirst("direct"), 3, never_good_enough, 1.0)
    assert best(question=PLAIN).answer == "5"
    assert len(endpoint.requests) == 3


class Program(dspy.Module):
    """A part that optimizers improve, and one that they leave alone."""

    def __init__(self) -> None:
        self.reword = dspy.Predict("question -> reworded")
        self.solve = ConstraintFirst("direct")

    def forward(self, question: str) -> Any:
        return self.solve(question=question)


def test_an_optimizer_leaves_it_as_it_is(lm: Any) -> None:
    compiled = dspy.BootstrapFewShot(metric=grade_answer).compile(Program(), trainset=SUMS)
    assert [name for name, _ in compiled.named_predictors()] == ["reword"]
    assert compiled(question=CUED).answer == "5"


def test_a_program_sets_its_lm_and_saves_its_method(lm: Any, tmp_path: Any) -> None:
    program, loaded = Program(), Program()
    program.set_lm(lm)
    assert program.get_lm() is program.solve.lm is lm
    program.set_lm(None)
    program.solve.load_state({"method": "cfr(reply=json)"})
    program.save(str(tmp_path / "program.json"))
    loaded.load(str(tmp_path / "program.json"))
    assert loaded.solve.method == "cfr(reply=json)"


def test_thinking_and_an_end_that_came_too_early(lm: Any, endpoint: Endpoint) -> None:
    endpoint.respond = None
    endpoint.script(completion("So it is", "length", reasoning_content="Let me see."))
    solved = asyncio.run(asolve(PLAIN, "direct", engine=LMEngine(lm)))
    assert solved.solution.truncated
    assert solved.exchanges[0].completion.reasoning == "Let me see."
    assert ConstraintFirst("direct")(question=PLAIN).answer == ""


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "LMInvalidRequestError"), (401, "LMAuthError"), (429, "LMRateLimitError"),
     (500, "LMServerError")],
)  # fmt: skip
def test_an_lm_that_fails_fails_as_dspy_says(
    lm: Any, endpoint: Endpoint, status: int, kind: str
) -> None:
    endpoint.respond = None
    endpoint.script(failure(status, "no"))
    with pytest.raises(dspy.LMError) as raised:
        ConstraintFirst("vote(samples=2)")(question=PLAIN)
    assert type(raised.value).__name__ == kind
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("question", ["", " \n", None, 7])
def test_a_question_that_is_none(lm: Any, question: Any) -> None:
    with pytest.raises(ValueError, match="question: "):
        ConstraintFirst("direct")(question=question)


@pytest.mark.parametrize(
    ("name", "said"),
    [("dirct", "did you mean 'direct'"), ("cfr(reply=song)", "reply"), ("", "write it as NAME")],
)
def test_a_method_that_does_not_exist(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said) as raised:
        ConstraintFirst(name)
    assert "\n" not in str(raised.value)
    with pytest.raises(ValueError, match=said):
        ConstraintFirst().load_state({"method": name})


def test_no_lm_and_a_setting_that_no_request_can_hold(lm: Any) -> None:
    with dspy.context(lm=None), pytest.raises(ValueError, match=r"no LM: dspy\.configure"):
        ConstraintFirst("direct")(question=PLAIN)
    with (
        dspy.context(lm=lm.copy(temperature="hot")),
        pytest.raises(ValueError, match="LM 'openai/test-model': "),
    ):
        ConstraintFirst("direct")(question=PLAIN)


def test_another_model_that_nobody_knows_is_one_line(lm: Any) -> None:
    with pytest.raises((RuntimeError, ValueError), match="no-such-model") as raised:
        ConstraintFirst("cfr(extractor=no-such-model)")(question=CUED)
    assert "\n" not in str(raised.value)
