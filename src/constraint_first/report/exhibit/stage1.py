"""Stored Stage 1 replies: their parsing, their numbers of constraints, and the soundness of these.

Paper: Stage 1 Constraint Reliability, Constraint Category Analysis; appendix JSON Parsing and
Error Handling. A reply is read by the first recovery step that succeeds (``constraint.stage1``):
parsed, empty, repaired, fields, fallback. Stores keep the name of the step as ``rung``.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from constraint_first.benchmark.constraintbench.family import find_item, is_constraintbench
from constraint_first.constraint.claim import contradicts, names_of_answer, read_claims
from constraint_first.constraint.predicate import truth_of
from constraint_first.constraint.stage1 import KINDS, RUNGS, WELL_FORMED, ConstraintSpec
from constraint_first.constraint.stated.read import read_stated
from constraint_first.file.rows import row_format
from constraint_first.file.safe import file_stem
from constraint_first.method.constraint_first import CFR
from constraint_first.method.method import MethodError, parts_of
from constraint_first.method.registry import make, plain_name
from constraint_first.problem import Json, Problem
from constraint_first.report import canvas, table
from constraint_first.report.canvas import Box, Figure, clean, load
from constraint_first.report.comparison import BASELINE, Gain, Key, pairs_by_model
from constraint_first.report.exhibit.exhibit import Context, Exhibit
from constraint_first.report.exhibit.gold import Quality, audit, gold_quality, statements
from constraint_first.report.exhibit.marks import (
    Label,
    annotator_table,
    by_attempt,
    by_method,
    manual_audit_table,
    refuse_mismatch,
)
from constraint_first.report.reader import existing_store, outcome_lines
from constraint_first.report.statistics import bootstrap, wilson
from constraint_first.report.study import (
    Arm,
    Extraction,
    Study,
    Transcript,
    benchmark_label,
    model_label,
)
from constraint_first.report.table import NONE, Column, Row, Table, left, row
from constraint_first.store.query import RecordKey, attempt_rows

if TYPE_CHECKING:
    from matplotlib.path import Path as Outline
    from matplotlib.transforms import Bbox

_NOTHING: Final = "No attempt of this study has a Stage 1 reply on record."


def arms_with_stage1(study: Study) -> dict[tuple[str, str], list[Arm]]:
    """Group the arms that have a Stage 1 by model and method, in their primary decoding."""
    found: dict[tuple[str, str], list[Arm]] = {}
    for arm in study.main_arms():
        if any(attempt.extraction for attempt in arm.all_attempts()):
            found.setdefault((arm.model, arm.method), []).append(arm)
    return found


def stage1_replies(arms: Iterable[Arm]) -> Iterator[tuple[Key, Extraction]]:
    """Yield all Stage 1 replies, each with its problem."""
    for arm in arms:
        for problem, attempts in arm.attempts.items():
            for attempt in attempts:
                if attempt.extraction:
                    yield (arm.benchmark, problem), attempt.extraction


# Recovery steps.


def parsing_table(study: Study) -> Table:
    rows: list[Row] = []
    odd = fallback = 0
    for (model, _), arms in arms_with_stage1(study).items():
        steps = Counter(reply.rung for _, reply in stage1_replies(arms))
        total = steps.total()
        odd += total - sum(steps[rung] for rung in RUNGS)
        fallback += steps["fallback"]
        malformed = total - sum(steps[rung] for rung in WELL_FORMED)
        rows.append(
            row(
                *(model_label(model), arms[0].name, f"{total:,}"),
                *(table.share(steps[rung], total) for rung in RUNGS),
                _rate(malformed / total, total),
            )
        )
    notes = [
        "A reply is read by the first recovery step that can: parsed as JSON; empty, valid JSON "
        "without a constraint; repaired into JSON; fields, picked out of the text; fallback. After "
        "an empty reply and a fallback the problem is solved without constraints. Malformed: not "
        "JSON as it stood, thinking before it aside; a fence of code around it is enough. "
        "Its interval is Wilson's."
    ]
    if odd:
        unknown = table.several(odd, "reply", "replies")
        notes.append(f"Read by a step of another name and counted as malformed: {unknown}.")
    if fallback:
        notes.append(
            "Runs of versions that did not tell them apart keep valid but empty replies under "
            "fallback, and those with thinking before their JSON under repaired."
        )
    titles = ("Replies", *(rung.capitalize() for rung in RUNGS), "Malformed [95 %]")
    return Table(
        "parsing",
        "Stage 1 replies by recovery step",
        (*left("Model", "Method"), *map(Column, titles)),
        tuple(rows),
        tuple(notes) if rows else (_NOTHING,),
    )


# Numbers of constraints, and their soundness.


def extraction_table(
    study: Study, quality: Mapping[tuple[str, str], Quality] | None = None
) -> Table:
    """Tabulate how many constraints Stage 1 lists, with their quality by model and method."""
    groups = arms_with_stage1(study)
    rows: list[Row] = []
    known: list[Quality] = []
    for (model, method), arms in groups.items():
        judged = (quality or {}).get((model, method))
        known += [judged] if judged else []
        raw, propagated, made = Counter[Key](), Counter[Key](), Counter[Key]()
        for key, reply in stage1_replies(arms):
            made[key] += 1
            raw[key] += len(reply.kinds)
            propagated[key] += reply.propagated
        rows.append(
            row(
                *(model_label(model), arms[0].name, f"{len(made):,}"),
                *(_mean(totals, made) for totals in (raw, propagated)),
                *_rates(judged),
                _judged(judged),
            )
        )
        # Statements of the answer's range and format, which are no constraints.
        for name, one in judged.apart.items() if judged else ():
            of = f"by gold: {one.n:,} of {one.statements:,}"
            rows.append(row("", name, "", "", "", *_rates(one)[:2], "", of))
    titles = ("Problems", "Raw [95 %]", "Propagated [95 %]", "Validity", "Halluc.", "Complete")
    return Table(
        "extraction",
        "Stage 1: constraints for a problem, and their soundness",
        (*left("Model", "Method"), *map(Column, titles), *left("Judged")),
        tuple(rows),
        tuple(_extraction_notes(len(groups), known)) if groups else (_NOTHING,),
        ("tab:extraction-reliability",),
    )


def _mean(totals: Mapping[Key, int], runs: Mapping[Key, int]) -> str:
    """Average over the replies to a problem, then over problems, with a bootstrap interval."""
    unit = math.lcm(*set(runs.values()))
    values = [totals[key] * unit // count for key, count in runs.items()]
    ends = bootstrap(values, 1 / unit).interval() if len(set(values)) > 1 else None
    return table.decimal(sum(values) / len(values) / unit, 2) + table.interval(ends, 2)


def _rates(quality: Quality | None) -> list[str]:
    if quality is None:
        return [NONE] * 3
    shares = ((quality.validity, quality.n), (quality.hallucination, quality.n))
    return [_rate(*one) for one in (*shares, (quality.completeness, quality.expected))]


def _rate(value: float | None, n: float) -> str:
    if value is None or not n:
        return NONE
    low, high = wilson(value * n, n)
    return table.percent(value) + table.interval((100 * low, 100 * high))


def _judged(quality: Quality | None) -> str:
    if quality is None:
        return NONE
    whole = f"; complete: of {quality.expected:,}" if quality.expected else ""
    if not quality.by_gold:
        return f"by hand: {quality.n:,}{whole}"
    of = f" of {quality.replies:,}" if quality.audited < quality.replies else ""
    part = f"{quality.n:,} of {quality.statements:,} constraints"
    return f"by gold: {part} in {quality.audited:,}{of} replies{whole}"


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


def _extraction_notes(groups: int, known: Sequence[Quality]) -> Iterator[str]:
    yield (
        "Raw: constraints read from the problem. Propagated: consequences that the reply derives. "
        "Both are means over the replies to a problem, then over problems; a reply that could not "
        "be used counts as none. Their intervals are BCa, of a bootstrap over problems."
    )
    if any(one.n for one in known):
        yield (
            "Intervals of validity, hallucination and completeness are Wilson's and take "
            "constraints to be independent: they understate the uncertainty."
        )
    if len(known) < groups:
        yield f"{NONE}: not audited, which takes gold constraints or a person's marks."
    if any(one.by_gold for one in known):
        yield _BY_GOLD
    if not all(one.by_gold for one in known):
        yield _BY_HAND
    if any(one.apart for one in known):
        yield _APART


# Kinds of constraint that Stage 1 names, and a method's gain on the problems of each.
#
# Paper: Constraint Category Analysis.

OTHER_KIND: Final = "other"
"""Kinds outside the paper's eight, and constraints without a kind."""
KINDS_AND_OTHER: Final = (*KINDS, OTHER_KIND)


