"""Files in which annotators judge single problems, one row each."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar, cast

import orjson

from constraint_first.answer.value import AnswerValue, read_answer, same
from constraint_first.answer.workers import shared
from constraint_first.benchmark.constraintbench.family import ERRORS, ErrorType, Item, Tempting
from constraint_first.constraint.predicate import Predicate, between, holds, integer, parts
from constraint_first.constraint.router import aime_convention
from constraint_first.constraint.stage1 import Constraint, ConstraintSpec, Propagated
from constraint_first.constraint.stated.read import read_stated
from constraint_first.error import InputError, OutputError
from constraint_first.file.rows import (
    FILLED,
    OBJECT,
    TEXT,
    WHOLE,
    FieldError,
    FieldType,
    all_rows,
    append_row,
    list_of,
    one_of,
    read_field,
    read_objects,
    read_rows,
)
from constraint_first.method.constraint_first import NAMES, with_current_names
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json
from constraint_first.report import table
from constraint_first.report.comparison import Key, RightRule
from constraint_first.report.exhibit.gold import Quality
from constraint_first.report.statistics import Interval, kappa, wilson
from constraint_first.report.study import (
    ProblemText,
    Study,
    StudyError,
    Transcript,
    model_label,
)
from constraint_first.report.table import NONE, Cell, Column, Row, Table, left, row
from constraint_first.store.query import RecordKey

_T = TypeVar("_T")


class PersonLine(NamedTuple):
    """A line of an annotator's file, and the problem of the study that it is about."""

    where: str
    """The file and the line, for messages."""
    key: Key | None
    """The problem; None if the study lacks it."""
    value: Mapping[str, Json]
    number: int
    """The number of the line in the file."""


def read_person_lines(path: Path, study: Study) -> Iterator[PersonLine]:
    """Read lines that name a ``problem`` and, if names are ambiguous, its ``benchmark``."""
    known: dict[str, list[str]] = defaultdict(list)
    keys = dict.fromkeys(study.problems)
    for arm in study.arms:
        keys |= dict.fromkeys((arm.benchmark, problem) for problem in arm.attempts)
    for benchmark, problem in keys:
        known[problem].append(benchmark)
    for line in all_rows(path):
        where = f"{path}, {line.place}"
        problem, benchmark = line.value.get("problem"), line.value.get("benchmark") or None
        if not isinstance(problem, str | int) or isinstance(problem, bool) or problem == "":
            raise InputError(f"{where}: needs 'problem', the name of a problem")
        if benchmark is not None and not isinstance(benchmark, str):
            raise InputError(f"{where}: 'benchmark' must be a name, not {benchmark!r}")
        places = [p for p in known.get(str(problem), ()) if benchmark in (None, p)]
        if len(places) > 1:
            raise InputError(
                f"{where}: problem {problem} is in {' and in '.join(places)}; add its 'benchmark'"
            )
        key = (places[0], str(problem)) if places else None
        yield PersonLine(where, key, line.value, line.number)


# Classification of wrong answers by the answer alone (paper: Error Taxonomy).
#
# An answer is compared with the gold answer and with predicates on it, which come from the gold
# constraints of a ConstraintBench item or from the problem's text. The reasoning of a reply is not
# considered.

Mistake: TypeAlias = ErrorType | Literal["no_answer"]
"""The classes of ConstraintBench, and ``no_answer``."""

MISTAKES: Final[tuple[Mistake, ...]] = (*ERRORS[:-1], "no_answer", "other")
"""All classes, starting with those that name a constraint."""

MISTAKE_LABELS: Final[dict[Mistake, str]] = {
    "forgot_modular_reduction": "Forgot modular reduction",
    "not_an_integer": "Non-integer answer",
    "encoded_form_not_applied": "Wrong encoded format",
    "out_of_range": "Range violation",
    "ignored_parity": "Ignored parity",
    "broken_condition": "Stated condition not met",
    "misled_by_cue": "Misled by a cue",
    "arithmetic": "Arithmetic error",
    "no_answer": "No answer",
    "other": "Other",
}
"""The classes as tables print them."""

CONSTRAINT_LABELS: Final[dict[Mistake, str]] = {
    "forgot_modular_reduction": "Modular",
    "encoded_form_not_applied": "Format (encoded)",
    "ignored_parity": "Parity",
    "out_of_range": "Range or bound",
    "not_an_integer": "Domain (integer)",
    "broken_condition": "Stated condition (propagation)",
}
"""The constraint that an error breaks, for the classes that name one; the paper's four first."""

FIX_LABELS: Final[dict[Mistake, str]] = {
    **MISTAKE_LABELS,
    "forgot_modular_reduction": "Mod reduction",
    "not_an_integer": "Domain fix",
    "encoded_form_not_applied": "Format fix",
    "out_of_range": "Range fix",
    "ignored_parity": "Parity check",
    "broken_condition": "Propagation",
}
"""Names of fixes, by the removed error, as in the paper's problem-by-problem tables.

The paper does not define propagation. Here it means that the answer meets all stated conditions
together, and the other answer only some of them.
"""


