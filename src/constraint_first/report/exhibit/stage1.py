"""Stage 1 replies on record: how they parsed, how many constraints they list, how sound those are.

Paper: Stage 1 Constraint Reliability; appendix JSON Parsing and Error Handling. A reply is read by
the first recovery step that can (``constraint.recovery``): parsed, empty, repaired, fields,
fallback. Stores keep the name of the step as ``rung``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from constraint_first.constraint.stage1 import KINDS, RUNGS, WELL_FORMED
from constraint_first.report.canvas import (
    INK,
    MUTED,
    PALETTE,
    SMALL,
    WIDTH,
    Axes,
    Band,
    Box,
    Caption,
    Estimate,
    Figure,
    KeyEntry,
    NumberColumn,
    Rows,
    Sheet,
    clean,
    counts,
    draw_bar,
    draw_interval,
    draw_key,
    finite,
    font,
    listed,
    load,
    set_gain_scale,
    sheet,
    shortfalls,
)
from constraint_first.report.comparison import BASELINE, Gain, Key, pairs_by_model
from constraint_first.report.notation import (
    NONE,
    decimal,
    interval,
    percent,
    points,
    several,
    share,
)
from constraint_first.report.statistics import Interval, bootstrap, wilson
from constraint_first.report.study import Arm, Extraction, Study, benchmark_label, model_label
from constraint_first.report.table import GAIN_INTERVAL, Column, Row, Table, gain_cell, row

if TYPE_CHECKING:
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox


def arms_with_stage1(study: Study) -> dict[tuple[str, str], list[Arm]]:
    """Group the arms that have a Stage 1 by model and method, in their primary decoding."""
    found: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.main_arms():
        if any(attempt.extraction for attempt in arm.all_attempts()):
            found.setdefault((arm.model, arm.method), []).append(arm)
    return found


@dataclass(frozen=True, slots=True)
class RecoveryCounts:
    """Stage 1 replies of a method, by recovery step."""

    model: str
    name: str
    """The method as tables print it."""
    by_rung: Mapping[str, int]
    """Replies by the name of the recovery step that read them."""

    @property
    def total(self) -> int:
        """All replies."""
        return sum(self.by_rung.values())

    @property
    def unknown(self) -> int:
        """Replies whose step has a name that is none of these."""
        return self.total - sum(self.by_rung.get(rung, 0) for rung in RUNGS)

    @property
    def malformed(self) -> int:
        """Replies that were no JSON as they stood."""
        return self.total - sum(self.by_rung.get(rung, 0) for rung in WELL_FORMED)

    @property
    def malformed_rate(self) -> float:
        """The share of replies that were no JSON as they stood."""
        return self.malformed / self.total

    @property
    def malformed_interval(self) -> Interval:
        """The 95 % Wilson interval of that share."""
        return wilson(self.malformed, self.total)


def count_recovery(study: Study) -> tuple[RecoveryCounts, ...]:
    """Count Stage 1 replies by recovery step, for each model and method."""
    return tuple(
        RecoveryCounts(model, arms[0].name, Counter(e.rung for _, e in stage1_replies(arms)))
        for (model, _), arms in arms_with_stage1(study).items()
    )


def stage1_replies(arms: Iterable[Arm]) -> Iterator[tuple[Key, Extraction]]:
    """Go through all Stage 1 replies, each with its problem."""
    for arm in arms:
        for problem, attempts in arm.attempts.items():
            key = (arm.benchmark, problem)
            for attempt in attempts:
                if attempt.extraction:
                    yield key, attempt.extraction


@dataclass(frozen=True, slots=True)
class GoldSample:
    """Extent of an audit of Stage 1 against gold constraints."""

    statements: int
    """Constraints in the audited replies, the undecided ones among them."""
    audited: int
    """Replies that were audited."""
    replies: int
    """Replies that the audited ones were drawn from."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Soundness and completeness of the constraints that Stage 1 lists."""

    validity: float | None
    """From 0 to 1, as are the others; None where nothing could be decided."""
    hallucination: float | None
    n: float
    """How many constraints the two are shares of."""
    completeness: float | None = None
    """Of what a problem demands, the share that its replies state."""
    expected: float = 0
    """How many demands that is a share of."""
    gold: GoldSample | None = None
    """The extent of the audit against gold constraints; None where people judged."""
    apart: Mapping[str, Quality] = field(default_factory=dict[str, "Quality"])
    """The range and the format that replies give for the answer, which are no constraints."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over problems."""

    value: float
    interval: Interval | None
    """95 %, by bootstrap over problems; None where all problems are alike."""