class Category(NamedTuple):
    """A kind of constraint: the problems for which Stage 1 names it, and a method's gain there."""

    model: str
    kind: str
    present: int
    problems: int
    """Problems that have a Stage 1 reply."""
    gain: Gain | None


def categories(study: Study, method: str, baseline: str = BASELINE) -> tuple[Category, ...]:
    """Find the kinds that Stage 1 names, by model, and the gain on the problems of each.

    A problem has a kind if at least half of its replies name the kind. With a single reply as the
    criterion, every kind would become more frequent with the number of runs.
    """
    gains = {side.model: side for side in pairs_by_model(study, method, baseline)}
    found: list[Category] = []
    for (model, name), arms in arms_with_stage1(study).items():
        named, made, side = Counter[tuple[Key, str]](), Counter[Key](), gains.get(model)
        for key, reply in stage1_replies(arms if name == method else ()):
            made[key] += 1
            named.update({(key, kind if kind in KINDS else OTHER_KIND) for kind in reply.kinds})
        for kind in KINDS_AND_OTHER if made else ():
            having = {key for key, count in made.items() if 2 * named[key, kind] >= count}
            gain = side.gain(having) if side else None
            found.append(Category(model, kind, len(having), len(made), gain))
    return tuple(found)


def categories_table(study: Study, method: str, baseline: str = BASELINE) -> Table:
    """Tabulate the kinds that Stage 1 names, the most frequent first."""
    found = categories(study, method, baseline)
    rows = [
        row(
            *("" if at else model_label(model), one.kind.capitalize()),
            *(table.share(one.present, one.problems), table.gain_cell(one.gain)),
            f"{one.gain.n if one.gain else 0:,}",
        )
        for model, own in groupby(found, key=lambda one: one.model)
        for at, one in enumerate(sorted(own, key=lambda one: -one.present))
    ]
    titles = ("Problems that have it", "Δ there, points [95 %]", "Problems compared")
    return Table(
        "categories",
        f"Kinds of constraint that Stage 1 of {study.method_name(method)} names, and its gain over "
        f"{study.method_name(baseline)} there",
        (*left("Model", "Category"), *map(Column, titles)),
        tuple(rows),
        tuple(_category_notes(study, found, method)) if found else (_NOTHING,),
        ("tab:constraint-categories",),
    )


