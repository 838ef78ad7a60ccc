"""Tables of accuracy (paper: Main Results, Ablation Results, Extended Results)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from constraint_first.file.safe import file_stem
from constraint_first.method.method import MethodError
from constraint_first.method.registry import make
from constraint_first.method.rewording import plain_name
from constraint_first.report.canvas import (
    MUTED,
    SMALL,
    WIDTH,
    Caption,
    Figure,
    KeyEntry,
    Sheet,
    Style,
    clean,
    draw_key,
    extent,
    finite,
    listed,
    load,
    shade,
    sheet,
    wrap,
)
from constraint_first.report.comparison import (
    BASELINE,
    Gain,
    ModelPairs,
    Score,
    leads,
    majority_at,
    mean_accuracy,
    mean_of_all,
    mean_tokens,
    pair_arms,
    pass_at,
    score,
    token_ratios,
)
from constraint_first.report.notation import (
    NONE,
    decimal,
    interval,
    percent,
    scored,
    several,
    times,
    whole,
)
from constraint_first.report.study import (
    CFR,
    ROUTED_CFR,
    Arm,
    ModelArms,
    Study,
    benchmark_label,
    benchmarks_of,
    by_model,
    family_label,
    model_label,
    read_decoding,
)
from constraint_first.report.table import (
    ACCURACY_INTERVAL,
    GAIN_INTERVAL,
    Cell,
    Column,
    Row,
    Table,
    delta,
    describe_decoding,
    gain_cell,
    paper_accuracy,
    row,
    shorten,
    size_note,
    status_note,
    tell_apart,
)
from constraint_first.store.store import all_probe_calls


def scores_table(study: Study) -> Table:
    """List every arm with all that is known of its score."""
    rows: list[Row] = []
    for model in study.names("model"):
        if model:
            rows.append(row(model_label(model), kind="heading"))
        arms = study.select(model=model)
        settings = tell_apart([arm.decoding for arm in arms])
        for arm in arms:
            aside = arm.decoding != study.primary[arm.benchmark, arm.model]
            rows.append(_score_row(arm, settings[arm.decoding] if aside else ""))
    titles = ("n", "Runs", "Accuracy [95 %]", "pass@k", "maj@k")
    titles = (*titles, "Truncated", "Unparsed", "Failed", "Tokens")
    return Table(
        "scores",
        "Scores of every method, model and benchmark",
        (Column("Benchmark", "left"), Column("Method", "left"), *map(Column, titles)),
        tuple(rows),
        (
            "Accuracy in per cent: the runs of a problem are averaged, then the problems. "
            + ACCURACY_INTERVAL,
            "pass@k: one of k runs is right, estimated without bias; maj@k: the answer that most "
            "of the first k runs give is right; k is the fewest runs of a problem. Two runs are "
            "no vote: where they differ, the first would decide. Tokens: means.",
        ),
    )


def _score_row(arm: Arm, setting: str) -> Row:
    found, tokens = score(arm), mean_tokens([arm])
    name = f"{arm.name}, {setting}" if setting else arm.name
    if found is None:
        failed = arm.statuses.get("failed", 0)
        return row(benchmark_label(arm.benchmark), name, "0", *[NONE] * 6, str(failed), NONE)
    return row(
        benchmark_label(arm.benchmark) or NONE,
        name,
        f"{found.problems:,}",
        str(arm.runs),
        scored(found.accuracy, found.interval),
        decimal(pass_at(arm, arm.fewest_runs)),
        decimal(majority_at(arm, arm.fewest_runs)),
        percent(arm.rate("truncated")),
        percent(arm.rate("unparsed")),
        str(arm.statuses.get("failed", 0)),
        whole(tokens.total if tokens else None),
    )


def main_table(study: Study, baseline: str, method: str) -> Table:
    """Tabulate accuracy by model and benchmark, with Δ rows and, where it is, the paper's rows."""
    parts = [part.keep((baseline, method)) for part in by_model(study)]
    parts = [part for part in parts if part.methods]
    benchmarks = benchmarks_of(parts)
    rows: list[Row] = []
    for part in parts:
        rows.append(row(part.title, kind="heading"))
        rows += [_accuracies(part, name, benchmarks) for name in part.methods]
        if len(part.methods) == 2:
            rows.append(_deltas(part, baseline, method, benchmarks))
        rows += _paper_rows(part, benchmarks)
    columns = (Column("Method", "left"), *map(_benchmark_column, benchmarks), Column("Avg."))
    return Table(
        "main",
        "Accuracy by model and benchmark",
        columns,
        tuple(rows),
        (
            "Accuracy in per cent with its 95 % interval, problems and runs; Δ in points with its "
            "paired 95 % interval, over the problems that both have. Avg. is the plain mean of the "
            "benchmarks, as in the paper.",
            status_note(arm for part in parts for arm in part.arms()),
            f"{ACCURACY_INTERVAL} {GAIN_INTERVAL}",
        ),
        ("tab:model-performance-main", "tab:model-performance-additional"),
    )