@dataclass(frozen=True, slots=True)
class Demands:
    """The gold answer to a problem, and the predicates on any answer to it."""

    gold: str | None
    predicates: tuple[Predicate, ...]
    tempting: tuple[Tempting, ...] = ()
    """Wrong answers that the problem's author expected, each with its error class."""

    @classmethod
    def of_item(cls, item: Item) -> Demands:
        """Return the gold constraints of a ConstraintBench item as demands."""
        predicates = (part for one in item.constraints for part in parts(one.predicate))
        return cls(item.answer, tuple(predicates), item.tempting)

    @classmethod
    def of_text(cls, text: str, gold: str | None, benchmark: str = "") -> Demands:
        """Return the stated constraints of a text, and ``integer`` if its gold answer is one."""
        right = read_answer(gold or "")
        whole = right is not None and holds(integer(), right) == "holds"
        aime = (between(0, 999),) if aime_convention(benchmark) else ()
        stated = (part for one in read_stated(text) for part in parts(one.predicate))
        return cls(gold, (*((integer(),) if whole else ()), *stated, *aime))


def mistake(answer: str | None, demands: Demands) -> Mistake:
    """Classify a wrong answer to a problem.

    A tempting answer has its label. Any other is judged by the demands that the gold answer meets:
    first whether it is the right value before the last step (the reduction, the encoding), then
    which demand it violates. An answer with the right value violates none. An arithmetic error is
    only known from a label: a wrong answer that meets every demand has no further evidence.
    """
    if answer is None or not answer.strip():
        return "no_answer"
    value, gold = read_answer(answer), read_answer(demands.gold or "")
    if gold is None:
        return "other"
    predicates = [one for one in demands.predicates if holds(one, gold) != "violated"]
    if value is None:
        return _without_value(answer, predicates, gold)
    if same(value, gold):
        return "other"
    known = ((lure, read_answer(lure.answer)) for lure in demands.tempting)
    lure = next((lure for lure, wrong in known if wrong and same(value, wrong)), None)
    label = lure.error if lure else None
    if label and label != "forgot_modular_reduction":
        return label
    if _unreduced(predicates, value, gold):
        return "forgot_modular_reduction"
    if _unencoded(predicates, answer, value, gold):
        return "encoded_form_not_applied"
    # A labelled answer that differs from the gold answer modulo the requested modulus ignores a
    # congruence or a divisibility within the problem, as a wrong candidate of a search does.
    return _broken(predicates, value) or ("broken_condition" if label else "other")


_CONDITIONS: Final = tuple("congruent divisible divides square digit_sum digits_ordered".split())

# The error class of a violated predicate, the most specific first. Predicates that determine the
# answer (encoded, rounded, in_unit, counts, root) are absent: every wrong answer violates them.
_BROKEN: Final[dict[str, Mistake]] = {
    "integer": "not_an_integer",
    **dict.fromkeys(("between", "above", "below", "least_residue"), "out_of_range"),
    "parity": "ignored_parity",
    **dict.fromkeys(_CONDITIONS, "broken_condition"),
    **dict.fromkeys(("form", "reduced"), "encoded_form_not_applied"),
    "not_whole": "misled_by_cue",
}
_REDUCING: Final = ("least_residue", "encoded")
_INTEGRAL: Final = ("integer", "parity", "least_residue", *_CONDITIONS)


def _broken(predicates: Sequence[Predicate], value: AnswerValue) -> Mistake | None:
    broken = {str(one["op"]) for one in predicates if holds(one, value) == "violated"}
    op = next((op for op in _BROKEN if op in broken), "")
    # A fraction violates conditions on integers too, but the error is that it is no integer.
    return "not_an_integer" if op in _INTEGRAL and not _is_whole(value) else _BROKEN.get(op)


def _is_whole(value: AnswerValue) -> bool:
    return value.number is not None and value.number.denominator == 1


def _unreduced(predicates: Sequence[Predicate], value: AnswerValue, gold: AnswerValue) -> bool:
    """Whether an answer is the right value before the requested reduction."""
    if value.number is None or gold.number is None:
        return False
    gap = value.number - gold.number
    moduli = (one.get("modulus") for one in predicates if one["op"] in _REDUCING)
    return any(gap % modulus == 0 for modulus in moduli if isinstance(modulus, int))


def _unencoded(
    predicates: Sequence[Predicate], answer: str, value: AnswerValue | None, gold: AnswerValue
) -> bool:
    """Whether an answer is a value without the requested encoding, such as m + n.

    If a gold constraint requires the encoding, any fraction or root counts. A code in the text may
    belong to another quantity, so the code of the answer's parts must equal the gold answer.
    """
    codes = [one for one in predicates if one["op"] == "encoded"]
    if any("parts" in one for one in codes):
        return value is None or value.form in ("fraction", "surd")
    if value is not None and _is_whole(value):
        return False
    numbers = [*_numbers(answer, None if value is None else value.number)]
    return any(
        len(own) == len(factors)
        and sum(f * n for f, n in zip(factors, own, strict=True)) == gold.number
        for factors in (cast("list[int]", one["factors"]) for one in codes)
        for own in numbers
    )