def _category_notes(study: Study, found: Sequence[Category], method: str) -> Iterator[str]:
    yield "A problem has a kind where at least half of the Stage 1 replies to it name one."
    yield table.GAIN_INTERVAL
    arms = [arm for arm in study.main_arms() if arm.method == method and arm.attempts]
    for model, problems in {one.model: one.problems for one in found}.items():
        where = ", ".join(benchmark_label(arm.benchmark) for arm in arms if arm.model == model)
        replied = table.several(problems, "problem")
        yield f"{model_label(model)}: {replied} of {where} with a Stage 1 reply."
    if any(one.present for one in found if one.kind == OTHER_KIND):
        yield "Other: kinds outside the eight, and constraints that name none."
    yield "Problems of a kind differ in other ways too: a gain there is not an effect of the kind."


# Pairs of a problem and its constraints, to train a model that extracts them.
#
# Paper: appendix "Learned constraint extraction". The pairs come from Stage 1 of stored attempts.
# A pair is kept only if its reply parsed without repair and its constraints are contradicted
# neither by the problem's text nor by the gold nor by annotators' marks.

PairPrompt: TypeAlias = Literal["stage1", "problem"]
"""The user message of a pair: Stage 1's own prompt, or the text of the problem alone."""
_KEY: Final = ("benchmark", "method", "model", "decoding", "problem", "run")