def _benchmark_column(benchmark: str) -> Column:
    return Column(benchmark_label(benchmark) or "Accuracy")


def _accuracies(part: ModelArms, method: str, benchmarks: Sequence[str]) -> Row:
    cells = [accuracy_cell(part, method, name, sized=True) for name in benchmarks]
    average = mean_accuracy([part.methods[method].get(name) for name in benchmarks])
    return row(part.name(method), *cells, decimal(average))


def accuracy_cell(part: ModelArms, method: str, benchmark: str, *, sized: bool = False) -> Cell:
    """Write an accuracy with its interval and, where ``sized``, its size; the best is bold."""
    arm = part.methods[method].get(benchmark)
    found = score(arm) if arm else None
    if arm is None or found is None:
        return Cell(NONE)
    size = f" (n = {found.problems:,} × {found.runs})" if sized else ""
    best = leads(arm, [arms[benchmark] for arms in part.methods.values() if benchmark in arms])
    return Cell(scored(found.accuracy, found.interval) + size, bold=best)


def _deltas(part: ModelArms, baseline: str, method: str, benchmarks: Sequence[str]) -> Row:
    both = {base.benchmark: (base, arm) for base, arm in part.paired(baseline, method)}
    pairs = [
        pair_arms([both[name][0]], [both[name][1]], name) if name in both else None
        for name in benchmarks
    ]
    cells = [delta(pair.gain, pair.interval) if pair else Cell(NONE) for pair in pairs]
    average = mean_of_all([pair.gain if pair else None for pair in pairs])
    return row(f"Δ vs. {part.name(baseline)}", *cells, delta(average), kind="delta")


def _paper_rows(part: ModelArms, benchmarks: Sequence[str]) -> list[Row]:
    """Print what the paper has for the same model, method and benchmarks."""
    rows: list[Row] = []
    for method in part.methods:
        label = next(iter(part.methods[method].values())).label
        found = [paper_accuracy(part.title, label, benchmark_label(b)) for b in benchmarks]
        if any(value is not None for value in found):
            cells = (Cell(decimal(value), tone="muted") for value in found)
            rows.append(row(Cell(f"{label}, paper", tone="muted"), *cells, NONE))
    return rows


def routing_table(study: Study, baseline: str, constrained: Mapping[str, str | None]) -> Table:
    """Tabulate what routing saves: accuracy and tokens, always on and routed.

    ``constrained`` has a method of each kind of CFR, or None where the study has none of that
    family; of the paper's two the table says so.
    """
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
    lacking = _lacking(study, {baseline: baseline, **papers})
    notes = (
        f"Tokens, in and out, are relative to {study.method_name(baseline)} on the same set.",
        ACCURACY_INTERVAL,
        size_note(parts),
        status_note(arm for part in parts for arm in part.arms()),
    )
    return Table(
        "routing-ablation",
        "Routing ablation: routed and always on",
        (Column("Method", "left"), *columns),
        tuple(rows),
        (*lacking, *notes) if rows else lacking or (_APART,),
        ("tab:model-performance-sub",),
    )