_LONGEST: Final = 200  # longer texts are no single constants
_WRITTEN: Final = lazy_pattern(
    r"(?:\\(?:[dt]?frac|sqrt|pi|cdot|left|right|[,;:! ()])|sqrt|[\d\s+\-−*/(){}\[\]√π$])+"
)
_INDEX: Final = lazy_pattern(r"\[[^\]]*\]")
_BARE_ROOT: Final = lazy_pattern(r"(?<![\d\s])\s*(?:\\?sqrt|√)")


def _numbers(answer: str, value: Fraction | None) -> Iterator[list[int]]:
    """List the whole numbers that an answer is made of: 3√5/7 is 3, 5, 7 and 0.75 is 3, 4."""
    if value is not None:
        yield [abs(value.numerator), value.denominator]
    if len(answer) <= _LONGEST and _WRITTEN.fullmatch(answer):
        plain = _INDEX.sub("", answer)
        yield [int(digits) for digits in re.findall(r"\d+", plain)]
        # A root without a factor has the factor 1.
        yield [int(digits) for digits in re.findall(r"\d+", _BARE_ROOT.sub(r"1\\sqrt", plain))]


def _without_value(answer: str, predicates: Sequence[Predicate], gold: AnswerValue) -> Mistake:
    """Classify an answer such as 1 + √2, which is only known not to be whole."""
    integral = any(one["op"] in _INTEGRAL or "parts" in one for one in predicates)
    if not integral or len(answer) > _LONGEST or shared().is_whole(answer) is not False:
        return "other"
    coded = _unencoded(predicates, answer, None, gold)
    return "encoded_form_not_applied" if coded else "not_an_integer"


# The rule for right problems, and error classes by annotators (paper: Error Taxonomy).

_About: TypeAlias = tuple[Key, str, str]


@dataclass(frozen=True, slots=True)
class ErrorClasses:
    """Error classes by annotators: by problem, and by method and model if named."""

    given: Mapping[_About, Mistake] = field(default_factory=dict[_About, Mistake])
    """By problem, method and model; an empty name means all."""
    unknown: int = 0
    """Lines about problems or models that the study lacks."""
    disputed: int = 0
    """Errors for which annotators gave different classes without a majority."""

    def find(self, key: Key, method: str, model: str = "") -> Mistake | None:
        """Look up a class; a line with the model takes precedence, then one with the method."""
        order = ((method, model), ("", model), (method, ""), ("", ""))
        return next((self.given[key, *one] for one in order if (key, *one) in self.given), None)


def read_classes(path: Path, study: Study) -> ErrorClasses:
    """Read lines of ``problem`` and ``class``.

    They may have ``benchmark``, ``method``, ``model``, ``annotator`` and ``note``. Two lines with
    different classes for the same error are refused, unless they name annotators: a later line of
    an annotator replaces the earlier one, and the most frequent class of all annotators counts. A
    line without an annotator takes precedence over all others.
    """
    votes: dict[_About, dict[str, Mistake]] = {}
    lines: dict[_About, int] = {}
    unknown, models = 0, set(study.names("model"))
    for where, key, value, number in read_person_lines(path, study):
        known = _class_in(where, value.get("class"))
        # Lines with an annotator were written by 'cfr audit', perhaps with old names of methods.
        own = with_current_names(value) if value.get("annotator") else value
        names = ("method", "model", "annotator")
        method, model, annotator = (str(own.get(name) or "") for name in names)
        if key is None or (model and model not in models):
            unknown += 1
            continue
        about = (key, method, model)
        given = votes.setdefault(about, {})
        if not annotator:
            if given.get("", known) != known:
                raise InputError(
                    f"{where}: 'class' is {known}, but line {lines[about]} says {given['']} "
                    "of the same problem, method and model; remove one of them"
                )
            lines[about] = number
        given[annotator] = known
    found: dict[_About, Mistake] = {}
    for about, given in votes.items():
        if decided := _decided(given):
            found[about] = decided
    return ErrorClasses(found, unknown, len(votes) - len(found))


def _decided(given: Mapping[str, Mistake]) -> Mistake | None:
    """Return the most frequent class; None on a tie."""
    if "" in given:
        return given[""]
    counts: Counter[Mistake] = Counter(given.values())
    (first, most), *others = counts.most_common(2)
    return None if others and others[0][1] == most else first


def _class_in(where: str, written: Json) -> Mistake:
    wanted = str(written).strip().lower().replace(" ", "_").replace("-", "_")
    known: Mistake | None = next((name for name in MISTAKES if name == wanted), None)
    if known is None:
        choices = ", ".join(MISTAKES)
        raise InputError(f"{where}: 'class' is {written!r}; it must be one of {choices}")
    return known


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """When a problem counts as right, and error classes by annotators."""

    right: RightRule = "any"
    classes: ErrorClasses = field(default_factory=ErrorClasses)


DEFAULT_RULE: Final = ErrorRule()
"""Any right run makes a problem right, and there are no classes by annotators."""


