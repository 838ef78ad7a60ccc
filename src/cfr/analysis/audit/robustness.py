"""The same methods under other decodings, and the settings of every row.

Paper: appendix Implementation Details, "Robustness Across Decoding Settings" and "API
Configuration".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cfr.analysis.notation import NONE, decimal, interval, several
from cfr.analysis.statistics.score import Score, score
from cfr.analysis.statistics.subset import BASELINE, Gain
from cfr.analysis.statistics.subset import ModelPairs as Sides
from cfr.analysis.study.decoding import describe, read_decoding, shorten, tell_apart
from cfr.analysis.study.study import Arm, Study, benchmark_label, model_label
from cfr.analysis.table.gain import gain_cell
from cfr.analysis.table.table import Cell, Column, Row, Table, row
from cfr.evaluation.series import probe_calls
from cfr.method.registry import MethodError, make

__all__ = ["Setting", "robustness", "robustness_table", "settings_table"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A model under one decoding: what each method scores, and what they gain."""

    model: str
    label: str
    """What tells this decoding from the model's others: ``Temperature 0.2``."""
    scores: Mapping[tuple[str, str], Score]
    """By method and benchmark."""
    gains: Mapping[tuple[str, str], Gain]
    """The same for all methods but the baseline."""


def robustness(
    study: Study, methods: Sequence[str], baseline: str = BASELINE
) -> tuple[Setting, ...]:
    """Score methods under every decoding of the models that have several."""
    found: list[Setting] = []
    for model in study.names("model"):
        arms = [
            arm
            for arm in study.select(model=model)
            if arm.scores and arm.method in (baseline, *methods)
        ]
        decodings = list(dict.fromkeys(arm.decoding for arm in arms))
        if len(decodings) > 1:
            labels = [*tell_apart(decodings).values()]
            found += [
                _setting(model, label, [arm for arm in arms if arm.decoding == decoding], baseline)
                for decoding, label in zip(decodings, labels, strict=True)
            ]
    return tuple(found)


def _setting(model: str, label: str, arms: Sequence[Arm], baseline: str) -> Setting:
    scores = {(a.method, a.benchmark): found for a in arms if (found := score(a))}
    bases = {arm.benchmark: arm for arm in arms if arm.method == baseline}
    gains = {
        (arm.method, arm.benchmark): gain
        for arm in arms
        if arm.method != baseline
        and (base := bases.get(arm.benchmark))
        and (gain := Sides(model, ((base, arm),)).gain())
    }
    return Setting(model, label, scores, gains)


def robustness_table(study: Study, methods: Sequence[str], baseline: str = BASELINE) -> Table:
    """Show accuracy under every decoding, with a row for the gain below each method."""
    found = robustness(study, methods, baseline)
    benchmarks = [
        name
        for name in study.names("benchmark")
        if any(name == own for one in found for _, own in one.scores)
    ]
    names = {arm.method: arm.name for arm in study.arms}
    columns = (
        *(Column("Model", "left"), Column("Setting", "left"), Column("Method", "left")),
        *(Column(benchmark_label(name), group="Accuracy, % [95 %]") for name in benchmarks),
    )
    rows = (line for one in found for line in _rows(one, benchmarks, names, baseline))
    alone = "No model of this study was run under more than one decoding."
    return Table(
        "robustness",
        "Accuracy under other decodings",
        columns,
        tuple(rows),
        notes=tuple(_notes(study, found, benchmarks)) if found else (alone,),
        paper=("tab:robustness",),
    )


def _rows(
    one: Setting, benchmarks: Sequence[str], names: Mapping[str, str], baseline: str
) -> Iterator[Row]:
    methods = list(dict.fromkeys(method for method, _ in one.scores))
    methods.sort(key=lambda method: method != baseline)
    best = {
        b: max(s.accuracy for (_, own), s in one.scores.items() if own == b)
        for b in {own for _, own in one.scores}
    }
    for method in methods:
        ahead = (model_label(one.model), one.label)
        cells = (_score_cell(one.scores.get((method, b)), best.get(b)) for b in benchmarks)
        yield row(*ahead, names[method], *cells)
        if method != baseline:
            gains = (gain_cell(one.gains.get((method, b))) for b in benchmarks)
            yield row(*ahead, f"Δ {names[method]}", *gains, kind="delta")


