"""Scores, settings and benchmarks: accuracy by arm, model and decoding, and problem by problem.

Paper: Benchmark Scope, Main Results, Ablation Results, Extended Results; appendix Implementation
Details.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from constraint_first.benchmark.constraintbench.family import is_constraintbench
from constraint_first.benchmark.registry import entries
from constraint_first.file.safe import file_stem
from constraint_first.method.method import MethodError
from constraint_first.method.registry import make, plain_name
from constraint_first.report import canvas, comparison, table
from constraint_first.report.canvas import Figure, Sheet, clean, load
from constraint_first.report.exhibit.exhibit import Context, Exhibit
from constraint_first.report.study import (
    CFR,
    CONSTRAINED,
    ROUTED_CFR,
    Arm,
    ModelArms,
    Study,
    benchmark_label,
    benchmarks_of,
    by_model,
    family_label,
    model_label,
    name_notes,
    read_decoding,
)
from constraint_first.report.table import NONE, Cell, Column, Row, Table, left, row
from constraint_first.store.series import all_probe_calls


def scores_table(study: Study) -> Table:
    """List every arm with all figures of its score."""
    rows: list[Row] = []
    for model in study.names("model"):
        if model:
            rows.append(row(model_label(model), kind="heading"))
        arms = study.select(model=model)
        settings = table.tell_apart([arm.decoding for arm in arms])
        for arm in arms:
            aside = arm.decoding != study.primary[arm.benchmark, arm.model]
            rows.append(_score_row(arm, settings[arm.decoding] if aside else ""))
    titles = ("n", "Runs", "Accuracy [95 %]", "pass@k", "maj@k")
    return Table(
        "scores",
        "Scores of every method, model and benchmark",
        (
            *(*left("Benchmark", "Method"), *map(Column, titles)),
            *map(Column, ("Truncated", "Unparsed", "Failed", "Tokens")),
        ),
        tuple(rows),
        (
            "Accuracy in per cent: the runs of a problem are averaged, then the problems. "
            + table.ACCURACY_INTERVAL,
            "pass@k: one of k runs is right, estimated without bias; maj@k: the answer that most "
            "of the first k runs give is right; k is the fewest runs of a problem. Two runs are "
            "no vote: where they differ, the first would decide. Tokens: means.",
        ),
    )


def _score_row(arm: Arm, setting: str) -> Row:
    found, tokens = comparison.score(arm), comparison.mean_tokens([arm])
    name = f"{arm.name}, {setting}" if setting else arm.name
    failed, k = str(arm.statuses.get("failed", 0)), arm.fewest_runs
    if found is None:
        return row(benchmark_label(arm.benchmark), name, "0", *[NONE] * 6, failed, NONE)
    return row(
        *(benchmark_label(arm.benchmark) or NONE, name, f"{found.problems:,}", str(arm.runs)),
        table.scored(found.accuracy, found.interval),
        *(table.decimal(at(arm, k)) for at in (comparison.pass_at, comparison.majority_at)),
        *(table.percent(arm.rate(status)) for status in ("truncated", "unparsed")),
        *(failed, table.whole(tokens.total if tokens else None)),
    )


def main_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate accuracy by model and benchmark, with Δ rows and the paper's rows, if any."""
    parts = [part.keep((baseline, method)) for part in by_model(study)]
    parts = [part for part in parts if part.methods]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        rows.append(row(part.title, kind="heading"))
        for name, arms in part.methods.items():
            cells = (accuracy_cell(part, name, benchmark, sized=True) for benchmark in benchmarks)
            own = [arms[one].accuracy if one in arms else None for one in benchmarks]
            average = comparison.mean_of_all(own)
            rows.append(row(part.name(name), *cells, table.decimal(average and 100 * average)))
        if len(part.methods) == 2:
            rows.append(_deltas(part, baseline, method, benchmarks))
        rows += _paper_rows(part, benchmarks)
    titles = (*(benchmark_label(name) or "Accuracy" for name in benchmarks), "Avg.")
    return Table(
        "main",
        "Accuracy by model and benchmark",
        (*left("Method"), *map(Column, titles)),
        tuple(rows),
        (
            "Accuracy in per cent with its 95 % interval, problems and runs; Δ in points with its "
            "paired 95 % interval, over the problems that both have. Avg. is the plain mean of the "
            "benchmarks, as in the paper.",
            table.status_note(arm for part in parts for arm in part.arms()),
            f"{table.ACCURACY_INTERVAL} {table.GAIN_INTERVAL}",
        ),
        ("tab:model-performance-main", "tab:model-performance-additional"),
    )