@dataclass(frozen=True, slots=True)
class ConstraintCounts:
    """Mean numbers of constraints that Stage 1 lists for a problem."""

    model: str
    method: str
    name: str
    raw: Mean
    propagated: Mean
    problems: int
    replies: int


def count_constraints(study: Study) -> tuple[ConstraintCounts, ...]:
    """Average the constraints listed: over the replies to a problem, then over problems."""
    return tuple(_counts(model, arms) for (model, _), arms in arms_with_stage1(study).items())


def _counts(model: str, arms: Sequence[Arm]) -> ConstraintCounts:
    raw: dict[Key, int] = Counter()
    propagated: dict[Key, int] = Counter()
    made: dict[Key, int] = Counter()
    for key, reply in stage1_replies(arms):
        made[key] += 1
        raw[key] += len(reply.kinds)
        propagated[key] += reply.propagated
    return ConstraintCounts(
        model,
        arms[0].method,
        arms[0].name,
        _mean(raw, made),
        _mean(propagated, made),
        problems=len(made),
        replies=sum(made.values()),
    )


def _mean(totals: Mapping[Key, int], runs: Mapping[Key, int]) -> Mean:
    unit = math.lcm(*set(runs.values()))
    values = [totals[key] * unit // count for key, count in runs.items()]
    mean = sum(values) / len(values) / unit
    if len(set(values)) == 1:
        return Mean(mean, None)
    return Mean(mean, bootstrap(values, 1 / unit).interval())


# Kinds of constraint that Stage 1 names, and a method's gain where it names them.
#
# Paper: Constraint Category Analysis.

OTHER_KIND: Final = "other"
"""All kinds that a model names outside the paper's eight, and constraints without a kind."""

_KINDS: Final = (*KINDS, OTHER_KIND)


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of constraint: the problems for which Stage 1 names it, and a method's gain there."""

    model: str
    kind: str
    present: int
    problems: int
    """Problems that have a Stage 1 reply."""
    gain: Gain | None

    @property
    def frequency(self) -> float:
        """The share of problems that have the kind."""
        return self.present / self.problems


def categories(study: Study, method: str, baseline: str = BASELINE) -> tuple[Category, ...]:
    """Find the kinds that Stage 1 names, by model, and the gain on the problems that have each.

    A problem has a kind where at least half of the replies to it name one. To ask for any reply
    would let every kind grow with the number of runs.
    """
    gains = {side.model: side for side in pairs_by_model(study, method, baseline)}
    found: list[Category] = []
    for (model, name), arms in arms_with_stage1(study).items():
        if name == method:
            named, side = kinds_named(arms), gains.get(model)
            for kind in _KINDS:
                having = {key for key, kinds in named.items() if kind in kinds}
                gain = side.gain(having) if side else None
                found.append(Category(model, kind, len(having), len(named), gain))
    return tuple(found)


def kinds_named(arms: Iterable[Arm]) -> dict[Key, tuple[str, ...]]:
    """List the kinds that each problem with a Stage 1 reply has, in the paper's order."""
    named: Counter[tuple[Key, str]] = Counter()
    made: Counter[Key] = Counter()
    for key, reply in stage1_replies(arms):
        made[key] += 1
        for kind in {kind if kind in KINDS else OTHER_KIND for kind in reply.kinds}:
            named[key, kind] += 1
    return {
        key: tuple(kind for kind in _KINDS if 2 * named[key, kind] >= count)
        for key, count in made.items()
    }


# Tables of Stage 1 replies: recovery steps, numbers of constraints, and their soundness.
#
# Paper: Stage 1 Constraint Reliability; appendix JSON Parsing and Error Handling.

NOTHING: Final = "No attempt of this study has a Stage 1 reply on record."
"""The note of a table about Stage 1 in a study that has none."""


def parsing_table(study: Study) -> Table:
    """Tabulate Stage 1 replies by recovery step."""
    found = count_recovery(study)
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Replies")),
        *(Column(rung.capitalize()) for rung in RUNGS),
        Column("Malformed [95 %]"),
    )
    odd = sum(one.unknown for one in found)
    notes = [
        "A reply is read by the first recovery step that can: parsed as JSON; empty, valid JSON "
        "without a constraint; repaired into JSON; fields, picked out of the text; fallback. After "
        "an empty reply and a fallback the problem is solved without constraints. Malformed: not "
        "JSON as it stood, thinking before it aside; a fence of code around it is enough. "
        "Its interval is Wilson's."
    ]
    if odd:
        unknown = several(odd, "reply", "replies")
        notes.append(f"Read by a step of another name and counted as malformed: {unknown}.")
    if any(one.by_rung.get("fallback") for one in found):
        notes.append(
            "Runs of versions that did not tell them apart keep valid but empty replies under "
            "fallback, and those with thinking before their JSON under repaired."
        )
    return Table(
        "parsing",
        "Stage 1 replies by recovery step",
        columns,
        tuple(map(_parsing_row, found)),
        notes=tuple(notes) if found else (NOTHING,),
    )