# An annotator's marks on the constraints of one attempt, and their file.
#
# Paper: Stage 1 Constraint Reliability. A file holds one JSON line for each judged attempt. A
# later line for the same attempt and annotator replaces an earlier one, so that corrections are
# appended and the file is never rewritten.

Mark: TypeAlias = Literal["entailed", "not_entailed", "vague"]
Derivation: TypeAlias = Literal["raw", "propagated"]

MARKS: Final[tuple[Mark, ...]] = ("entailed", "not_entailed", "vague")
"""A constraint follows from the problem; it does not; or it is too vague to decide."""
_STAGE: Final[FieldType[Derivation]] = one_of(("raw", "propagated"))
_MARK: Final = one_of((*MARKS, None))
_ANNOTATOR: Final = lazy_pattern(r"\w(?:[\w.@ -]{0,38}\w)?")
_HEXADECIMAL: Final[FieldType[str]] = FieldType(
    "12 hexadecimal digits in lower case",
    lambda value: isinstance(value, str) and bool(re.fullmatch("(?:[0-9a-f]{12})?", value)),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A constraint and its mark; None if it has none yet."""

    id: str
    stage: Derivation
    mark: Mark | None = None
    digest: str = ""
    """A hash of the judged text; empty if it is unknown."""

    def same(self, other: Judged) -> bool:
        """Whether both are the same constraint, as far as their texts are known."""
        known = self.digest and other.digest
        alike = (self.id, self.stage) == (other.id, other.stage)
        return alike and (not known or self.digest == other.digest)

    def to_json(self) -> dict[str, Json]:
        line: dict[str, Json] = {"id": self.id, "stage": self.stage, "mark": self.mark}
        return line | ({"digest": self.digest} if self.digest else {})


@dataclass(frozen=True, slots=True)
class Label:
    """An annotator's judgement of one attempt."""

    annotator: str
    key: RecordKey
    constraints: tuple[Judged, ...]
    missing: tuple[str, ...] = ()
    """Constraints that the problem entails and Stage 1 lacks, in the annotator's words."""
    note: str = ""

    @property
    def complete(self) -> bool:
        """Whether every constraint has a mark; otherwise the label is a draft."""
        return all(judged.mark for judged in self.constraints)

    @property
    def counts(self) -> tuple[int, int]:
        """How many raw and how many propagated constraints there are."""
        raw = sum(judged.stage == "raw" for judged in self.constraints)
        return raw, len(self.constraints) - raw

    def same_constraints(self, other: Label) -> bool:
        """Whether both judge the same constraints, regardless of their marks."""
        if len(self.constraints) != len(other.constraints):
            return False
        return all(map(Judged.same, self.constraints, other.constraints))

    def to_json(self) -> dict[str, Json]:
        benchmark, method, model, decoding, problem, run = self.key
        line: dict[str, Json] = {
            "annotator": self.annotator,
            "benchmark": benchmark,
            "problem": problem,
            "method": method,
            "model": model,
            "decoding": orjson.loads(decoding),
            "run": run,
            "constraints": [one.to_json() for one in self.constraints],
            "missing": [*self.missing],
            "names": NAMES,
        }
        return line | ({"note": self.note} if self.note else {})


def unmarked(annotator: str, key: RecordKey, spec: ConstraintSpec) -> Label:
    """Make a label without marks."""
    both: tuple[tuple[Derivation, Iterable[Constraint | Propagated]], ...] = (
        ("raw", spec.raw_constraints),
        ("propagated", spec.propagated_constraints),
    )
    begun = (
        Judged(one.id, stage, digest=_digest(one.description))
        for stage, ones in both
        for one in ones
    )
    return Label(annotator, key, tuple(begun))


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode(errors="surrogatepass")).hexdigest()[:12]


def name_attempt(key: RecordKey) -> str:
    """Name an attempt in a message."""
    benchmark, method, model, _, problem, run = key
    where = f" of {benchmark}" if benchmark else ""
    by = f"{method} with {model}" if model else method
    return f"run {run} of problem {problem}{where} by {by}"


def check_annotator(name: str) -> str:
    """Return a valid annotator's name, or raise an error that lists the allowed characters."""
    if not _ANNOTATOR.fullmatch(name):
        raise InputError(
            f"annotator {name[:60]!r}: a name has up to 40 letters, digits, spaces and . - _ @, "
            "and begins and ends with a letter or a digit"
        )
    return name


def begin_labels(path: Path) -> list[Label]:
    """Read the labels of a file before adding to it; a missing file is created."""
    found = read_labels([path]) if path.exists() else []
    try:
        path.open("ab").close()
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror}); name another") from None
    return found


def append_label(path: Path, label: Label | ErrorLabel) -> None:
    """Append a label to a file, and return once it is on the disk."""
    append_row(path, label.to_json())