@dataclass(frozen=True, slots=True)
class PairRules:
    """Optional requirements on pairs, and their format."""

    labels: Sequence[Label] = ()
    """Marks of annotators; those of other attempts are ignored."""
    right: bool = False
    """Whether the attempt must have ended with the right answer."""
    prompt: PairPrompt = "stage1"


@dataclass(frozen=True, slots=True)
class TrainingPair:
    key: RecordKey
    problem: str
    spec: ConstraintSpec

    def messages(self, prompt: PairPrompt) -> list[dict[str, Json]]:
        asked = self.problem
        if prompt == "stage1":
            (message,) = _stages_of(self.key[1]).extraction(Problem(self.problem)).messages
            asked = message.content
        reply = json.dumps(self.spec.to_json(), ensure_ascii=False)
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": reply}]


@dataclass(slots=True)
class TrainingPairs:
    """The pairs that were kept, in an order independent of the store, and counts of the others."""

    kept: list[TrainingPair] = field(default_factory=list[TrainingPair])
    dropped: Counter[str] = field(default_factory=Counter[str])
    """The number of dropped pairs by their first reason."""
    marked: int = 0
    """The number of pairs, kept or dropped, that annotators had judged."""

    @property
    def benchmarks(self) -> dict[str, int]:
        return dict(sorted(Counter(pair.key[0] for pair in self.kept).items()))


def pair_rows(source: str) -> Iterator[Mapping[str, Any]]:
    """Read the attempts of a store, or of a file that ``cfr export`` wrote."""
    if row_format(Path(source)):
        yield from (row for _, row in outcome_lines(Path(source)))
        return
    with existing_store(source) as store:
        for stored in attempt_rows(store):
            yield stored | {"details": orjson.loads(stored["details"])}


def collect_pairs(
    rows: Iterable[Mapping[str, Any]], rules: PairRules, source: str
) -> TrainingPairs:
    """Extract pairs from attempts; attempts without a Stage 1 are skipped."""
    found, judged = TrainingPairs(), by_attempt(rules.labels)
    candidates: list[TrainingPair] = []
    for one in rows:
        details: dict[str, Json] = one["details"]
        if not isinstance(details.get("rung"), str):
            continue
        listed = details.get("constraints")
        spec = ConstraintSpec.from_mapping(listed if isinstance(listed, dict) else {})
        key = cast("RecordKey", tuple(one[name] for name in _KEY))
        pair = TrainingPair(key, one["problem_text"] or "", spec)
        marks = judged.get(key, [])
        found.marked += bool(marks)
        refuse_mismatch(marks, {key: Transcript("", None, None, 0, spec)}, source)
        if reason := _flaw(one, pair, marks, rules):
            found.dropped[reason] += 1
        else:
            candidates.append(pair)
    once: dict[str, TrainingPair] = {}
    for pair in sorted(candidates, key=lambda pair: pair.key):
        once.setdefault(json.dumps(pair.messages(rules.prompt)), pair)
    found.kept = [*once.values()]
    if twice := len(candidates) - len(found.kept):
        found.dropped["the same pair is there already"] = twice
    return found