def accuracy_cell(part: ModelArms, method: str, benchmark: str, *, sized: bool = False) -> Cell:
    """Write an accuracy with its interval and, if ``sized``, its size; the best is bold."""
    arm = part.methods[method].get(benchmark)
    found = comparison.score(arm) if arm else None
    if arm is None or found is None:
        return Cell(NONE)
    size = f" (n = {found.problems:,} × {found.runs})" if sized else ""
    rivals = (arms[benchmark] for arms in part.methods.values() if benchmark in arms)
    text = table.scored(found.accuracy, found.interval) + size
    return Cell(text, bold=comparison.leads(arm, rivals))


def _deltas(part: ModelArms, baseline: str, method: str, benchmarks: Sequence[str]) -> Row:
    both = {
        base.benchmark: comparison.pair_arms([base], [arm], base.benchmark)
        for base, arm in part.paired(baseline, method)
    }
    pairs = [both.get(name) for name in benchmarks]
    cells = [table.delta(pair.gain, pair.interval) if pair else Cell(NONE) for pair in pairs]
    average = comparison.mean_of_all([pair.gain if pair else None for pair in pairs])
    return row(f"Δ vs. {part.name(baseline)}", *cells, table.delta(average), kind="delta")


def _paper_rows(part: ModelArms, benchmarks: Sequence[str]) -> list[Row]:
    """Make rows of the paper's numbers for the same model, methods and benchmarks."""
    rows: list[Row] = []
    for method in part.methods:
        label = next(iter(part.methods[method].values())).label
        found = [table.paper_accuracy(part.title, label, benchmark_label(b)) for b in benchmarks]
        if any(value is not None for value in found):
            cells = (Cell(table.decimal(value), tone="muted") for value in found)
            rows.append(row(Cell(f"{label}, paper", tone="muted"), *cells, NONE))
    return rows


def routing_table(study: Study, baseline: str, constrained: Mapping[str, str | None]) -> Table:
    """Tabulate the savings of routing; a kind of CFR that the study lacks is ``None``."""
    wanted = (baseline, *filter(None, constrained.values()))
    parts = [part.keep(wanted) for part in by_model(study)]
    parts = [part for part in parts if len(part.methods) > 1]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        rows.append(row(part.title, kind="heading"))
        for name in part.methods:
            cells = [c for b in benchmarks for c in _accuracy_and_cost(part, name, baseline, b)]
            rows.append(row(part.name(name), *cells))
    columns = [
        Column(title, group=benchmark_label(name) or "all")
        for name in benchmarks
        for title in ("Acc. [95 %]", "Tokens")
    ]
    papers = {family: constrained.get(family) for family in (ROUTED_CFR, CFR)}
    known = study.names("method")
    lacking = tuple(
        f"{family_label(family)} is not in these data; run {family} to compare with it."
        for family, method in {baseline: baseline, **papers}.items()
        if method not in known
    )
    notes = (
        f"Tokens, in and out, are relative to {study.method_name(baseline)} on the same set.",
        table.ACCURACY_INTERVAL,
        table.size_note(parts),
        table.status_note(arm for part in parts for arm in part.arms()),
    )
    return Table(
        "routing-ablation",
        "Routing ablation: routed and always on",
        (*left("Method"), *columns),
        tuple(rows),
        (*lacking, *notes) if rows else lacking or (_APART,),
        ("tab:model-performance-sub",),
    )