def read_labels(paths: Iterable[Path]) -> list[Label]:
    """Read labels and drafts; the last line for an attempt and annotator counts.

    Raise if two annotators saw different constraints in the same attempt.
    """
    found: dict[tuple[str, RecordKey], tuple[str, Label]] = {}
    for path in paths:
        for line in read_rows(path):
            where = f"{path}, line {line.number}"
            label = _read(where, line.value, _label)
            found[label.annotator, label.key] = (where, label)
    seen: dict[RecordKey, list[Label]] = defaultdict(list)
    for where, label in found.values():
        # Compare with all labels: one without digests is equal to any other.
        for other in seen[label.key]:
            if not label.same_constraints(other):
                raise InputError(
                    f"{where}: the constraints of {name_attempt(label.key)} are not those that "
                    f"{other.annotator} judged; report on labels of different runs apart"
                )
        seen[label.key].append(label)
    return [label for _, label in found.values()]


def _read(where: str, row: Mapping[str, Json], read: Callable[[Mapping[str, Json]], _T]) -> _T:
    try:
        return read(with_current_names(row))
    except InputError as error:
        raise InputError(f"{where}: {error}; correct the line or remove it") from None


def _label(row: Mapping[str, Json]) -> Label:
    annotator = check_annotator(read_field(row, "annotator", TEXT))
    names = [read_field(row, name, TEXT) for name in ("benchmark", "method", "model")]
    place = (read_field(row, "problem", TEXT), read_field(row, "run", WHOLE))
    return Label(
        annotator,
        cast("RecordKey", (*names, _decoding(row), *place)),
        read_objects(row, "constraints", _judged),
        tuple(read_field(row, "missing", list_of(FILLED, "texts that are not blank"))),
        read_field({"note": "", **row}, "note", TEXT),
    )


def _decoding(row: Mapping[str, Json]) -> str:
    """Write a decoding as a store does, for comparison."""
    try:
        return orjson.dumps(read_field(row, "decoding", OBJECT)).decode()
    except orjson.JSONEncodeError:
        raise FieldError("'decoding' cannot be read") from None


def _judged(row: dict[str, Json]) -> Judged:
    return Judged(
        read_field(row, "id", TEXT),
        read_field(row, "stage", _STAGE),
        read_field(row, "mark", _MARK),
        read_field({"digest": "", **row}, "digest", _HEXADECIMAL),
    )


# Rates of the paper's manual audit of Stage 1, and agreement between annotators.
#
# Paper: Stage 1 Constraint Reliability; appendix "Constraint Extraction Quality by Model". Here
# every raw and every propagated constraint is carried into Stage 2, so all of them count:
# - validity: entailed among all that were marked;
# - hallucination: not entailed among all that were marked;
# - vague: undecidable among all that were marked;
# - completeness: entailed raw ones among these and those that the annotator found missing.
#
# An attempt that several annotators judged counts once, as the mean of their judgements.

ALL: Final = "all"
"""The model of the row for all models together."""


@dataclass(frozen=True, slots=True)
class Share:
    """A ratio; both numbers may be fractions if several annotators judged the same attempt."""

    part: Fraction
    whole: Fraction

    @property
    def value(self) -> float | None:
        """The share from 0 to 1; None if the denominator is zero."""
        return float(self.part / self.whole) if self.whole else None

    @property
    def n(self) -> int | float:
        return int(self.whole) if self.whole.denominator == 1 else float(self.whole)

    @property
    def interval(self) -> Interval | None:
        """Its 95 % Wilson interval; None if the denominator is zero."""
        return wilson(float(self.part), float(self.whole)) if self.whole else None

    def to_json(self) -> dict[str, Json]:
        bounds: list[Json] | None = [*self.interval] if self.interval else None
        return {"value": self.value, "ci": bounds, "n": self.n}

    def text(self, unit: str = "") -> str:
        """Write it in per cent with its interval."""
        if self.value is None or self.interval is None:
            return NONE
        low, high = self.interval
        return table.decimal(100 * self.value) + unit + table.interval((100 * low, 100 * high))


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates that annotators found in the attempts of one model, or of all."""

    model: str
    attempts: int
    constraints: int
    raw: float
    """Mean number of raw constraints of an attempt."""
    propagated: float
    validity: Share
    propagated_validity: Share
    """Validity of the propagated ones alone."""
    hallucination: Share
    vague: Share
    completeness: Share

    def to_json(self) -> dict[str, Json]:
        values = ((one.name, getattr(self, one.name)) for one in fields(self))
        return {n: v.to_json() if isinstance(v, Share) else v for n, v in values}


def rates(labels: Iterable[Label]) -> list[Rates]:
    """Compute the rates of each model, and of all if there are several, without drafts."""
    judged = by_attempt(labels)
    found = [
        _rates(model, [group for key, group in judged.items() if key[2] == model])
        for model in sorted({key[2] for key in judged})
    ]
    return [*found, _rates(ALL, list(judged.values()))] if len(found) > 1 else found


def labels_of(labels: Iterable[Label], study: Study) -> tuple[list[Label], int]:
    """Keep the labels of a study's own attempts, and count those of others."""
    known = {
        (*arm.key, problem, attempt.run)
        for arm in study.arms
        for problem, attempts in arm.attempts.items()
        for attempt in attempts
    }
    every = list(labels)
    own = [label for label in every if label.key in known]
    return own, len(every) - len(own)