def _flaw(
    attempt: Mapping[str, Any], pair: TrainingPair, marks: Sequence[Label], rules: PairRules
) -> str:
    """Return why a pair is dropped; empty if it is kept. The cheapest checks come first."""
    spec, limit = pair.spec, _stages_of(pair.key[1]).limit
    if attempt["details"]["rung"] != "parsed" or not spec.restricts:
        return "the reply was damaged or lists nothing"
    if not pair.problem.strip():
        return "the problem's text is not on record"
    if rules.right and attempt["verdict"] != "correct":
        return "the attempt did not end right"
    if any(one.mark != "entailed" for label in marks for one in label.constraints):
        return "a person marked a constraint as not entailed or vague"
    if any(label.missing for label in marks):
        return "a person found a constraint missing"
    raw, propagated = len(spec.raw_constraints), len(spec.propagated_constraints)
    if rules.prompt == "stage1" and limit and (raw > limit.raw or propagated > limit.propagated):
        return "it lists more than the prompt allows"
    if _breaks_gold(pair, attempt["gold"]):
        return "a constraint is false of the gold answer"
    stated = read_stated(pair.problem)
    if stated and any(contradicts(stated, s.text, pair.problem) for s in statements(spec)):
        return "a constraint contradicts the problem's text"
    return ""


@cache
def _stages_of(method: str) -> CFR:
    """Return the two stages of a method; those of the paper if it is unknown."""
    try:
        made = make(plain_name(method))
    except MethodError:
        return CFR()
    return next((one for one in parts_of(made) if isinstance(one, CFR)), CFR())


def _breaks_gold(pair: TrainingPair, gold: str | None) -> bool:
    """Whether the gold constraints, or else the gold answer, contradict a constraint."""
    benchmark, *_, problem, _ = pair.key
    item = find_item(str(problem)) if is_constraintbench(benchmark) else None
    if item and item.text == pair.problem:
        return "hallucinated" in audit(item, pair.spec).statements
    if not gold:
        return False
    names = names_of_answer(pair.problem)
    return any(
        truth_of(claim.predicate, gold) == "violated"
        for statement in statements(pair.spec)
        for claim in read_claims(statement.text, names)
        if claim.subject == "answer"
    )


# Bar chart of constraint categories (paper: figure "constraint categories").
#
# The paper multiplies gains by ten to share a scale with the frequencies; here each has its own
# scale.


def category_figures(study: Study, method: str, baseline: str) -> Iterator[Figure]:
    """Draw the frequency of each kind of constraint and a method's gain there, by model."""
    found = categories(study, method, baseline)
    for model, own in groupby(found, key=lambda one: one.model):
        yield _draw_categories(model, list(own))


def _draw_categories(model: str, kinds: Sequence[Category]) -> Figure:
    shares = [one.present / one.problems for one in kinds]
    said = [
        (table.percent(s, 0), o.gain and table.points(o.gain.points))
        for s, o in zip(shares, kinds, strict=True)
    ]
    columns = [("share", [part for part, _ in said]), ("gain", [gain or NONE for _, gain in said])]
    if any(one.gain for one in kinds):
        columns.append(("n", [f"{one.gain.n:,}" if one.gain else "" for one in kinds]))
    board = canvas.Rows([(one.kind, 1) for one in kinds], columns)
    with canvas.sheet(board.height) as page:
        shared, gained = board.draw(page, panels=2)
        values: list[float] = []
        for number, (one, part, y) in enumerate(zip(kinds, shares, board.lanes, strict=True)):
            canvas.draw_bar(shared, 100 * part, y, f"share-{number}")
            if one.gain:
                canvas.draw_bar(gained, one.gain.points, y, f"gain-{number}", 1)
                values += [one.gain.points, *(one.gain.interval or ())]
                if one.gain.interval:
                    canvas.draw_interval(gained, one.gain.interval, y, f"interval-{number}")
        shared.set_xlim(0, 100)
        shared.set_xticks([0, 50, 100])
        shared.set_xticklabels(["0 %", "50 %", "100 %"])
        shared.set_xlabel("share of problems", fontsize=canvas.SMALL, color=canvas.MUTED)
        canvas.set_gain_scale(gained, values, "gain where present, points")
        texts = (
            f"{one.kind} {part}" + (f" ({gain})" if gain else "")
            for one, (part, gain) in zip(kinds, said, strict=True)
        )
        alt = (
            "Two panels of bars for each constraint category, the share of problems that have it "
            f"and the gain in points where it is present: {canvas.listed(texts, 10)}."
        )
        notes = [canvas.CROSSING] if any(one.gain and one.gain.interval for one in kinds) else []
        if none := sum(one.gain is None for one in kinds):
            notes.append(f"Nothing to compare in {table.several(none, 'category', 'categories')}.")
        title = "Constraint categories: share of problems, and gain where present"
        name = "constraint-categories"
        if model:
            name, title = file_stem(name, model), f"{title}: {model_label(model)}"
        return page.finish(name, title, alt, notes)