_APART: Final = (
    "No model of this study has two of Direct CoT, Routed-CFR and CFR (always-on) judged, nor of "
    "Direct CoT and CFR-brief."
)


def _accuracy_and_cost(part: ModelArms, method: str, baseline: str, benchmark: str) -> list[str]:
    arm, base = part.methods[method].get(benchmark), part.methods.get(baseline, {}).get(benchmark)
    found = comparison.score(arm) if arm else None
    ratio = comparison.token_ratios([arm], [base]).every_time if arm and base else None
    accuracy = table.scored(found.accuracy, found.interval) if found else NONE
    return [accuracy, table.times(ratio)]


# Accuracy and gains of the same methods under several decodings.
#
# Paper: appendix Implementation Details, "Robustness Across Decoding Settings".


def robustness_table(study: Study, method: str, baseline: str = comparison.BASELINE) -> Table:
    """Tabulate accuracy under every decoding, with a row for the gain below each method."""
    # Arms by model and decoding, for models that were run under several decodings.
    found: dict[tuple[str, str], list[Arm]] = {}
    for model in study.names("model"):
        own = [a for a in study.select(model=model) if a.scores and a.method in (baseline, method)]
        if len({arm.decoding for arm in own}) > 1:
            for arm in own:
                found.setdefault((model, arm.decoding), []).append(arm)
    used = {arm.benchmark for arms in found.values() for arm in arms}
    benchmarks = [name for name in study.names("benchmark") if name in used]
    alone = "No model of this study was run under more than one decoding."
    return Table(
        "robustness",
        "Accuracy under other decodings",
        (
            *left("Model", "Setting", "Method"),
            *(Column(benchmark_label(name), group="Accuracy, % [95 %]") for name in benchmarks),
        ),
        tuple(line for at in found for line in _setting_rows(at, found, benchmarks, baseline)),
        tuple(_robustness_notes(study, found, benchmarks)) if found else (alone,),
        ("tab:robustness",),
    )


def _setting_rows(
    at: tuple[str, str],
    found: Mapping[tuple[str, str], Sequence[Arm]],
    benchmarks: Sequence[str],
    baseline: str,
) -> Iterator[Row]:
    """Tabulate a model under one decoding, named by its difference to the model's others."""
    model, decoding = at
    labels = table.tell_apart([other for name, other in found if name == model])
    ahead = (model_label(model), labels[decoding])
    arms = {(arm.method, arm.benchmark): arm for arm in found[at]}
    scores = {key: own for key, arm in arms.items() if (own := comparison.score(arm))}
    best = [
        max((s.accuracy for (_, own), s in scores.items() if own == name), default=None)
        for name in benchmarks
    ]
    methods = sorted(dict.fromkeys(method for method, _ in scores), key=lambda m: m != baseline)
    for method in methods:
        name = next(arm.name for (own, _), arm in arms.items() if own == method)
        own = (scores.get((method, b)) for b in benchmarks)
        yield row(
            *(*ahead, name),
            *(
                Cell(table.scored(one.accuracy, one.interval), bold=one.accuracy == top)
                if one
                else NONE
                for one, top in zip(own, best, strict=True)
            ),
        )
        if method != baseline:
            pairs = [(arms.get((baseline, b)), arms.get((method, b))) for b in benchmarks]
            gains = (
                comparison.ModelPairs(model, ((one, other),)).gain() if one and other else None
                for one, other in pairs
            )
            yield row(*ahead, f"Δ {name}", *map(table.gain_cell, gains), kind="delta")