def by_method(labels: Iterable[Label]) -> dict[tuple[str, str], Quality]:
    """Return the annotators' rates by model and method, without drafts."""
    judged: dict[tuple[str, str], list[_Group]] = defaultdict(list)
    for key, group in by_attempt(labels).items():
        judged[key[2], key[1]].append(group)
    return {
        names: Quality(
            *(one.validity.value, one.hallucination.value, one.constraints),
            completeness=one.completeness.value,
            expected=one.completeness.n,
        )
        for names, groups in sorted(judged.items())
        if (one := _rates(names[0], groups)).constraints
    }


def completeness_of(labels: Iterable[Label]) -> Share:
    """Return the completeness of Stage 1 in some attempts by annotators, without drafts."""
    found = rates(labels)
    return found[-1].completeness if found else Share(Fraction(), Fraction())


_Group: TypeAlias = list[Label]
"""The labels of one attempt by different annotators."""


def by_attempt(labels: Iterable[Label]) -> dict[RecordKey, _Group]:
    """Group complete labels by attempt."""
    found: dict[RecordKey, _Group] = defaultdict(list)
    for label in labels:
        if label.complete:
            found[label.key].append(label)
    return found


def _rates(model: str, groups: Sequence[_Group]) -> Rates:
    marks: dict[tuple[Derivation, Mark | None], Fraction] = defaultdict(Fraction)
    missing = Fraction()
    for group in groups:
        for label in group:
            missing += Fraction(len(label.missing), len(group))
            for one in label.constraints:
                marks[one.stage, one.mark] += Fraction(1, len(group))
    marked = sum(marks.values(), Fraction())
    by_mark = {mark: marks["raw", mark] + marks["propagated", mark] for mark in MARKS}
    raw, propagated = (sum(group[0].counts[at] for group in groups) for at in (0, 1))
    return Rates(
        model=model,
        attempts=len(groups),
        constraints=raw + propagated,
        raw=raw / len(groups),
        propagated=propagated / len(groups),
        validity=Share(by_mark["entailed"], marked),
        propagated_validity=Share(marks["propagated", "entailed"], Fraction(propagated)),
        hallucination=Share(by_mark["not_entailed"], marked),
        vague=Share(by_mark["vague"], marked),
        completeness=Share(marks["raw", "entailed"], marks["raw", "entailed"] + missing),
    )


@dataclass(frozen=True, slots=True)
class Accord:
    """Agreement of two annotators on what both marked."""

    annotators: tuple[str, str]
    attempts: int
    """Attempts or errors that both judged."""
    n: int
    agree: int
    kappa: float | None
    """Cohen's; None if it is undefined, for the reason below."""
    reason: str = ""

    @property
    def agreement(self) -> float | None:
        """The share of equal marks; None without any."""
        return self.agree / self.n if self.n else None

    def to_json(self) -> dict[str, Json]:
        counted = {name: getattr(self, name) for name in ("attempts", "n", "agreement", "kappa")}
        return {"annotators": [*self.annotators], **counted, "reason": self.reason or None}


def accords(labels: Iterable[Label]) -> list[Accord]:
    """Compare every two annotators of constraints, without drafts."""
    people: dict[str, dict[RecordKey, list[str]]] = defaultdict(dict)
    for label in labels:
        if label.complete:
            people[label.annotator][label.key] = [one.mark or "" for one in label.constraints]
    return _accords(people, "constraint")


def _accords(people: Mapping[str, Mapping[_T, Sequence[str]]], noun: str) -> list[Accord]:
    """Compare every two annotators on items that both judged; ``noun`` names the items."""
    found: list[Accord] = []
    for one, other in combinations(sorted(people), 2):
        ours, theirs = people[one], people[other]
        shared = [key for key in ours if key in theirs]
        pairs = [pair for key in shared for pair in zip(ours[key], theirs[key], strict=True)]
        agree, beyond_chance, reason = sum(a == b for a, b in pairs), kappa(pairs), ""
        if not pairs:
            reason = f"no {noun} was marked by both"
        elif beyond_chance is None:
            reason = f"both marked every {noun} {pairs[0][0].replace('_', ' ')}"
        found.append(Accord((one, other), len(shared), len(pairs), agree, beyond_chance, reason))
    return found


# An annotator's class for one error, the file of classes, and agreement on them.
#
# Paper: Error Taxonomy. A line is one of those that ``--classes`` reads, with the annotator's
# name. A later line of an annotator on the same error replaces an earlier one.

_CLASS: Final = one_of(MISTAKES)
ErrorKey: TypeAlias = tuple[str, str, str, str]
"""Benchmark, problem, method and model: the error of one problem that changed sides."""


@dataclass(frozen=True, slots=True)
class ErrorLabel:
    """An annotator's class for one error."""

    annotator: str
    benchmark: str
    problem: str
    method: str
    model: str
    mistake: Mistake
    note: str = ""

    @property
    def key(self) -> ErrorKey:
        """The error that it is about."""
        return self.benchmark, self.problem, self.method, self.model

    def to_json(self) -> dict[str, Json]:
        names = ("annotator", "benchmark", "problem", "method", "model")
        line: dict[str, Json] = {name: getattr(self, name) for name in names}
        line |= {"class": self.mistake, "names": NAMES}
        return line | ({"note": self.note} if self.note else {})