def _parsing_row(one: RecoveryCounts) -> Row:
    low, high = one.malformed_interval
    return row(
        model_label(one.model),
        one.name,
        f"{one.total:,}",
        *(share(one.by_rung.get(rung, 0), one.total) for rung in RUNGS),
        percent(one.malformed_rate) + interval((100 * low, 100 * high)),
    )


def extraction_table(
    study: Study, quality: Mapping[tuple[str, str], Quality] | None = None
) -> Table:
    """Tabulate how many constraints Stage 1 lists and, where they were audited, how sound they are.

    ``quality`` is by model and method.
    """
    found, quality = count_constraints(study), quality or {}
    columns = (
        *(Column("Model", "left"), Column("Method", "left"), Column("Problems")),
        *(Column("Raw [95 %]"), Column("Propagated [95 %]")),
        *(Column("Validity"), Column("Halluc."), Column("Complete")),
        Column("Judged", "left"),
    )
    chosen = [quality.get((one.model, one.method)) for one in found]
    rows = [
        line
        for one, known in zip(found, chosen, strict=True)
        for line in (_counts_row(one, known), *_rows_apart(known))
    ]
    return Table(
        "extraction",
        "Stage 1: constraints for a problem, and their soundness",
        columns,
        tuple(rows),
        notes=tuple(_extraction_notes(found, chosen)) if found else (NOTHING,),
        paper=("tab:extraction-reliability",),
    )


def _counts_row(one: ConstraintCounts, quality: Quality | None) -> Row:
    return row(
        model_label(one.model),
        one.name,
        f"{one.problems:,}",
        *(decimal(m.value, 2) + interval(m.interval, 2) for m in (one.raw, one.propagated)),
        *_rates(quality),
        _judged(quality),
    )


def _rows_apart(quality: Quality | None) -> Iterator[Row]:
    """Show what a reply says of the answer's range and format, which are no constraints."""
    for name, one in quality.apart.items() if quality else ():
        total = one.gold.statements if one.gold else one.n
        yield row("", name, "", "", "", *_rates(one)[:2], "", f"by gold: {one.n:,} of {total:,}")