_APART: Final = (
    "No model of this study has two of Direct CoT, Routed-CFR and CFR (always-on) judged, nor of "
    "Direct CoT and CFR-brief."
)


def _lacking(study: Study, wanted: Mapping[str, str | None]) -> tuple[str, ...]:
    """Name the families of a comparison that a study has nothing of, and the way out."""
    known = study.names("method")
    return tuple(
        f"{family_label(family)} is not in these data; run {family} to compare with it."
        for family, method in wanted.items()
        if method not in known
    )


def _accuracy_and_cost(part: ModelArms, method: str, baseline: str, benchmark: str) -> list[Cell]:
    arm, base = part.methods[method].get(benchmark), part.methods.get(baseline, {}).get(benchmark)
    found = score(arm) if arm else None
    accuracy = Cell(scored(found.accuracy, found.interval) if found else NONE)
    ratio = token_ratios([arm], [base]).every_time if arm and base else None
    return [accuracy, Cell(times(ratio))]


# Shares of right runs by problem and method, a grid for each model and benchmark.


@dataclass(frozen=True, slots=True)
class SolveRates:
    """All methods of one model on all problems of one benchmark."""

    model: str
    benchmark: str
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    """As tables print them."""
    shares: tuple[tuple[float | None, ...], ...]
    """A row for each method, a share from 0 to 1 for each problem; None without a judged run."""


def solve_rates(study: Study) -> Iterator[SolveRates]:
    """Find which methods solve which problems, by model and benchmark."""
    for part in by_model(study):
        for benchmark in dict.fromkeys(arm.benchmark for arm in part.arms()):
            arms = [arms[benchmark] for arms in part.methods.values() if benchmark in arms]
            problems = tuple(dict.fromkeys(name for arm in arms for name in arm.scores))
            yield SolveRates(
                part.model,
                benchmark,
                problems,
                tuple(arm.name for arm in arms),
                tuple(tuple(_share(arm, name) for name in problems) for arm in arms),
            )


def _share(arm: Arm, problem: str) -> float | None:
    found = arm.scores.get(problem)
    return found[0] / found[1] if found else None


# Accuracy and gains of the same methods under several decodings.
#
# Paper: appendix Implementation Details, "Robustness Across Decoding Settings".


@dataclass(frozen=True, slots=True)
class Setting:
    """A model under one decoding: what each method scores, and what they gain."""

    model: str
    decoding: str
    """As stored: a JSON object."""
    baseline: str
    """The method that the others gain over."""
    scores: Mapping[tuple[str, str], Score]
    """By method and benchmark."""
    gains: Mapping[tuple[str, str], Gain]
    """By method and benchmark, for all methods but the baseline."""


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
            found += [
                _setting([arm for arm in arms if arm.decoding == decoding], baseline)
                for decoding in decodings
            ]
    return tuple(found)


def _setting(arms: Sequence[Arm], baseline: str) -> Setting:
    model, decoding = arms[0].model, arms[0].decoding
    scores = {(a.method, a.benchmark): found for a in arms if (found := score(a))}
    bases = {arm.benchmark: arm for arm in arms if arm.method == baseline}
    gains = {
        (arm.method, arm.benchmark): gain
        for arm in arms
        if arm.method != baseline
        and (base := bases.get(arm.benchmark))
        and (gain := ModelPairs(model, ((base, arm),)).gain())
    }
    return Setting(model, decoding, baseline, scores, gains)


# Table of accuracy under other decodings.
#
# Paper: appendix Implementation Details, "Robustness Across Decoding Settings".


def robustness_table(study: Study, methods: Sequence[str], baseline: str = BASELINE) -> Table:
    """Tabulate accuracy under every decoding, with a row for the gain below each method."""
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
    rows = (line for one in found for line in _rows(one, _ahead(one, found), benchmarks, names))
    alone = "No model of this study was run under more than one decoding."
    return Table(
        "robustness",
        "Accuracy under other decodings",
        columns,
        tuple(rows),
        notes=tuple(_notes(study, found, benchmarks)) if found else (alone,),
        paper=("tab:robustness",),
    )


