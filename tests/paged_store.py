"""A store with three methods on ConstraintBench, made by the real runner on scripted replies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.solve import run_sync
from constraint_first.benchmark.constraintbench.family import Item, load
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

BENCHMARK = "constraintbench-mini"
ITEMS = load("mini")


def make_store(
    path: Path, items: Sequence[Item] = ITEMS, *, runs: int = 2, model: str = "m-1", text: str = ""
) -> str:
    """Run Direct CoT, CFR and a method that runs programs; ``text`` is added to every reply."""
    numbers = {item.text: number for number, item in enumerate(items)}

    def reply(call: Call) -> Completion:
        asked = "\n".join(message.content for message in call.messages)
        found = max((t for t in numbers if t in asked), key=len)
        item, at = items[numbers[found]], numbers[found]
        if call.stage == "stage1":
            return Completion(_spec(item) + text, usage=Usage(120, 60))
        if call.stage == "program":
            source = f"```python\nprint({item.answer!r})\n```"
            return Completion(source + text, usage=Usage(90, 30))
        right = at % 4 != 3 if call.stage == "stage2" else at % 2 == 0
        answer = item.answer if right else item.tempting[0].answer if item.tempting else "-1"
        said = f"Let us see: $1 + 1 = 2$.{text}\n\nThe answer is $\\boxed{{{answer}}}$."
        return Completion(said, usage=Usage(100, 50 + at), reasoning="Hm." if at == 0 else "")

    problems = tuple(item.problem() for item in items)
    with Store(str(path)) as store:
        for method in ("direct", "cfr", "program"):
            series = Series(BENCHMARK, method, model)
            job = prepare(store, series, problems, runs, Scripted(reply))
            run_sync(run(store, [job], 4))
    return str(path)


def _spec(item: Item) -> str:
    raw = [
        {"id": f"C{n}", "type": gold.kind, "description": gold.description}
        for n, gold in enumerate(item.constraints, start=1)
    ]
    derived = [{"id": "P1", "derived_from": ["C1"], "description": "one integer"}]
    return json.dumps({"raw_constraints": raw, "propagated_constraints": derived})
