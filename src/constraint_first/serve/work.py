"""The work before an answer, in words: cues, demands, constraints, drafts, programs and checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from constraint_first.constraint.recovery import read_spec
from constraint_first.constraint.stated import read_stated
from constraint_first.engine.ordered_watcher import stage_title
from constraint_first.method import Method, Routed
from constraint_first.method.calibrated import Calibrated
from constraint_first.method.check_summary import read_summary
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Entry, Exchange, Output, Program, Stage
from constraint_first.serve.reading import SHORT

__all__ = [
    "describe_checks",
    "describe_constraints",
    "describe_output",
    "describe_start",
    "describe_work",
    "heading",
]

_MARKS: Final = {"holds": "✓", "violated": "✗", "undecided": "?"}


def heading(stage: Stage) -> str:
    """Head a stage."""
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
    """List what Stage 1 found."""
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