def _rates(quality: Quality | None) -> tuple[str, str, str]:
    if quality is None:
        return NONE, NONE, NONE
    shares = (
        (quality.validity, quality.n),
        (quality.hallucination, quality.n),
        (quality.completeness, quality.expected),
    )
    valid, made_up, complete = (_rate(value, n) for value, n in shares)
    return valid, made_up, complete


def _rate(value: float | None, n: float) -> str:
    if value is None or not n:
        return NONE
    low, high = wilson(value * n, n)
    return percent(value) + interval((100 * low, 100 * high))


def _judged(quality: Quality | None) -> str:
    if quality is None:
        return NONE
    whole = f"; complete: of {quality.expected:,}" if quality.expected else ""
    if (gold := quality.gold) is None:
        return f"by hand: {quality.n:,}{whole}"
    of = f" of {gold.replies:,}" if gold.audited < gold.replies else ""
    listed = f"{quality.n:,} of {gold.statements:,} constraints"
    return f"by gold: {listed} in {gold.audited:,}{of} replies{whole}"


_BY_GOLD: Final = (
    "By gold: valid is what the gold constraints of a problem imply, hallucinated what its true "
    "answer contradicts; what is true and not implied is neither. What cannot be decided is left "
    "out. Complete: the gold constraints that a reply states anywhere."
)
_BY_HAND: Final = (
    "By hand: complete is what people found entailed among the raw constraints and what they found "
    "missing."
)
_APART: Final = (
    "Answer range and answer format are fields of the reply beside its constraints. They are "
    "judged alike and counted apart; the paper's figures are of constraints alone."
)


def _extraction_notes(
    found: Sequence[ConstraintCounts], chosen: Sequence[Quality | None]
) -> Iterator[str]:
    yield (
        "Raw: constraints read from the problem. Propagated: consequences that the reply derives. "
        "Both are means over the replies to a problem, then over problems; a reply that could not "
        "be used counts as none. Their intervals are BCa, of a bootstrap over problems."
    )
    known = list(filter(None, chosen))
    if any(one.n for one in known):
        yield (
            "Intervals of validity, hallucination and completeness are Wilson's and take "
            "constraints to be independent: they understate the uncertainty."
        )
    if len(known) < len(found):
        yield f"{NONE}: not audited, which takes gold constraints or a person's marks."
    if any(one.gold for one in known):
        yield _BY_GOLD
    if any(one.gold is None for one in known):
        yield _BY_HAND
    if any(one.apart for one in known):
        yield _APART


# Table of the kinds of constraint that Stage 1 names (paper: Constraint Category Analysis).


def categories_table(study: Study, method: str, baseline: str = BASELINE) -> Table:
    """Tabulate the kinds that Stage 1 names, the most frequent first."""
    found = categories(study, method, baseline)
    rows: list[Row] = []
    for model in dict.fromkeys(one.model for one in found):
        own = sorted((o for o in found if o.model == model), key=lambda one: -one.present)
        rows += [
            row(
                "" if at else model_label(model),
                one.kind.capitalize(),
                share(one.present, one.problems),
                gain_cell(one.gain),
                f"{one.gain.n if one.gain else 0:,}",
            )
            for at, one in enumerate(own)
        ]
    names = {arm.method: arm.name for arm in study.arms}
    columns = (
        *(Column("Model", "left"), Column("Category", "left"), Column("Problems that have it")),
        *(Column("Δ there, points [95 %]"), Column("Problems compared")),
    )
    return Table(
        "categories",
        f"Kinds of constraint that Stage 1 of {names.get(method, method)} names, and its gain over "
        f"{names.get(baseline, baseline)} there",
        columns,
        tuple(rows),
        notes=tuple(_category_notes(study, found, method)) if found else (NOTHING,),
        paper=("tab:constraint-categories",),
    )