def _ahead(one: Setting, found: Sequence[Setting]) -> tuple[str, str]:
    """Name a setting's model, and its decoding by what tells it from the model's others."""
    labels = tell_apart([other.decoding for other in found if other.model == one.model])
    return model_label(one.model), labels[one.decoding]


def _rows(
    one: Setting,
    ahead: tuple[str, str],
    benchmarks: Sequence[str],
    names: Mapping[str, str],
) -> Iterator[Row]:
    methods = list(dict.fromkeys(method for method, _ in one.scores))
    methods.sort(key=lambda method: method != one.baseline)
    best = {
        b: max(s.accuracy for (_, own), s in one.scores.items() if own == b)
        for b in {own for _, own in one.scores}
    }
    for method in methods:
        cells = (_score_cell(one.scores.get((method, b)), best.get(b)) for b in benchmarks)
        yield row(*ahead, names[method], *cells)
        if method != one.baseline:
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
        yield f"{benchmark_label(name)}: {'; in other rows '.join(texts)}."
    yield f"{ACCURACY_INTERVAL} {GAIN_INTERVAL}"
    for model in dict.fromkeys(one.model for one in found):
        main = {study.primary[b, model] for b in benchmarks if (b, model) in study.primary}
        known = (describe_decoding(one) or "what has no settings on record" for one in sorted(main))
        yield f"{model_label(model)}: other tables show {' and '.join(known)}."


# Settings of every row of a study's tables: decoding, runs, and what its method asks for.
#
# Paper: appendix Implementation Details, "API Configuration".


@dataclass(frozen=True, slots=True)
class StageRequest:
    """What a method asks for in the calls of one stage."""

    stage: str
    budgets: tuple[int, ...]
    """Output tokens, the smallest first; several where calls of the stage differ."""
    json: bool
    """Whether any call of the stage asks for JSON."""
    models: tuple[str, ...] = ()
    """Other models that answer it, by the names that the method has for them."""


@dataclass(frozen=True, slots=True)
class RowSettings:
    """A method with one model and one decoding, on all its benchmarks."""

    model: str
    method: str
    """As tables print it."""
    benchmarks: tuple[str, ...]
    decoding: str
    """As stored: a JSON object."""
    runs: tuple[int, int]
    """The fewest and the most among the benchmarks."""
    requests: tuple[StageRequest, ...]
    """Stage by stage; none where the method is not installed here."""


def row_settings(study: Study) -> tuple[RowSettings, ...]:
    """List the settings of every model, method and decoding that has attempts."""
    groups: dict[tuple[str, str, str], list[Arm]] = {}
    for arm in study.arms:
        if arm.attempts:
            groups.setdefault((arm.model, arm.method, arm.decoding), []).append(arm)
    return tuple(map(_settings, groups.values()))


def _settings(arms: Sequence[Arm]) -> RowSettings:
    first, runs = arms[0], [arm.runs for arm in arms]
    return RowSettings(
        first.model,
        first.name,
        tuple(arm.benchmark for arm in arms),
        first.decoding,
        (min(runs), max(runs)),
        stage_requests(first.method),
    )


@cache
def stage_requests(method: str) -> tuple[StageRequest, ...]:
    """Find the stages that a method may ask for; none for a method that is not installed."""
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


# Table of the settings of every row.
#
# Paper: appendix Implementation Details, "API Configuration".


def settings_table(study: Study) -> Table:
    """Tabulate the decoding of each row of the other tables, and the budgets of its method."""
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Benchmarks", "left")),
        *(Column("Temperature"), Column("Top-p"), Column("Seed"), Column("System prompt", "left")),
        *(Column("Runs"), Column("Output budget, tokens", "left"), Column("JSON mode", "left")),
    )
    rows = tuple(map(_row, row_settings(study)))
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
        columns,
        rows,
        notes=notes if rows else ("This study has no attempts.",),
        paper=("tab:api-settings",),
    )