def _robustness_notes(
    study: Study, found: Mapping[tuple[str, str], Sequence[Arm]], benchmarks: Sequence[str]
) -> Iterator[str]:
    yield "Bold: the best of a setting. Δ: points over the baseline in the same setting."
    for name in benchmarks:
        arms = (arm for own in found.values() for arm in own if arm.benchmark == name)
        sizes = sorted({(len(arm.scores), arm.runs) for arm in arms})
        said = (f"{table.several(n, 'problem')}, {table.several(k, 'run')}" for n, k in sizes)
        yield f"{benchmark_label(name)}: {'; in other rows '.join(said)}."
    yield f"{table.ACCURACY_INTERVAL} {table.GAIN_INTERVAL}"
    for model in dict.fromkeys(model for model, _ in found):
        main = {study.primary[b, model] for b in benchmarks if (b, model) in study.primary}
        known = [table.describe_decoding(one) for one in sorted(main)]
        said = " and ".join(one or "what has no settings on record" for one in known)
        yield f"{model_label(model)}: other tables show {said}."


# Settings of every row of a study's tables: decoding, runs, and the requests of its method.
#
# Paper: appendix Implementation Details, "API Configuration".


@dataclass(frozen=True, slots=True)
class StageRequest:
    """The settings of a method's calls in one stage."""

    stage: str
    budgets: tuple[int, ...]
    """max_tokens in rising order; several values if calls of the stage differ."""
    json: bool
    """Whether any call of the stage requests JSON."""
    models: tuple[str, ...] = ()
    """Other models of the stage, by the method's names for them."""


@cache
def stage_requests(method: str) -> tuple[StageRequest, ...]:
    """Find the stages that a method may call; empty for a method that is not installed."""
    try:
        made = make(plain_name(method))  # own prompts change no budget
    except MethodError:
        return ()
    calls = [*all_probe_calls(made)]
    return tuple(
        StageRequest(
            stage,
            tuple(sorted({call.max_tokens for call in calls if call.stage == stage})),
            any(call.json for call in calls if call.stage == stage),
            tuple(sorted({call.model for call in calls if call.stage == stage and call.model})),
        )
        for stage in dict.fromkeys(call.stage for call in calls)
    )


def settings_table(study: Study) -> Table:
    """Tabulate the decoding of each row of the other tables, and the budgets of its method."""
    groups: dict[tuple[str, str, str], list[Arm]] = {}
    for arm in study.arms:
        if arm.attempts:
            groups.setdefault((arm.model, arm.method, arm.decoding), []).append(arm)
    notes = (
        "Budgets are those that a method asks for now; an engine lowers them where the context of "
        "the model is smaller. No stop sequences are set.",
        "Every stage that a method may ask for is shown, its fallback among them: direct, where a "
        "first stage's reply cannot be used.",
        f"{NONE}: not on record.",
    )
    return Table(
        "settings",
        "Settings of every row",
        (
            *left("Model", "Method", "Benchmarks"),
            *(Column("Temperature"), Column("Top-p"), Column("Seed"), *left("System prompt")),
            *(Column("Runs"), *left("Output budget, tokens", "JSON mode")),
        ),
        tuple(map(_settings_row, groups.values())),
        notes if groups else ("This study has no attempts.",),
        ("tab:api-settings",),
    )


def _settings_row(arms: Sequence[Arm]) -> Row:
    """Describe a method with one model and one decoding, on all its benchmarks."""
    first, runs = arms[0], [arm.runs for arm in arms]
    known, requests = read_decoding(first.decoding), stage_requests(first.method)
    system = table.shorten(known["system"]) if known.get("system") else "none" if known else NONE
    sampling = (known.get(name, NONE) for name in ("temperature", "top_p", "seed"))
    json_stages = ", ".join(request.stage for request in requests if request.json)
    return row(
        *(model_label(first.model), first.name),
        ", ".join(benchmark_label(arm.benchmark) for arm in arms) or NONE,
        *("none" if value is None else str(value) for value in sampling),
        *(system, table.span(min(runs), max(runs)), "; ".join(map(_budget, requests)) or NONE),
        json_stages or ("none" if requests else NONE),
    )


def _budget(request: StageRequest) -> str:
    by = f" by {' or '.join(request.models)}" if request.models else ""
    return f"{request.stage} {' or '.join(f'{tokens:,}' for tokens in request.budgets)}{by}"