def read_error_labels(path: Path) -> list[ErrorLabel]:
    """Read the lines that name an annotator; empty for a missing file."""
    found: dict[tuple[str, ErrorKey], ErrorLabel] = {}
    for line in read_rows(path) if path.exists() else ():
        if line.value.get("annotator"):
            label = _read(f"{path}, line {line.number}", line.value, _error_label)
            found[label.annotator, label.key] = label
    return [*found.values()]


def _error_label(row: Mapping[str, Json]) -> ErrorLabel:
    named = {"benchmark": "", "method": "", "model": "", "note": "", **row}
    return ErrorLabel(
        check_annotator(read_field(named, "annotator", TEXT)),
        read_field(named, "benchmark", TEXT),
        read_field(named, "problem", FILLED),
        read_field(named, "method", TEXT),
        read_field(named, "model", TEXT),
        read_field(named, "class", _CLASS),
        read_field(named, "note", TEXT),
    )


def error_accords(labels: Iterable[ErrorLabel]) -> list[Accord]:
    """Compare the classes of every two annotators."""
    people: dict[str, dict[ErrorKey, list[str]]] = defaultdict(dict)
    for label in labels:
        people[label.annotator][label.key] = [label.mistake]
    return _accords(people, "error")


# Samples of attempts for an annotator; the same seed draws the same sample.


def draw(
    study: Study,
    *,
    size: int,
    seed: int,
    benchmark: str | None = None,
    model: str | None = None,
    method: str | None = None,
) -> tuple[RecordKey, ...]:
    """Draw attempts that have Stage 1 constraints, at most one for each problem and model.

    Models alternate, so that any prefix of the sample is balanced over them. Attempts are ranked
    by hashes of the seed and their names, so that their order depends neither on the order of rows
    nor on the size of the sample.
    """
    wanted = {"benchmark": benchmark, "model": model, "method": method}
    chosen = study.only(**{what: [name] for what, name in wanted.items() if name})
    places: dict[tuple[str, str, str], list[RecordKey]] = defaultdict(list)
    for arm in chosen.arms:
        for problem, attempts in arm.attempts.items():
            for attempt in attempts:
                found = attempt.extraction
                if found and (found.kinds or found.propagated):
                    key = (*arm.key, problem, attempt.run)
                    places[arm.model, arm.benchmark, problem].append(key)
    if not places:
        among = ", ".join(repr(name) for name in wanted.values() if name)
        raise StudyError(
            f"{study.source}: no attempt{among and f' of {among}'} has Stage 1 constraints; "
            "run 'cfr eval' with the method cfr or routed-cfr first"
        )
    # First the top attempt of each model, then the second of each.
    turns: Counter[str] = Counter()
    ranked: list[tuple[int, bytes, RecordKey]] = []
    for lot, place in sorted((_lot(seed, place), place) for place in places):
        key = min(places[place], key=lambda key: _lot(seed, key))
        ranked.append((turns[place[0]], lot, key))
        turns[place[0]] += 1
    return tuple(key for _, _, key in sorted(ranked)[:size])


def _lot(seed: int, names: tuple[str | int, ...]) -> bytes:
    return hashlib.sha256(repr((seed, *names)).encode()).digest()


def resume(sample: Sequence[RecordKey], labels: Iterable[Label], annotator: str) -> list[RecordKey]:
    """List the attempts of a sample that an annotator has not judged yet, in order."""
    judged = {label.key for label in labels if label.annotator == annotator and label.complete}
    return [key for key in sample if key not in judged]


def refuse_mismatch(
    labels: Iterable[Label], transcripts: Mapping[RecordKey, Transcript], source: str
) -> None:
    """Refuse labels whose attempts have other constraints now; unknown attempts are ignored."""
    for label in labels:
        if label.key in transcripts:
            spec = transcripts[label.key].constraints or ConstraintSpec()
            now = unmarked(label.annotator, label.key, spec)
            if not label.same_constraints(now):
                raise InputError(
                    f"{source}: {name_attempt(label.key)} has {_difference(now, label)}; these are "
                    "not the runs that were judged: name those, or a new file of labels"
                )


def _difference(now: Label, label: Label) -> str:
    pairs = list(zip(now.constraints, label.constraints, strict=False))
    named = all((one.id, one.stage) == (was.id, was.stage) for one, was in pairs)
    if named and len(now.constraints) == len(label.constraints):
        names = ", ".join(one.id for one, was in pairs if not one.same(was))
        return f"other words in {names} than those that {label.annotator} judged"
    listed, before = (
        f"{table.several(len(one.constraints), 'constraint')} "
        f"({', '.join(judged.id for judged in one.constraints) or 'none'})"
        for one in (now, label)
    )
    return f"{listed}, but {label.annotator} judged {before}"


# A sampled attempt prepared for marking: its problem, its constraints, its marks so far.