def _row(one: RowSettings) -> Row:
    known = read_decoding(one.decoding)
    sampling = (_setting_settings(known, name) for name in ("temperature", "top_p", "seed"))
    system = shorten(known["system"]) if known.get("system") else "none" if known else NONE
    json_stages = ", ".join(request.stage for request in one.requests if request.json)
    return row(
        model_label(one.model),
        one.method,
        ", ".join(map(benchmark_label, one.benchmarks)) or NONE,
        *sampling,
        system,
        "–".join(map(str, dict.fromkeys(one.runs))),
        "; ".join(map(_budget, one.requests)) or NONE,
        json_stages or ("none" if one.requests else NONE),
    )


def _budget(request: StageRequest) -> str:
    by = f" by {' or '.join(request.models)}" if request.models else ""
    return f"{request.stage} {' or '.join(f'{tokens:,}' for tokens in request.budgets)}{by}"


def _setting_settings(known: Mapping[str, Any], name: str) -> str:
    if name not in known:
        return NONE
    return "none" if known[name] is None else str(known[name])


# Grid of methods and problems: the share of right runs as a shade.

MOST_PROBLEMS: Final = 360
"""Columns of one figure; further problems are left out, and a note says how many."""
_ACROSS: Final = 120
_WIDEST: Final = 0.19
_NAMED: Final = 0.12
"""Columns at least this wide have room for the names of their problems."""
_TINY: Final = 6.0
_MISSING: Final[Style] = {
    "facecolor": "none",
    "edgecolor": MUTED,
    "hatch": "//////",
    "linewidth": 0.3,
}