def _category_notes(study: Study, found: Sequence[Category], method: str) -> Iterator[str]:
    yield "A problem has a kind where at least half of the Stage 1 replies to it name one."
    yield GAIN_INTERVAL
    for model in dict.fromkeys(one.model for one in found):
        where = ", ".join(
            benchmark_label(arm.benchmark)
            for arm in study.main_arms()
            if arm.model == model and arm.method == method and arm.attempts
        )
        problems = next(one.problems for one in found if one.model == model)
        replied = several(problems, "problem")
        yield f"{model_label(model)}: {replied} of {where} with a Stage 1 reply."
    if any(one.present for one in found if one.kind == OTHER_KIND):
        yield "Other: kinds outside the eight, and constraints that name none."
    yield "Problems of a kind differ in other ways too: a gain there is not an effect of the kind."


# Bar chart of constraint categories: share of problems, and gain where they are found.
#
# Paper: figure "constraint categories". There the gains are multiplied by ten to share a scale with
# the frequencies; here each has a scale of its own.

CATEGORIES: Final = Caption(
    "constraint-categories",
    "Constraint categories: share of problems, and gain where present",
    ("fig:constraint-categories",),
)


@dataclass(frozen=True, slots=True)
class CategoryBar:
    """A category of constraints over the problems of a study."""

    name: str
    share: float
    """Of all problems, from 0 to 1."""
    gain: Estimate | None = None
    """Points of accuracy on the problems that have it; None where there is nothing to compare."""
    n: int | None = None
    """How many problems the gain is over."""


def draw_categories(rows: Sequence[CategoryBar], caption: Caption = CATEGORIES) -> Figure | None:
    """Draw categories in the order given, frequency on the left and gain on the right."""
    shown = [row for row in rows if finite(row.share) is not None]
    if not shown:
        return None
    board = Rows([Band(row.name) for row in shown], _columns(shown))
    with sheet(board.height) as page:
        left, right = board.draw(page, panels=2)
        for number, (row, y) in enumerate(zip(shown, board.lanes, strict=True)):
            draw_bar(left, 100 * row.share, y, f"share-{number}")
            if row.gain and row.gain.drawable:
                draw_bar(right, row.gain.value, y, f"gain-{number}", 1)
                if row.gain.ends:
                    draw_interval(right, row.gain.ends, y, f"interval-{number}")
        _share_scale(left)
        set_gain_scale(right, _values(shown), "gain where present, points")
        return page.finish(caption, _alt(shown), _notes(shown, len(rows)))


def _columns(rows: Sequence[CategoryBar]) -> list[NumberColumn]:
    columns = [
        NumberColumn("share", tuple(percent(row.share, 0) for row in rows)),
        NumberColumn("gain", tuple(points(_gain(row)) for row in rows)),
    ]
    if numbers := counts([row.n for row in rows]):
        columns.append(NumberColumn("n", numbers, muted=True))
    return columns


def _values(rows: Sequence[CategoryBar]) -> list[float]:
    drawn = (row.gain for row in rows if row.gain and row.gain.drawable)
    return [value for gain in drawn for value in gain.values]


def _share_scale(axes: Axes) -> None:
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 50, 100])
    axes.set_xticklabels(["0 %", "50 %", "100 %"])
    axes.set_xlabel("share of problems", fontsize=SMALL, color=MUTED)


def _alt(rows: Sequence[CategoryBar]) -> str:
    said = listed((f"{clean(row.name)} {percent(row.share, 0)}{_gained(row)}" for row in rows), 10)
    return (
        "Two panels of bars for each constraint category, the share of problems that have it and "
        f"the gain in points where it is present: {said}."
    )


def _gain(row: CategoryBar) -> float | None:
    return finite(row.gain.value) if row.gain else None


def _gained(row: CategoryBar) -> str:
    gain = _gain(row)
    return "" if gain is None else f" ({points(gain)})"


def _notes(rows: Sequence[CategoryBar], given: int) -> list[str]:
    notes: list[str] = []
    if any(row.gain and row.gain.ends for row in rows):
        notes.append(
            "Lines across bars are 95 % BCa intervals; one that crosses zero shows no difference."
        )
    if none := sum(_gain(row) is None for row in rows):
        notes.append(f"Nothing to compare in {several(none, 'category', 'categories')}.")
    return [*notes, *shortfalls(0, given - len(rows), "category", "categories")]


