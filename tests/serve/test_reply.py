import json
from typing import Any

from constraint_first.attempt.attempt import Attempt
from constraint_first.method.baselines import Direct
from constraint_first.method.registry import make
from constraint_first.method.soundness import mended, stated_in
from constraint_first.model.resolve import Cost
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import Call, Completion, Entry, Exchange, Usage
from constraint_first.serve.reply import ReplyHead, final_text, message, own_part, usage_json

PROBLEM = Problem("Find the remainder when $3^5$ is divided by 7.", id="p")


def exchange(stage: str, text: str, **more: Any) -> Exchange:
    reply = Completion(text, usage=Usage(10, 5, 2, 3), **more)
    return Exchange(Call.user("?", stage=stage, max_tokens=9), reply)


def answered(solution: Solution, *transcript: Entry, **more: Any) -> Attempt:
    more |= {"name": "direct", "model": "m", "run": 0}
    return Attempt(PROBLEM, Direct(), solution, transcript, 1.23456, **more)


def test_a_solution_says_its_answer() -> None:
    assert final_text(Solution("5", r"So \boxed{5}.")) == r"So \boxed{5}."
    printed = final_text(Solution("5", "```python\nprint(5)\n```"))
    assert printed.endswith("\n\n**Answer:** $\\boxed{5}$")
    assert final_text(Solution("6", r"So \boxed{5}.")).endswith(r"$\boxed{6}$")
    assert final_text(Solution(None, "I do not know.")) == "I do not know."
    twice = r"First \boxed{5}, no, \boxed{7}."
    assert final_text(Solution("7", twice)) == twice
    assert final_text(Solution("5", twice)).endswith(r"$\boxed{5}$")
    assert final_text(Solution("5", "")) == "**Answer:** $\\boxed{5}$"


def test_the_reply_that_became_the_content_is_not_repeated() -> None:
    text = r"So \boxed{5}."
    steps = exchange("draft", "a draft"), exchange("revise", text, reasoning="Hm.")
    told = message(answered(Solution("5", text), *steps))
    assert told["content"] == text
    reasoning = str(told["reasoning_content"])
    assert "a draft" in reasoning
    assert reasoning.endswith("Hm.")
    assert text not in reasoning


def test_a_reply_without_work_has_no_reasoning() -> None:
    plain = Attempt(
        Problem("Compute."), Direct(), Solution("5", "5"), (exchange("direct", "5"),), 1
    )
    assert "reasoning_content" not in message(plain)


def test_the_object_that_only_we_tell() -> None:
    details: dict[str, Json] = {"confidence": 0.5, "checks": [], "how": "boxed"}
    solution = Solution("5", "5", truncated=True, details=details)
    twice = (exchange("direct", "4"), exchange("direct", "5"), exchange("check", "5"))
    told = own_part(answered(solution, *twice, cost=Cost(0.25)))
    assert told["calls"] == {
        "direct": {"calls": 2, "input_tokens": 20, "output_tokens": 10},
        "check": {"calls": 1, "input_tokens": 10, "output_tokens": 5},
    }
    named = ("method", "label", "upstream", "answer", "truncated", "confidence", "checks")
    assert [told[name] for name in named] == ["direct", "Direct CoT", "m", "5", True, 0.5, []]
    assert (told["details"], told["stored"]) == ({"how": "boxed"}, {"problem": "p", "run": 0})
    assert told["seconds"] == 1.235
    assert any("0.25" in str(value) for value in told.values())


def test_the_answer_from_before_a_repair_is_told_with_the_words_it_rests_on() -> None:
    repaired = mended(stated_in(PROBLEM), Solution("243", r"\boxed{243}"), PROBLEM.text)
    told = own_part(answered(repaired))
    assert (told["answer"], told["original_answer"]) == ("5", "243")
    reasoning = str(message(answered(repaired))["reasoning_content"])
    assert "- repair: 243 → 5, because of “Find the remainder when $3^5$ is divided by 7”" in (
        reasoning
    )
    assert "original_answer" not in own_part(answered(Solution("5", r"\boxed{5}")))


def test_a_whole_reply() -> None:
    one = answered(Solution("5", "5"), exchange("direct", "5"))
    whole = json.loads(ReplyHead("direct@m").whole([one]))
    assert whole["object"] == "chat.completion"
    assert whole["id"].startswith("chatcmpl-")
    assert whole["usage"]["total_tokens"] == 15
    assert whole["usage"] == usage_json(Usage(10, 5, 2, 3))
    assert whole["cfr"]["answer"] == "5"
    assert "cfr" not in whole["choices"][0]
    several = json.loads(ReplyHead("direct@m").whole([one, one]))
    assert [choice["index"] for choice in several["choices"]] == [0, 1]
    assert several["usage"]["completion_tokens"] == 10
    assert several["choices"][1]["cfr"] == whole["cfr"] == several["cfr"]


def test_chunks() -> None:
    head = ReplyHead('a "quoted"\ud800 name', include_usage=True)
    one = answered(Solution("5", "5", truncated=True), exchange("direct", "5"))
    chunks = (
        head.role(0),
        head.piece(1, "content", 'say "hi"\n\ud800\0'),
        head.finish(1, one),
        head.usage(Usage(1, 2)),
    )
    role, piece, finish, usage = (json.loads(chunk.removeprefix(b"data: ")) for chunk in chunks)
    assert all(chunk.endswith(b"}\n\n") for chunk in chunks)
    assert {one["id"] for one in (role, piece, finish, usage)} == {head.id}
    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert piece["choices"][0] == {
        "index": 1, "delta": {"content": 'say "hi"\n��'}, "logprobs": None, "finish_reason": None,
    }  # fmt: skip
    assert finish["choices"][0]["finish_reason"] == "length"
    assert finish["cfr"]["answer"] == "5"
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 3)
    assert [one["usage"] for one in (role, piece, finish)] == [None] * 3
    assert b"usage" not in ReplyHead("m").role(0)


def test_what_a_method_noted_and_no_json_can_hold_is_told_all_the_same() -> None:
    odd: Any = {"huge": 2**80, "half": "\ud800"}
    one = answered(Solution("5", "5", details=odd), exchange("direct", "5"))
    told = json.loads(ReplyHead("m").whole([one]))
    assert told["cfr"]["details"]["huge"] == str(2**80)
    assert make("direct").label == told["cfr"]["label"]
