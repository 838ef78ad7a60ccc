"""Replies in OpenAI's format: whole, or chunk by chunk."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import orjson

from constraint_first.answer.extract import extract
from constraint_first.attempt.attempt import Attempt
from constraint_first.attempt.events import stage_title
from constraint_first.constraint.stage1 import read_spec
from constraint_first.constraint.stated.read import read_stated
from constraint_first.file.safe import storable_json, storable_text
from constraint_first.method.constraint_first import Routed
from constraint_first.method.method import Method
from constraint_first.method.policy import Calibrated
from constraint_first.method.sound import read_summary
from constraint_first.problem import Json, Problem, Solution
from constraint_first.protocol import (
    Completion,
    Entry,
    Exchange,
    Output,
    Program,
    Stage,
    Usage,
)
from constraint_first.serve.reading import SHORT
from constraint_first.thinking import without_thinking

DONE: Final = b"data: [DONE]\n\n"
_LONG: Final = 10_000
"""Characters that are searched for an answer while others wait."""
_DETAILS: Final = ("confidence", "cues", "constraints", "checks", "programs")


def finish_reason(made: Attempt) -> str:
    return "length" if made.solution.truncated else "stop"


def message(made: Attempt) -> dict[str, Json]:
    """Write the message: the work as reasoning, the solution as content."""
    solution, exchanges = made.solution, made.exchanges
    last = exchanges[-1] if exchanges else None
    solving = last if last and last.completion.text == solution.text else None
    before = [entry for entry in made.transcript if entry is not solving]
    reasoning = describe_work(made.method, made.problem, solution, before)
    if solving and solving.completion.reasoning:
        reasoning += f"\n\n{solving.completion.reasoning}"
    reasoning = (reasoning + describe_checks(solution)).strip()
    told: dict[str, Json] = {"role": "assistant", "content": storable_text(final_text(solution))}
    return told | ({"reasoning_content": storable_text(reasoning)} if reasoning else {})


def own_part(made: Attempt) -> dict[str, Json]:
    """Write the object ``cfr``, which OpenAI's format does not have."""
    details = dict(made.solution.details)
    named: dict[str, Json] = {name: details.pop(name) for name in _DETAILS if name in details}
    stored: dict[str, Json] = {"problem": made.problem.id, "run": made.run}
    return {
        "method": made.name,
        "label": made.method.label,
        "upstream": made.model,
        "answer": made.answer,
        **_original(made.solution),
        "truncated": made.solution.truncated,
        **named,
        "calls": _calls(made),
        "seconds": round(made.seconds, 3),
        **(made.cost.to_json() if made.cost else {}),
        "details": details,
        **({} if made.run is None else {"stored": stored}),
    }


def _original(solution: Solution) -> dict[str, Json]:
    """Give the answer from before all changes, so that a client can take it instead."""
    summary = read_summary(solution.details, "")
    made = summary.interventions
    # In a vote the changes are those of its samples, and no one answer was there before.
    if not made or summary.samples or made[0].before == solution.answer:
        return {}
    return {"original_answer": made[0].before}


def _calls(solved: Attempt) -> dict[str, Json]:
    counted: dict[str, Json] = {}
    for stage in dict.fromkeys(exchange.call.stage for exchange in solved.exchanges):
        used = [e.completion.usage for e in solved.exchanges if e.call.stage == stage]
        total = sum(used, Usage())
        counted[stage] = {
            "calls": len(used),
            "input_tokens": total.input,
            "output_tokens": total.output,
        }
    return counted


def final_text(solution: Solution) -> str:
    """Write a solution for a reader: its text, and its answer where the text does not say it."""
    text = without_thinking(solution.text).strip()
    if solution.answer is None or solution.is_whole or _says(text, solution.answer):
        return text
    boxed = f"**Answer:** $\\boxed{{{solution.answer}}}$"
    return f"{text}\n\n{boxed}" if text else boxed


def _says(text: str, answer: str) -> bool:
    last = text.rfind("\\boxed{")  # by far the usual way, and quickly seen
    boxed = last >= 0 and text.startswith(f"\\boxed{{{answer}}}", last)
    if boxed or len(text) > _LONG:
        return boxed or answer in text[-_LONG:]
    return extract(text).answer == answer


def usage_json(usage: Usage) -> dict[str, Json]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