def benchmarks_table(study: Study) -> Table:
    rows: list[Row] = []
    for name in study.names("benchmark"):
        form = strength = ""
        if entry := entries().get(name):
            form, strength = entry.answer_format, entry.strength
        elif is_constraintbench(name):
            form, strength = "Stated by each problem", "Tight"
        sizes = table.span(*study.sizes(name))
        rows.append(row(benchmark_label(name) or NONE, sizes, form or NONE, strength or NONE))
    return Table(
        "benchmarks",
        "The benchmarks of this study",
        (*left("Benchmark"), Column("Problems"), *left("Answer format", "Constraint strength")),
        tuple(rows),
        paper=("tab:benchmarks",),
    )


# Grid of methods and problems: the share of right runs as a shade, hatching for missing runs.

MOST_PROBLEMS: Final = 360
"""Columns of one figure; a note gives the number of further problems, which are left out."""
_ACROSS: Final = 120
_WIDEST: Final = 0.19
_NAMED: Final = 0.12
"""Columns at least this wide have room for the names of their problems."""
_TINY: Final = 6.0
_MISSING: Final[canvas.Style] = {
    "facecolor": "none",
    "edgecolor": canvas.MUTED,
    "hatch": "//////",
    "linewidth": 0.3,
}


def grid_figures(study: Study) -> Iterator[Figure]:
    """Draw which methods solve which problems, a figure for each benchmark and model."""
    for part in by_model(study):
        for benchmark in dict.fromkeys(arm.benchmark for arm in part.arms()):
            arms = [arms[benchmark] for arms in part.methods.values() if benchmark in arms]
            title = ", ".join(filter(None, (benchmark_label(benchmark), part.title)))
            yield draw_grid(title, arms)


def draw_grid(title: str, arms: Sequence[Arm]) -> Figure:
    """Draw a row for each arm and a column for each problem, in blocks as wide as the sheet."""
    problems = list(dict.fromkeys(name for arm in arms for name in arm.scores))
    drawn = problems[:MOST_PROBLEMS]
    many = math.ceil(len(drawn) / _ACROSS)
    wide = math.ceil(len(drawn) / many)
    grid = _Grid(arms, drawn, min(wide, len(drawn)))
    missing = any(problem not in arm.scores for arm in arms for problem in drawn)
    with canvas.sheet(grid.block * many) as page:
        for number in range(many):
            grid.draw(page, number * wide, wide, page.height - number * grid.block)
        names = {0: "right in no run", 100: "in every run"}
        entries: list[tuple[str, canvas.Style, object]] = [
            (names.get(share, f"{share} %"), {"facecolor": canvas.shade(share / 100)}, share)
            for share in (0, 25, 50, 75, 100)
        ]
        if missing:
            entries.append(("no judged run", _MISSING, "missing"))
        canvas.draw_key(page, entries, grid.left, canvas.WIDTH, page.height + 0.14)
        said = canvas.listed((_said(arm, drawn) for arm in arms), 8)
        alt = f"A grid of {table.several(len(drawn), 'problem')} of {clean(title)}: {said}."
        beyond = table.several(len(problems) - len(drawn), "problem")
        note = f"The first {len(drawn)} problems are drawn; {beyond} beyond them are left out."
        notes = [note] if len(problems) > len(drawn) else []
        heading = f"{clean(title)}: right runs, problem by problem"
        figure = page.finish(file_stem("grid", title), heading, alt, notes)
        return replace(figure, long=True)