# Word cloud of the phrases that restrict answers (paper: figure "constraint wordcloud").
#
# Words are set one by one, the most frequent first, each at the first free place of a spiral from
# the middle. Nothing is left to chance, and no two overlap.

CLOUD: Final = Caption(
    "constraint-wordcloud",
    "Words that restrict answers, by frequency",
    ("fig:constraint-wordcloud",),
)
MOST_WORDS: Final = 60
_SMALLEST: Final = 8.0
_LARGEST: Final = 34.0
_WIDEST: Final = 3.6
_LONGEST: Final = 40
_CLOUD_APART: Final = (0.08, 0.05)
_FLAT: Final = 0.5
"""How tall the spiral is to its width."""
_FILLED: Final = 8.0
"""Square inches that all words together are to cover."""
_STEP: Final = 0.06
_PLACES: Final = 40_000
_AT_ONCE: Final = 1_500
Floats: TypeAlias = NDArray[np.float64]
_Outline: TypeAlias = "tuple[str, Path, Bbox]"


@dataclass(frozen=True, slots=True)
class Word:
    """A word in its place: inches from the middle of the cloud to its lower left corner."""

    text: str
    key: str
    """The word as it was given."""
    left: float
    bottom: float
    width: float
    height: float
    path: Path
    """Its outline in inches, from that corner."""


def draw_cloud(
    words: Mapping[str, int], families: Mapping[str, str], caption: Caption = CLOUD
) -> Figure | None:
    """Draw cue phrases, sized by the root of how often they occur and coloured by family."""
    often = {word: number for word, number in words.items() if number > 0 and clean(word)}
    if not often:
        return None
    shown = dict(sorted(often.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS])
    if not (placed := arrange(shown)):
        return None
    looks = _looks(shown, families)
    left, low = min(w.left for w in placed), min(w.bottom for w in placed)
    wide = max(w.left + w.width for w in placed) - left
    tall = max(w.bottom + w.height for w in placed) - low
    with sheet(tall) as page:
        start = (WIDTH - wide) / 2 - left
        for number, word in enumerate(placed):
            colour = looks[families.get(word.key, "")]
            _draw(page, word, (start + word.left, word.bottom - low), f"word-{number}", colour)
        entries = [
            KeyEntry(family or "other", {"facecolor": colour}, f"key-{number}")
            for number, (family, colour) in enumerate(looks.items())
        ]
        if any(looks):
            draw_key(page, entries, 0, WIDTH, tall + 0.25)
        return page.finish(caption, _alt_cloud(often, shown), _notes_cloud(often, shown))


def arrange(words: Mapping[str, int]) -> list[Word]:
    """Find a place for each word that can be seen, in the order given, from the middle outwards."""
    drawn = {word: _outline(clean(word, _LONGEST)) for word in words}
    outlines = {word: outline for word, outline in drawn.items() if outline}
    sizes = _sizes(words, outlines)
    taken: list[Box] = []
    placed: list[Word] = []
    spiral = _spiral()
    for word, (text, path, box) in outlines.items():
        scale = sizes[word]
        wide, tall = box.width * scale, box.height * scale
        x, y = _free(spiral, taken, wide + _CLOUD_APART[0], tall + _CLOUD_APART[1])
        taken.append(Box.around(x, y, (wide + _CLOUD_APART[0]) / 2, (tall + _CLOUD_APART[1]) / 2))
        shape = load("transforms").Affine2D().translate(-box.x0, -box.y0).scale(scale)
        placed.append(
            Word(text, word, x - wide / 2, y - tall / 2, wide, tall, shape.transform_path(path))
        )
    return placed