# Word cloud of the phrases that restrict answers (paper: figure "constraint wordcloud").
#
# Words are placed one by one, the most frequent first, each at the first free place of a spiral
# from the middle. The layout is deterministic, and no two words overlap.

MOST_WORDS: Final = 60
_SMALLEST: Final = 8.0
_LARGEST: Final = 34.0
_WIDEST: Final = 3.6
_LONGEST: Final = 40
_CLOUD_APART: Final = (0.08, 0.05)
_FLAT: Final = 0.5
"""The ratio of the spiral's height to its width."""
_FILLED: Final = 8.0
"""The target area of all words together, in square inches."""
_STEP: Final = 0.06
_PLACES: Final = 40_000
_AT_ONCE: Final = 1_500


class Word(NamedTuple):
    """A placed word: inches from the middle of the cloud to its lower left corner."""

    key: str
    """The word as it was given."""
    left: float
    bottom: float
    width: float
    height: float
    path: Outline
    """Its outline in inches, from that corner."""


def draw_cloud(words: Mapping[str, int], families: Mapping[str, str]) -> Figure | None:
    """Draw cue phrases, sized by the square root of their counts and coloured by family."""
    often = {word: number for word, number in words.items() if number > 0 and clean(word)}
    shown = dict(sorted(often.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS])
    if not (placed := arrange(shown)):
        return None
    looks = _looks(shown, families)
    edge, low = min(w.left for w in placed), min(w.bottom for w in placed)
    wide = max(w.left + w.width for w in placed) - edge
    tall = max(w.bottom + w.height for w in placed) - low
    with canvas.sheet(tall) as page:
        start = (canvas.WIDTH - wide) / 2 - edge
        for number, word in enumerate(placed):
            spot = (start + word.left, word.bottom - low)
            moved = load("transforms").Affine2D().translate(*spot).transform_path(word.path)
            colour = looks[families.get(word.key, "")]
            patch = load("patches").PathPatch(moved, facecolor=colour, linewidth=0)
            patch.set_in_layout(False)  # inside the sheet; measuring is slow
            page.add(patch, f"word-{number}")
        entries: list[tuple[str, canvas.Style, object]] = [
            (family or "other", {"facecolor": colour}, number)
            for number, (family, colour) in enumerate(looks.items())
        ]
        if any(looks):
            canvas.draw_key(page, entries, 0, canvas.WIDTH, tall + 0.25)
        said = canvas.listed((f"{clean(word, _LONGEST)} ({shown[word]:,})" for word in shown), 10)
        size = f"{table.several(len(shown), 'phrase')} out of {len(often):,}"
        notes = [
            "The area of a phrase grows with how often it occurs; very long ones are set smaller."
        ]
        if rest := len(often) - len(shown):
            left_out = table.several(rest, "phrase")
            notes.append(f"The {len(shown)} most frequent are drawn; {left_out} are left out.")
        return page.finish(
            "constraint-wordcloud",
            "Words that restrict answers, by frequency",
            f"A cloud of {size}, by frequency: {said}.",
            notes,
        )