class _Grid:
    """The measures that all blocks of a grid share, in inches, and its drawing block by block."""

    def __init__(self, arms: Sequence[Arm], problems: Sequence[str], wide: int) -> None:
        self._arms, self._problems = arms, problems
        self._labels = [canvas.wrap(arm.name, 25, 2) for arm in arms]
        self.left = max(canvas.extent(label, canvas.SMALL)[0] for label in self._labels) + 0.1
        self._cell = min(_WIDEST, (canvas.WIDTH - self.left) / wide)
        self._row = max(
            0.19, *(canvas.extent(label, canvas.SMALL)[1] + 0.04 for label in self._labels)
        )
        foot = 0.34  # room for labels below the columns
        if self._cell >= _NAMED:
            foot = max(canvas.extent(clean(name, 16), _TINY)[0] for name in problems) + 0.16
        self.block = self._row * len(arms) + foot

    def draw(self, page: Sheet, first: int, wide: int, top: float) -> None:
        """Draw the columns from one problem on."""
        names = self._problems[first : first + wide]
        known: list[tuple[float, float]] = []
        colours: list[str] = []
        missing: list[tuple[float, float]] = []
        for row_number, arm in enumerate(self._arms):
            for column, name in enumerate(names):
                spot = (self.left + column * self._cell, top - (row_number + 1) * self._row)
                if found := arm.scores.get(name):
                    known.append(spot)
                    colours.append(canvas.shade(found[0] / found[1]))
                else:
                    missing.append(spot)
        self._fill(page, known, f"cells-{first}", facecolor=colours)
        self._fill(page, missing, f"missing-{first}", **_MISSING)
        for index, label in enumerate(self._labels):
            y = top - (index + 0.5) * self._row
            page.text(self.left - 0.07, y, label, ha="right", fontsize=canvas.SMALL)
        self._name_columns(page, names, first, top - self._row * len(self._labels) - 0.05)

    def _fill(
        self, page: Sheet, spots: Sequence[tuple[float, float]], gid: str, **style: object
    ) -> None:
        """Draw one shape in many places, which keeps the SVG small."""
        if not spots:
            return
        size = load("transforms").Affine2D().scale(self._cell * 0.88, self._row * 0.9)
        cells = load("collections").PathCollection(
            [load("path").Path.unit_rectangle()],
            offsets=spots,
            offset_transform=page.inches,
            **{"edgecolor": "none", "linewidth": 0, **style},
        )
        cells.set_transform(size + page.figure.dpi_scale_trans)
        page.add(cells, gid)

    def _name_columns(self, page: Sheet, names: Sequence[str], first: int, y: float) -> None:
        """Name the columns, or number some of them if they are too narrow for names."""
        for column, name in enumerate(names):
            x, number = self.left + (column + 0.44) * self._cell, first + column + 1
            if self._cell >= _NAMED:
                style = {"rotation": 90, "rotation_mode": "anchor", "ha": "right"}
                page.text(x, y, clean(name, 16), muted=True, **style, fontsize=_TINY)
            elif number == 1 or number % 10 == 0:
                page.text(x, y - 0.06, str(number), muted=True, ha="center", fontsize=_TINY)


def _said(arm: Arm, problems: Sequence[str]) -> str:
    known = [arm.scores[name] for name in problems if name in arm.scores]
    if not known:
        return f"{clean(arm.name)} has no judged run"
    always, never = sum(one == runs for one, runs in known), sum(not one for one, _ in known)
    return f"{clean(arm.name)} gets {always} right in every run and {never} in none"


def _scores(context: Context) -> list[Table]:
    made = scores_table(context.study)
    return [replace(made, notes=(*made.notes, *name_notes(context.study)))]


def _ablation(context: Context) -> list[Table]:
    constrained = {family: context.variant(family) for family in CONSTRAINED}
    return [routing_table(context.study, context.baseline, constrained)]


EXHIBITS: Final = (
    Exhibit("overview", _scores),
    Exhibit("overview", lambda c: [benchmarks_table(c.study)], paper=("benchmarks",)),
    Exhibit("overview", lambda c: [settings_table(c.study)], paper=("api-settings",)),
    Exhibit(
        "main",
        lambda c: [main_table(c.study, c.baseline, c.method)],
        paper=("main", "additional"),
        about="method",
    ),
    Exhibit("routing", _ablation, paper=("routing-ablation",), about="families"),
    Exhibit(
        "robustness",
        lambda c: [robustness_table(*c.compared)],
        paper=("robustness",),
        about="method",
    ),
)