def _outline(text: str) -> _Outline | None:
    """Return a text with its path and its box, as inches at a size of one point."""
    textpath = load("textpath").text_to_path
    vertices, codes = textpath.get_text_path(font(1, bold=True), text, ismath=False)
    path = load("path").Path(np.asarray(vertices) / textpath.FONT_SCALE / 72, codes)
    # What ends a contour has no place of its own; the points that steer curves lie outside of them.
    placed = path.vertices[np.asarray(path.codes) != path.CLOSEPOLY]
    if not len(placed):
        return None  # a blank that Unicode does not call one
    return text, path, load("transforms").Bbox([placed.min(axis=0), placed.max(axis=0)])


def _sizes(words: Mapping[str, int], outlines: Mapping[str, _Outline]) -> dict[str, float]:
    """Give each word its points: the root of its count, in a measure that fills the sheet."""
    most = max((words[word] for word in outlines), default=1)
    area = sum(
        words[word] / most * box.width * box.height for word, (_, _, box) in outlines.items()
    )
    largest = min(max(math.sqrt(_FILLED / max(area, 1e-9)), _SMALLEST), _LARGEST)
    return {
        word: min(
            max(largest * math.sqrt(number / most), _SMALLEST), _WIDEST / outlines[word][2].width
        )
        for word, number in words.items()
        if word in outlines
    }


def _spiral() -> Floats:
    """Return places from the middle outwards, evenly apart."""
    turn = _STEP / (2 * math.pi)
    angle = np.sqrt(2 * _STEP / turn * np.arange(_PLACES))
    return np.column_stack((turn * angle * np.cos(angle), _FLAT * turn * angle * np.sin(angle)))


def _free(spiral: Floats, taken: Sequence[Box], wide: float, tall: float) -> tuple[float, float]:
    """Return the first place where a box of this size meets no other."""
    if not taken:
        return 0.0, 0.0
    left, bottom, right, top = np.asarray(taken).T
    for start in range(0, len(spiral), _AT_ONCE):
        x, y = spiral[start : start + _AT_ONCE].T[:, :, None]
        across = (x - wide / 2 < right) & (left < x + wide / 2)
        free = ~(across & (y - tall / 2 < top) & (bottom < y + tall / 2)).any(axis=1)
        if free.any():
            found = spiral[start + int(free.argmax())]
            return float(found[0]), float(found[1])
    return 0.0, float(bottom.min()) - tall


def _looks(words: Mapping[str, int], families: Mapping[str, str]) -> dict[str, str]:
    """Give each family a colour, the most frequent first; words of none have the ink's."""
    weight: dict[str, int] = {}
    for word, number in words.items():
        family = families.get(word, "")
        weight[family] = weight.get(family, 0) + number
    ordered = sorted(filter(None, weight), key=lambda family: (-weight[family], family))
    looks = {family: PALETTE[at % len(PALETTE)] for at, family in enumerate(ordered)}
    return looks | ({"": INK} if "" in weight else {})


def _draw(page: Sheet, word: Word, spot: tuple[float, float], gid: str, colour: str) -> None:
    """Draw a word as an outline: its place was found for these very shapes."""
    moved = load("transforms").Affine2D().translate(*spot).transform_path(word.path)
    patch = load("patches").PathPatch(moved, facecolor=colour, linewidth=0)
    patch.set_in_layout(False)  # it lies on the sheet; measuring it again would take long
    page.add(patch, gid)


def _alt_cloud(often: Mapping[str, int], shown: Mapping[str, int]) -> str:
    said = listed((f"{clean(word, _LONGEST)} ({shown[word]:,})" for word in shown), 10)
    return (
        f"A cloud of {several(len(shown), 'phrase')} out of {len(often):,}, by frequency: {said}."
    )


def _notes_cloud(often: Mapping[str, int], shown: Mapping[str, int]) -> list[str]:
    notes = ["The area of a phrase grows with how often it occurs; very long ones are set smaller."]
    if len(often) > len(shown):
        left_out = several(len(often) - len(shown), "phrase")
        notes.append(f"The {len(shown)} most frequent are drawn; {left_out} are left out.")
    return notes