Shares: TypeAlias = Sequence[Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class _Block:
    """Neighbouring columns, which share a line of the figure."""

    first: int
    names: tuple[str, ...]
    shares: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Measures that all blocks share, in inches."""

    labels: tuple[str, ...]
    left: float
    cell: float
    row: float
    foot: float
    """Room for what stands below the columns."""

    @property
    def block(self) -> float:
        """How tall a block is with its foot."""
        return self.row * len(self.labels) + self.foot


def draw_grid(
    benchmark: str, problems: Sequence[str], methods: Sequence[str], shares: Shares
) -> Figure | None:
    """Draw a row for each method and a column for each problem.

    ``shares`` has a row for each method, with the share of right runs at each problem from 0 to 1,
    or None where there was none. A shade says how large it is; hatching says that it is missing.
    """
    if not problems or not methods:
        return None
    table = [tuple(map(finite, row[:MOST_PROBLEMS])) for row in shares]
    if len(table) != len(methods) or any(len(row) != len(problems) for row in shares):
        raise ValueError("shares: need a row for each method and a column for each problem")
    blocks = _blocks(problems[:MOST_PROBLEMS], table)
    layout = _layout(methods, blocks)
    caption = Caption(
        file_stem("grid", benchmark), f"{clean(benchmark)}: right runs, problem by problem"
    )
    with sheet(layout.block * len(blocks)) as page:
        for number, block in enumerate(blocks):
            _draw_block(page, layout, block, page.height - number * layout.block)
        _draw_key(page, layout, missing=any(None in row for row in table))
        return page.finish(caption, _alt(benchmark, methods, table), _notes_grid(problems, blocks))


def _blocks(problems: Sequence[str], table: Sequence[tuple[float | None, ...]]) -> list[_Block]:
    """Cut the columns into as few blocks as hold them, all about as wide."""
    many = math.ceil(len(problems) / _ACROSS)
    wide = math.ceil(len(problems) / many)
    return [
        _Block(
            first,
            tuple(problems[first : first + wide]),
            tuple(row[first : first + wide] for row in table),
        )
        for first in range(0, len(problems), wide)
    ]


def _layout(methods: Sequence[str], blocks: Sequence[_Block]) -> _Layout:
    labels = tuple(wrap(method, 25, 2) for method in methods)
    left = max(extent(label, SMALL)[0] for label in labels) + 0.1
    cell = min(_WIDEST, (WIDTH - left) / max(len(block.names) for block in blocks))
    row = max(0.19, *(extent(label, SMALL)[1] + 0.04 for label in labels))
    foot = 0.34
    if cell >= _NAMED:
        names = [clean(name, 16) for block in blocks for name in block.names]
        foot = max(extent(name, _TINY)[0] for name in names) + 0.16
    return _Layout(labels, left, cell, row, foot)


def _draw_block(page: Sheet, layout: _Layout, block: _Block, top: float) -> None:
    cells = [
        (layout.left + column * layout.cell, top - (row + 1) * layout.row, share)
        for row, shares in enumerate(block.shares)
        for column, share in enumerate(shares)
    ]
    known = [(x, y, share) for x, y, share in cells if share is not None]
    colours = [shade(share) for _, _, share in known]
    spots = [(x, y) for x, y, _ in known]
    _draw_cells(page, layout, spots, f"cells-{block.first}", facecolor=colours)
    spots = [(x, y) for x, y, share in cells if share is None]
    _draw_cells(page, layout, spots, f"missing-{block.first}", **_MISSING)
    for index, label in enumerate(layout.labels):
        y = top - (index + 0.5) * layout.row
        page.text(layout.left - 0.07, y, label, ha="right", fontsize=SMALL)
    _draw_foot(page, layout, block, top - layout.row * len(layout.labels) - 0.05)


def _draw_cells(
    page: Sheet, layout: _Layout, spots: Sequence[tuple[float, float]], gid: str, **style: object
) -> None:
    """Draw one shape in many places, which keeps the SVG small."""
    if not spots:
        return
    size = load("transforms").Affine2D().scale(layout.cell * 0.88, layout.row * 0.9)
    cells = load("collections").PathCollection(
        [load("path").Path.unit_rectangle()],
        offsets=spots,
        offset_transform=page.inches,
        **{"edgecolor": "none", "linewidth": 0, **style},
    )
    cells.set_transform(size + page.figure.dpi_scale_trans)
    page.add(cells, gid)


def _draw_foot(page: Sheet, layout: _Layout, block: _Block, y: float) -> None:
    """Name the columns, or where they are too narrow for that, number some of them."""
    named = layout.cell >= _NAMED
    for column, name in enumerate(block.names):
        x, number = layout.left + (column + 0.44) * layout.cell, block.first + column + 1
        if named:
            style = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "fontsize": _TINY}
            page.text(x, y, clean(name, 16), muted=True, **style)
        elif number == 1 or number % 10 == 0:
            page.text(x, y - 0.06, str(number), muted=True, ha="center", fontsize=_TINY)


def _draw_key(page: Sheet, layout: _Layout, *, missing: bool) -> None:
    names = {0: "right in no run", 100: "in every run"}
    entries = [
        KeyEntry(names.get(share, f"{share} %"), {"facecolor": shade(share / 100)}, f"key-{share}")
        for share in (0, 25, 50, 75, 100)
    ]
    if missing:
        entries.append(KeyEntry("no judged run", _MISSING, "key-missing"))
    draw_key(page, entries, layout.left, WIDTH, page.height + 0.14)


def _alt(benchmark: str, methods: Sequence[str], table: Sequence[tuple[float | None, ...]]) -> str:
    said = listed((_row_alt(*pair) for pair in zip(methods, table, strict=True)), 8)
    return f"A grid of {several(len(table[0]), 'problem')} of {clean(benchmark)}: {said}."


def _row_alt(method: str, row: Sequence[float | None]) -> str:
    known = [share for share in row if share is not None]
    if not known:
        return f"{clean(method)} has no judged run"
    always, never = sum(share >= 1 for share in known), sum(share <= 0 for share in known)
    return f"{clean(method)} gets {always} right in every run and {never} in none"


def _notes_grid(problems: Sequence[str], blocks: Sequence[_Block]) -> list[str]:
    drawn = sum(len(block.names) for block in blocks)
    if len(problems) == drawn:
        return []
    left_out = several(len(problems) - drawn, "problem")
    return [f"The first {drawn} problems are drawn; {left_out} beyond them are left out."]