def arrange(words: Mapping[str, int]) -> list[Word]:
    """Find a place for each visible word, in the given order, from the middle outwards."""
    drawn = {word: _outline(clean(word, _LONGEST)) for word in words}
    outlines = {word: outline for word, outline in drawn.items() if outline}
    most = max((words[word] for word in outlines), default=1)
    area = sum(words[word] / most * box.width * box.height for word, (_, box) in outlines.items())
    largest = min(max(math.sqrt(_FILLED / max(area, 1e-9)), _SMALLEST), _LARGEST)
    turn = _STEP / (2 * math.pi)
    angle = np.sqrt(2 * _STEP / turn * np.arange(_PLACES))
    spiral = np.column_stack((turn * angle * np.cos(angle), _FLAT * turn * angle * np.sin(angle)))
    taken: list[Box] = []
    placed: list[Word] = []
    for word, (path, box) in outlines.items():
        # The font size is proportional to the square root of the count, scaled to fill the sheet.
        points = max(largest * math.sqrt(words[word] / most), _SMALLEST)
        scale = min(points, _WIDEST / box.width)
        wide, tall = box.width * scale, box.height * scale
        x, y = _free(spiral, taken, wide + _CLOUD_APART[0], tall + _CLOUD_APART[1])
        taken.append(Box.around(x, y, (wide + _CLOUD_APART[0]) / 2, (tall + _CLOUD_APART[1]) / 2))
        shape = load("transforms").Affine2D().translate(-box.x0, -box.y0).scale(scale)
        path = shape.transform_path(path)
        placed.append(Word(word, x - wide / 2, y - tall / 2, wide, tall, path))
    return placed


def _outline(text: str) -> tuple[Outline, Bbox] | None:
    """Return a text's path and its bounding box, in inches at a size of one point."""
    textpath = load("textpath").text_to_path
    vertices, codes = textpath.get_text_path(canvas.font(1, bold=True), text, ismath=False)
    path = load("path").Path(np.asarray(vertices) / textpath.FONT_SCALE / 72, codes)
    # CLOSEPOLY vertices have no meaningful position. Control points of curves are included, since
    # they bound the curve.
    placed = path.vertices[np.asarray(path.codes) != path.CLOSEPOLY]
    if not len(placed):
        return None  # blank, but no Unicode whitespace
    return path, load("transforms").Bbox([placed.min(axis=0), placed.max(axis=0)])


def _free(
    spiral: NDArray[np.float64], taken: Sequence[Box], wide: float, tall: float
) -> tuple[float, float]:
    """Return the first place on the spiral where a box of this size overlaps no other."""
    if not taken:
        return 0.0, 0.0
    west, bottom, east, top = np.asarray(taken).T
    for start in range(0, len(spiral), _AT_ONCE):
        x, y = spiral[start : start + _AT_ONCE].T[:, :, None]
        across = (x - wide / 2 < east) & (west < x + wide / 2)
        free = ~(across & (y - tall / 2 < top) & (bottom < y + tall / 2)).any(axis=1)
        if free.any():
            found = spiral[start + int(free.argmax())]
            return float(found[0]), float(found[1])
    return 0.0, float(bottom.min()) - tall


def _looks(words: Mapping[str, int], families: Mapping[str, str]) -> dict[str, str]:
    """Give each family a colour, the most frequent first; words without one have the ink's."""
    weight: Counter[str] = Counter()
    for word, number in words.items():
        weight[families.get(word, "")] += number
    ordered = sorted(filter(None, weight), key=lambda family: (-weight[family], family))
    looks = {family: canvas.PALETTE[at % len(canvas.PALETTE)] for at, family in enumerate(ordered)}
    return looks | ({"": canvas.INK} if "" in weight else {})


def _soundness(context: Context) -> Iterator[Table]:
    quality = gold_quality(context.study) | by_method(context.labels)
    yield extraction_table(context.study, quality)
    if labels := context.labels:
        yield from (manual_audit_table(labels), annotator_table(labels))


def _strangers(context: Context) -> Iterator[str]:
    if count := context.marked_elsewhere:
        yield f"Marks on attempts that are not in these data: {count:,}."


EXHIBITS: Final = (
    Exhibit("stage-1", _soundness, paper=("extraction-reliability",), claims=_strangers),
    Exhibit("stage-1", lambda c: [parsing_table(c.study)], paper=("parsing",)),
    Exhibit(
        "stage-1",
        lambda c: [categories_table(*c.compared)],
        lambda c: category_figures(*c.compared),
        ("categories",),
        about="method",
    ),
)