class ReplyHead:
    """What all parts of one reply have in common: its id, its time, its model."""

    def __init__(self, model: str, *, include_usage: bool = False) -> None:
        self.id = f"chatcmpl-{secrets.token_hex(12)}"
        self._model = storable_text(model)
        self._created = int(time.time())
        self._end = b',"usage":null}\n\n' if include_usage else b"}\n\n"

    @cached_property
    def _begin(self) -> bytes:
        return b"data: " + orjson.dumps(self._head("chat.completion.chunk"))[:-1]

    def _head(self, kind: str) -> dict[str, Json]:
        return {"id": self.id, "object": kind, "created": self._created, "model": self._model}

    def whole(self, answers: Sequence[Attempt]) -> bytes:
        usage = sum((one.usage for one in answers), Usage())
        first, *_ = answers
        several = len(answers) > 1
        choices: list[Json] = [
            {
                "index": number,
                "message": message(one),
                "logprobs": None,
                "finish_reason": finish_reason(one),
                **({"cfr": own_part(one)} if several else {}),
            }
            for number, one in enumerate(answers)
        ]
        return _dumped(
            self._head("chat.completion")
            | {"choices": choices, "usage": usage_json(usage), "cfr": own_part(first)}
        )

    def role(self, index: int) -> bytes:
        return self._chunk(index, b'{"role":"assistant","content":""}')

    def piece(self, index: int, name: str, text: str) -> bytes:
        words = orjson.dumps(storable_text(text))
        return self._chunk(index, b'{"%b":%b}' % (name.encode(), words))

    def finish(self, index: int, made: Attempt) -> bytes:
        more = b',"cfr":' + _dumped(own_part(made))
        return self._chunk(index, b"{}", orjson.dumps(finish_reason(made)), more)

    def usage(self, usage: Usage) -> bytes:
        last: dict[str, Json] = {"choices": [], "usage": usage_json(usage)}
        return self._begin + b"," + orjson.dumps(last)[1:] + b"\n\n"

    def _chunk(self, index: int, delta: bytes, finish: bytes = b"null", more: bytes = b"") -> bytes:
        choice = b',"choices":[{"index":%d,"delta":%b,"logprobs":null,"finish_reason":%b}]'
        return b"".join((self._begin, choice % (index, delta, finish), more, self._end))


def _dumped(value: Mapping[str, Json]) -> bytes:
    """Write JSON, also of what a method noted and no JSON can hold as it stands."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return storable_json(value).encode()


# The work before an answer, in words: cues, demands, constraints, drafts, programs and checks.

_MARKS: Final = {"holds": "✓", "violated": "✗", "undecided": "?"}


def heading(stage: Stage) -> str:
    return f"\n\n**{stage_title(stage)}**\n\n"


def describe_start(method: Method, problem: Problem) -> str:
    """Say what is known before anything is asked: the policy's choice, cues, stated demands."""
    if len(problem.text) > SHORT:  # it is read elsewhere
        return ""
    demands = [one.sentence for one in read_stated(problem.text)]
    return "\n\n".join((*_choice(method, problem), *_demands(demands)))


def _choice(method: Method, problem: Problem) -> Iterator[str]:
    if len(problem.text) > SHORT:
        return
    if isinstance(method, Calibrated):
        yield f"Policy: {method.explain(problem)}"
        method = method.choose(problem).method
    if isinstance(method, Routed):
        routing = method.route(problem)
        quoted = [
            f"- {cue.family}: {', '.join(f'“{one}”' for one in cue.phrases(problem.text))}"
            for cue in routing.cues
        ]
        yield "\n".join(("Cues:", *quoted)) if quoted else "No restrictive cue."


def _demands(sentences: Iterable[str]) -> Iterator[str]:
    if listed := dict.fromkeys(f"- {sentence}" for sentence in sentences):
        yield "\n".join(("The text demands:", *listed))


def describe_constraints(completion: Completion) -> str:
    recovered = read_spec(completion.text)
    spec = recovered.spec
    listed = [f"- {one.id} ({one.type}): {one.description}" for one in spec.raw_constraints]
    listed += [f"- {one.description}" for one in spec.propagated_constraints]
    if spec.answer_format:
        listed.append(f"- format of the answer: {spec.answer_format}")
    return "\n".join(listed) or f"none ({recovered.rung})"


def describe_output(program: Program, output: Output, *, listed: bool) -> str:
    """Show what a program printed, and the program itself unless a reply has shown it."""
    source = "" if listed else f"```python\n{program.source.rstrip()}\n```\n\n"
    told = output.text.rstrip() + (f"\n{output.error}" if output.error else "")
    return f"\n\n{source}**Output**\n\n```\n{told.strip()}\n```"


def describe_checks(solution: Solution) -> str:
    """Say which demands of the text an answer meets."""
    summary = read_summary(solution.details, "")
    lines = [f"- {_MARKS[one.truth]} {one.sentence}" for one in summary.checks]
    lines += [f"- {one}" for one in summary.conflicts]
    if not solution.is_whole:  # the drafts of a whole reply are told before
        lines += [
            f"- {one.what}: {one.before} → {one.after}"
            + (f", because of {one.because}" if one.words else "")
            for one in summary.interventions
        ]
    if not lines:
        return ""
    checked = "reply" if solution.is_whole else f"answer {solution.answer or '(none)'}"
    return "\n".join((f"\n\n**Checks of the {checked}**\n", *lines))


def describe_work(
    method: Method, problem: Problem, solution: Solution, entries: Iterable[Entry]
) -> str:
    """Tell the whole of some work, from its start on; the solution has what the text demands."""
    demands = (one.sentence for one in read_summary(solution.details, problem.text).checks)
    start = "\n\n".join((*_choice(method, problem), *_demands(demands)))
    told, programs = [start], list[str]()
    for entry in entries:
        if isinstance(entry, Exchange):
            reply = entry.completion
            is_list = entry.call.stage == "stage1"
            said = describe_constraints(reply) if is_list else reply.text.strip()
            told.append(
                heading(entry.call.stage) + "\n\n".join(filter(None, (reply.reasoning, said)))
            )
            programs.append(reply.text)
        else:
            source = entry.program.source.strip()
            listed = any(source in one for one in programs)
            told.append(describe_output(entry.program, entry.output, listed=listed))
    return "".join(told).strip()