def _score_cell(found: Score | None, best: float | None) -> Cell:
    if found is None:
        return Cell(NONE)
    return Cell(decimal(found.accuracy) + interval(found.interval), bold=found.accuracy == best)


def _notes(study: Study, found: Sequence[Setting], benchmarks: Sequence[str]) -> Iterator[str]:
    yield "Bold: the best of a setting. Δ: points over the baseline in the same setting."
    for name in benchmarks:
        sizes = {
            (s.problems, s.runs)
            for one in found
            for (_, own), s in one.scores.items()
            if own == name
        }
        texts = [
            f"{several(problems, 'problem')}, {several(runs, 'run')}"
            for problems, runs in sorted(sizes)
        ]
        yield f"{benchmark_label(name)}: {'; elsewhere '.join(texts)}."
    for model in dict.fromkeys(one.model for one in found):
        main = {study.primary[b, model] for b in benchmarks if (b, model) in study.primary}
        known = (describe(one) or "what has no settings on record" for one in sorted(main))
        yield f"{model_label(model)}: other tables show {' and '.join(known)}."


def settings_table(study: Study) -> Table:
    """Show how each row of the other tables was decoded, and what its method may spend."""
    groups: dict[tuple[str, str, str], list[Arm]] = {}
    for arm in study.arms:
        if arm.attempts:
            groups.setdefault((arm.model, arm.method, arm.decoding), []).append(arm)
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Benchmarks", "left")),
        *(Column("Temperature"), Column("Top-p"), Column("Seed"), Column("System prompt", "left")),
        *(Column("Runs"), Column("Output budget, tokens", "left"), Column("JSON mode", "left")),
    )
    rows = [_settings_row(arms) for arms in groups.values()]
    notes = (
        "Budgets are those that a method asks for now; an engine lowers them where the context of "
        "the model is smaller. No stop sequences are set.",
        f"{NONE}: not on record.",
    )
    return Table(
        "settings",
        "Settings of every row",
        columns,
        tuple(rows),
        notes=notes if rows else ("This study has no attempts.",),
        paper=("tab:api-settings",),
    )


def _settings_row(arms: Sequence[Arm]) -> Row:
    first, known = arms[0], read_decoding(arms[0].decoding)
    sampling = (_setting_cell(known, name) for name in ("temperature", "top_p", "seed"))
    system = shorten(known["system"]) if known.get("system") else "none" if known else NONE
    runs = sorted({arm.runs for arm in arms})
    return row(
        model_label(first.model),
        first.name,
        ", ".join(benchmark_label(arm.benchmark) for arm in arms) or NONE,
        *sampling,
        system,
        "–".join(map(str, dict.fromkeys((runs[0], runs[-1])))),
        *_asked(first.method),
    )


def _setting_cell(known: Mapping[str, Any], name: str) -> str:
    if name not in known:
        return NONE
    return "none" if known[name] is None else str(known[name])


@cache
def _asked(method: str) -> tuple[str, str]:
    """Say how much a method asks for in each stage, and in which stages it asks for JSON."""
    try:
        calls = list(probe_calls(make(method)))
    except MethodError:
        return NONE, NONE  # a method of somebody else's
    budgets: dict[str, set[int]] = {}
    for call in calls:
        budgets.setdefault(call.stage, set()).add(call.max_tokens)
    shown = (
        f"{stage} {' or '.join(f'{n:,}' for n in sorted(tokens))}"
        for stage, tokens in budgets.items()
    )
    json_stages = dict.fromkeys(call.stage for call in calls if call.json)
    return "; ".join(shown), ", ".join(json_stages) or "none"