@dataclass
class MarkingTask:
    """An attempt whose constraints are to be marked. Its model is not shown."""

    number: int
    """Its place in the sample."""
    asked: ProblemText
    spec: ConstraintSpec
    label: Label
    saved: Label
    """The label on the disk, or one without marks."""
    at: int = 0

    def mark(self, mark: Mark) -> None:
        """Mark the current constraint."""
        marked = list(self.label.constraints)
        marked[self.at] = replace(marked[self.at], mark=mark)
        self.label = replace(self.label, constraints=tuple(marked))
        self.at += 1

    @property
    def current(self) -> Mark | None:
        """The existing mark of the current constraint."""
        return None if self.finished else self.label.constraints[self.at].mark

    @property
    def finished(self) -> bool:
        return self.at == len(self.label.constraints)

    @property
    def constraints(self) -> list[tuple[str, str, str]]:
        """All constraints: id, kind or origin, description."""
        raw = ((one.id, one.type, one.description) for one in self.spec.raw_constraints)
        derived = (
            (one.id, f"from {', '.join(one.derived_from)}", one.description)
            if one.derived_from
            else (one.id, "derived", one.description)
            for one in self.spec.propagated_constraints
        )
        return [*raw, *derived]


def lay_out(
    study: Study,
    sample: Sequence[RecordKey],
    labels: Iterable[Label],
    annotator: str,
    key: RecordKey,
) -> MarkingTask:
    """Prepare an attempt for marking; labels of constraints that have changed are refused."""
    every = list(labels)
    transcripts = study.transcripts({key, *(label.key for label in every)})
    refuse_mismatch(every, transcripts, study.source)
    spec = transcripts[key].constraints or ConstraintSpec()
    own = (label for label in every if (label.annotator, label.key) == (annotator, key))
    label = next(own, None) or unmarked(annotator, key, spec)
    missing = ProblemText("(its text is not in these runs)")
    asked = study.problems.get((key[0], key[4])) or missing
    open_ones = (n for n, one in enumerate(label.constraints) if one.mark is None)
    first = next(open_ones, len(label.constraints))
    return MarkingTask(sample.index(key) + 1, asked, spec, label, label, first)


# Tables of the manual audit: rates by model, and agreement between annotators.
#
# Paper: Stage 1 Constraint Reliability.


def manual_audit_table(labels: Sequence[Label]) -> Table:
    """Tabulate the rates, a row for each model."""
    titles = ("Attempts", "Raw", "Propagated", "Marked", "Validity % [95 %]", "of propagated")
    titles = (*titles, "Hallucination", "Vague", "Completeness", "of n")
    return Table(
        "manual-extraction",
        "Manual audit of Stage 1 constraints",
        (*left("Model"), *map(Column, titles)),
        tuple(map(_row, rates(labels))),
        tuple(_notes(labels)),
        ("tab:extraction-reliability",),
    )


def _row(one: Rates) -> Row:
    shares = (one.validity, one.propagated_validity, one.hallucination, one.vague)
    return row(
        Cell(one.model if one.model == ALL else model_label(one.model), bold=one.model == ALL),
        *(str(one.attempts), f"{one.raw:.2f}", f"{one.propagated:.2f}", str(one.constraints)),
        *(share.text() for share in (*shares, one.completeness)),
        f"{one.completeness.n:g}",
    )


def _notes(labels: Sequence[Label]) -> Iterator[str]:
    yield (
        "Raw and propagated are mean numbers of constraints in an attempt, among attempts that "
        "have any. Validity: entailed among all that were marked, raw and propagated; all of them "
        "are carried into Stage 2."
    )
    yield (
        "Hallucination: not entailed, of the same. Completeness: entailed raw constraints among "
        "these and the missing ones. The Wilson intervals take constraints to be independent."
    )
    if any(len(group) > 1 for group in by_attempt(labels).values()):
        yield "An attempt that several people judged counts once, as the mean of their marks."
    if drafts := sum(not label.complete for label in labels):
        yield f"Begun, not finished and left out: {table.several(drafts, 'attempt')}."


def annotator_table(labels: Sequence[Label]) -> Table:
    """Tabulate agreement between annotators of constraints, a row for every two."""
    titles = ("Attempts", "Constraints")
    return _accord_table("annotators", "Agreement between annotators", accords(labels), titles)


def error_annotator_table(labels: Sequence[ErrorLabel]) -> Table:
    """Tabulate agreement between annotators of errors, a row for every two."""
    found = error_accords(labels)
    return _accord_table("error-annotators", "Agreement on error classes", found, ("Errors",))


def _accord_table(
    name: str, title: str, found: Sequence[Accord], counted: tuple[str, ...]
) -> Table:
    rows = [
        row(
            ", ".join(one.annotators),
            *(str(count) for count in (one.attempts, one.n)[-len(counted) :]),
            *(table.percent(one.agreement), table.decimal(one.kappa, 2)),
        )
        for one in found
    ]
    columns = (*left("Annotators"), *map(Column, (*counted, "Agreement", "Cohen's κ")))
    notes = (
        f"{' and '.join(a.annotators)}: κ is not defined, {a.reason}." for a in found if a.reason
    )
    alone = ("Agreement needs two annotators.",)
    return Table(name, title, columns, tuple(rows), tuple(notes) if found else alone)
