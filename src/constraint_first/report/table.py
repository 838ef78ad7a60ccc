"""A table as a value: made once, then written as text, Markdown, LaTeX or HTML."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from itertools import groupby
from typing import Any, Final, Literal, TypeAlias

from constraint_first.attempt.attempt import STATUSES
from constraint_first.benchmark.registry import entries
from constraint_first.error import CfrError
from constraint_first.file.safe import printable
from constraint_first.problem import Json
from constraint_first.report.comparison import (
    BASELINE,
    Gain,
    ModelPairs,
    RightRule,
    changed_by_chance,
)
from constraint_first.report.statistics import Interval
from constraint_first.report.study import (
    Arm,
    ModelArms,
    benchmark_label,
    model_label,
    read_decoding,
    sizes_by_benchmark,
)

NONE: Final = "–"
"""The text of a missing number."""


def decimal(value: float | None, places: int = 1) -> str:
    """Write a number with a true minus sign."""
    if value is None:
        return NONE
    text = f"{value:,.{places}f}"
    # No minus sign for a value that is rounded to zero.
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def whole(value: float | None) -> str:
    return decimal(value, 0)


def percent(value: float | None, places: int = 1) -> str:
    """Write a share of one in per cent."""
    return NONE if value is None else decimal(100 * value, places) + " %"


def share(part: int, whole: int) -> str:
    return f"{part:,} ({percent(part / whole)})" if whole else NONE


def counted(part: int, whole: int) -> str:
    return f"{part:,} / {whole:,}"


def several(count: int, noun: str, many: str = "") -> str:
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def span(low: int, high: int) -> str:
    """Write a range of counts, or the one count that it is."""
    return str(low) if low == high else f"{low}–{high}"


def points(value: float | None) -> str:
    """Write a difference in points, with its sign."""
    if value is None:
        return NONE
    text = decimal(value)
    return text if text.startswith("−") or not float(text.replace(",", "")) else f"+{text}"


def interval(ends: tuple[float, float] | None, places: int = 1) -> str:
    """Write both ends in brackets, with a leading space; empty without an interval."""
    if ends is None:
        return ""
    low, high = (decimal(end, places) for end in ends)
    return f" [{low}, {high}]"


def scored(value: float, ends: tuple[float, float] | None) -> str:
    return decimal(value) + interval(ends)


def p_value(value: float | None) -> str:
    """Write a p-value for people (0.03, < 0.001), always exact enough to compare with 0.05."""
    if value is None:
        return NONE
    if value < 0.001:
        return "< 0.001"
    if value >= 0.995:
        return "1"
    places = 3 if value < 0.01 else 2
    while value != 0.05 and float(f"{value:.{places}f}") == 0.05:
        places += 1
    return f"{value:.{places}f}"


def exact_p(value: float | None) -> str:
    """Write a p-value for programs: two significant digits at least, and never zero."""
    if value is None:
        return NONE
    if value >= 0.001:
        return f"{value:.4f}".rstrip("0").ljust(4, "0") if value < 1 else "1"
    return f"{value:.1e}" if value > 0 else "< 1e-300"


def times(value: float | None) -> str:
    return NONE if value is None else decimal(value, 2) + "×"


# The extra ``report``: its libraries, and the error if they are not installed.

REPORT: Final = ("jinja2", "latex2mathml", "matplotlib")
"""The libraries of the extra ``report``."""


class MissingExtra(CfrError):
    exit_code = 2


def require(*names: str) -> None:
    """Raise if libraries of the extra ``report`` are missing, with the command to install them."""

    def is_there(name: str) -> bool:
        try:
            return find_spec(name) is not None
        except ValueError:  # a module without a spec
            return False

    if missing := ", ".join(name for name in names if not is_there(name)):
        raise MissingExtra(f"reports need {missing}: pip install 'constraint-first[report]'")


Tone: TypeAlias = Literal["plain", "gain", "loss", "muted"]


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    bold: bool = False
    tone: Tone = "plain"
    exact: str = ""
    """The text for LaTeX and programs, if it has more digits than that for people."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading. Adjacent columns with the same group share a second heading above."""

    title: str
    align: Literal["left", "right"] = "right"
    group: str = ""
    rank: int = 0
    """The order of dropping in narrow terminals: the highest first; 0 is never dropped."""


def left(*titles: str) -> Iterator[Column]:
    return (Column(title, "left") for title in titles)


@dataclass(frozen=True, slots=True)
class Row:
    """A row; a ``heading`` has one cell that spans the table, a ``delta`` row compares."""

    cells: tuple[Cell, ...]
    kind: Literal["row", "heading", "delta"] = "row"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption and the notes below it."""

    name: str
    """A slug for files and links: ``main``, ``paired``."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    paper: tuple[str, ...] = ()
    """The labels of the paper's tables that this one reproduces: ``tab:robustness``."""

    def to_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "title": self.title,
            "columns": [f"{c.group} {c.title}".strip() for c in self.columns],
            "rows": [[cell.exact or cell.text for cell in line.cells] for line in self.rows],
            "notes": [*self.notes],
            "paper": [*self.paper],
        }


def row(*cells: Cell | str, kind: Literal["row", "heading", "delta"] = "row") -> Row:
    return Row(tuple(c if isinstance(c, Cell) else Cell(c) for c in cells), kind)


def to_markdown(table: Table) -> str:
    """Write a table in GitHub's Markdown, with its caption before and its notes after."""
    lines = [f"**{_inline(table.title)}**", ""]
    notes = [f"{markdown_text(note)}\n" for note in table.notes]
    if not table.rows:
        return "\n".join(lines + notes).rstrip() + "\n"
    headings = (f"{c.group}: {c.title}" if c.group else c.title for c in table.columns)
    lines.append(_pipes(map(_inline, headings)))
    lines.append(_pipes("--:" if c.align == "right" else ":--" for c in table.columns))
    for line in table.rows:
        texts = [(_inline(cell.text), cell.bold) for cell in line.cells]
        cells = [f"**{text}**" if bold and text else text for text, bold in texts]
        lines.append(_pipes(cells + [""] * (len(table.columns) - len(cells))))
    return "\n".join([*lines, "", *notes]).rstrip() + "\n"


def markdown_text(text: str) -> str:
    """Escape Markdown and HTML in a text, which may come from a model or a file."""
    # Block markers only have an effect at the start of a block.
    text = re.sub(r"^(#{1,6}(?=\s|$)|>|[-+](?=\s|$))", r"\\\1", _inline(text))
    return re.sub(r"^(\d+)([.)](?=\s|$))", r"\1\\\2", text)


def _inline(text: str) -> str:
    """Escape inline syntax of Markdown and HTML."""
    text = re.sub(r"([\\`*_|~]|^\[|\](?=[(\[]))", r"\\\1", _one_line(text))
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _pipes(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


_TEX: Final = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "×": r"$\times$",
    "−": r"$-$",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≈": r"$\approx$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "✓": r"\checkmark{}",
    "✗": r"$\times$",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{REPLACEMENT CHARACTER}": "?",
}


def to_latex(table: Table) -> str:
    """Write a table for LaTeX with booktabs; it needs ``\\usepackage{booktabs,amssymb}``."""
    width = len(table.columns)
    body = [r"\begin{tabular}{" + "".join(c.align[0] for c in table.columns) + "}", r"\toprule"]
    body += _latex_groups(table.columns)
    body.append(_ampersands([rf"\textbf{{{_tex(c.title)}}}" for c in table.columns]))
    body.append(r"\midrule")
    for line in table.rows:
        if line.kind == "heading":
            text = _tex(line.cells[0].text)
            body += [r"\midrule", rf"\multicolumn{{{width}}}{{c}}{{\textbf{{{text}}}}} \\"]
        else:
            texts = [(_tex(cell.exact or cell.text), cell.bold) for cell in line.cells]
            body.append(_ampersands([rf"\textbf{{{t}}}" if bold else t for t, bold in texts]))
    body += [r"\bottomrule", r"\end{tabular}"]
    title = table.title if table.title.endswith(".") else f"{table.title}."
    caption = " ".join([title, *table.notes])
    outer = [r"\begin{table}[t]", r"\centering", *body, rf"\caption{{{_tex(caption)}}}"]
    return "\n".join([*outer, rf"\label{{tab:{table.name}}}", r"\end{table}"]) + "\n"


def _latex_groups(columns: Sequence[Column]) -> list[str]:
    """Write the line of headings that several columns share, with its rules."""
    if not any(column.group for column in columns):
        return []
    cells: list[str] = []
    rules: list[str] = []
    for first, last, group in group_spans(columns):
        cells.append(rf"\multicolumn{{{last - first + 1}}}{{c}}{{\textbf{{{_tex(group)}}}}}")
        if group:
            rules.append(rf"\cmidrule(lr){{{first + 1}-{last + 1}}}")
    return [_ampersands(cells), "".join(rules)]


def group_spans(columns: Sequence[Column]) -> list[tuple[int, int, str]]:
    """Find groups of columns: the first, the last, and the shared heading."""
    groups = groupby(range(len(columns)), lambda at: columns[at].group)
    spans = ((group, [*places]) for group, places in groups)
    return [(places[0], places[-1], group) for group, places in spans]


def _ampersands(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    # After a row's end, LaTeX would parse [ or * as an argument of the line break.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in _one_line(text))


def _one_line(text: str) -> str:
    """Join lines at any line break; no-break spaces are kept."""
    return printable(re.sub(r"[^\S\xa0\u202f]+", " ", text)).strip(" ")


# Cells of differences and gains, and the sentence for missing ones.


def delta(value: float | None, ends: Interval | None = None) -> Cell:
    """Write a difference; it is coloured only if its interval excludes zero."""
    if value is None:
        return Cell(NONE)
    text = points(value) + interval(ends)
    if ends is None or ends[0] <= 0 <= ends[1]:
        return Cell(text)
    return Cell(text, tone="gain" if value > 0 else "loss")


def gain_cell(gain: Gain | None) -> Cell:
    return delta(gain.points, gain.interval) if gain else Cell(NONE)


def absent(method: str, baseline: str = BASELINE) -> str:
    if method == baseline:
        return f"There is {baseline} alone: nothing to compare it with."
    return f"{method} and {baseline} share no judged problem with the same model and decoding."


# Notes below several tables: the rule of right problems, sizes, lost attempts.

ACCURACY_INTERVAL: Final = (
    "The interval of an accuracy is Wilson's for one run of each problem and where all problems "
    "score alike, otherwise the percentile interval of a bootstrap over problems."
)
GAIN_INTERVAL: Final = "The interval of a gain is the BCa interval of a bootstrap over problems."
RIGHT_RULES: Final[Mapping[RightRule, str]] = {
    "any": "A problem is right where any of its runs is (pass@k).",
    "first": "A problem is right where its first judged run is.",
}


def unequal_runs(found: Sequence[ModelPairs], rule: RightRule) -> Iterator[str]:
    """Warn of unequal numbers of runs: with more runs it is likelier that any is right."""
    pairs = [(one.model, base, arm) for one in found for base, arm in one.pairs]
    for model, base, arm in pairs if rule == "any" else ():
        if base.runs != arm.runs:
            yield (
                f"{model_label(model)} on {benchmark_label(base.benchmark) or 'this set'}: up "
                f"to {several(base.runs, 'run')} before and {arm.runs} after, so chances differ."
            )


def not_routed(found: Sequence[ModelPairs], rule: RightRule, how: str) -> Iterator[str]:
    """Note how many problems changed although the method's router left them to the baseline."""
    pairs = [pair for one in found for pair in one.pairs]
    if count := sum(changed_by_chance(*pair, rule) for pair in pairs):
        base, method = found[0].names
        yield (
            f"{several(count, 'problem')} that changed sides {'was' if count == 1 else 'were'} not "
            f"routed: {method} solves such a problem as {base} does, so it changed by chance{how}."
        )


def status_note(arms: Iterable[Arm]) -> str:
    """Note how many attempts gave no answer or failed, for all rows of a table together."""
    counts = Counter(attempt.status for arm in arms for attempt in arm.all_attempts())
    total = counts.total()
    if not total:
        return "No attempts."
    rates = ", ".join(
        f"{counts[status]:,} {status} ({percent(counts[status] / total)})"
        for status in STATUSES
        if status != "ok"
    )
    return f"Of {total:,} attempts: {rates}; failed ones are not scored."


def size_note(parts: Iterable[ModelArms]) -> str:
    """Note the numbers of problems and runs of each benchmark of a table."""
    said = (
        f"{benchmark_label(name) or 'all'} "
        + " or ".join(f"{problems:,} × {runs}" for problems, runs in sizes)
        for name, sizes in sizes_by_benchmark(parts).items()
    )
    return f"Problems × runs: {', '.join(said)}."


# Decoding settings in words: differences between several, and all settings of one.

_LABELS: Final = {
    "temperature": "Temperature",
    "top_p": "Top-p",
    "seed": "Seed",
    "system": "System prompt",
}
_LONGEST_PROMPT: Final = 40


def tell_apart(decodings: Sequence[str]) -> dict[str, str]:
    """Name each decoding by the settings in which they differ: ``Temperature 0.2``."""
    read = {decoding: read_decoding(decoding) for decoding in decodings}
    names = dict.fromkeys(name for one in read.values() for name in one)
    differing = [n for n in names if len({json.dumps(one.get(n)) for one in read.values()}) > 1]
    return {
        decoding: ", ".join(_named(n, one[n]) for n in differing if one.get(n) is not None)
        or ", ".join(_named(n, None) for n in differing)
        for decoding, one in read.items()
    }


def describe_decoding(decoding: str) -> str:
    """Name all settings of a decoding, in a sentence."""
    known = [(n, value) for n, value in read_decoding(decoding).items() if value is not None]
    return ", ".join(_named(n, value, lower=True) for n, value in known)


def shorten(value: object) -> str:
    """Write a setting; a text is quoted, and truncated if it is long."""
    text = " ".join(str(value).split())
    if not isinstance(value, str):
        return text
    return f"“{text[:_LONGEST_PROMPT]}…”" if len(text) > _LONGEST_PROMPT else f"“{text}”"


def _named(name: str, value: object, *, lower: bool = False) -> str:
    label = _LABELS.get(name, name)
    if value is None:
        return f"{'no' if lower else 'No'} {label.lower()}"
    return f"{label.lower() if lower else label} {shorten(value)}"


# Published numbers: each table and figure of the paper as data, and the accuracy of one cell.
#
# The files are in ``paper/`` beside this one, with every number as printed in the paper, including
# errors; a file's note lists contradictions.

PrintedValue: TypeAlias = int | Decimal | str
"""A printed number or word; a decimal keeps the printed digits, so that 5.00 stays 5.00."""

_DIFFERENCE: Final = "Δ"
_ACCURACIES: Final = ("main", "additional", "routing-ablation", "prompting", "olympiadbench")
"""The tables of pass@1 at temperature 0.7; if two contradict each other, the earlier one
counts."""


class PublishedError(CfrError):
    exit_code = 2


@dataclass(frozen=True, slots=True)
class Published:
    """A table or figure of the paper as numbers."""

    name: str
    label: tuple[str, ...]
    """The paper's labels for it: ``tab:robustness``."""
    title: str
    note: str
    """A note on its meaning and on contradictions in the paper; may be empty."""
    columns: tuple[str, ...]
    rows: tuple[tuple[PrintedValue, ...], ...]

    def to_table(self) -> Table:
        columns = (
            Column(title, "left" if all(isinstance(v, str) for v in values) else "right")
            for title, values in zip(self.columns, zip(*self.rows, strict=True), strict=True)
        )
        signed = [title.startswith(_DIFFERENCE) for title in self.columns]
        rows: list[Row] = []
        for values in self.rows:
            if _DIFFERENCE in values:
                rows.append(Row(tuple(_printed(v, sign=True, tone=True) for v in values), "delta"))
            else:
                rows.append(Row(tuple(map(_printed, values, signed))))
        return Table(
            name=f"paper-{self.name}",
            title=f"{self.title} (paper)",
            columns=tuple(columns),
            rows=tuple(rows),
            notes=(self.note,) if self.note else (),
            paper=self.label,
        )


def _printed(value: PrintedValue, sign: bool, *, tone: bool = False) -> Cell:
    if isinstance(value, str):
        return Cell(value)
    text = f"{value:{'+' if sign and value else ''},}".replace("-", "−")
    return Cell(text, tone="plain" if not (tone and value) else "gain" if value > 0 else "loss")


def published_names() -> tuple[str, ...]:
    """List the paper's tables and figures, by our names for them."""
    return tuple(_texts())


@cache
def published(name: str) -> Published:
    """Return a table or figure of the paper by its name: ``main``, ``robustness``."""
    text = _texts().get(name)
    if text is None:
        close = difflib.get_close_matches(name, published_names(), n=1)
        way = f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(_texts())}"
        raise PublishedError(f"table {name!r} of the paper: not known; {way}")
    fields: dict[str, Any] = tomllib.loads(text, parse_float=Decimal)
    return Published(
        name=name,
        label=tuple(fields["label"]),
        title=fields["title"],
        note=fields.get("note", ""),
        columns=tuple(fields["columns"]),
        rows=tuple(tuple(row) for row in fields["rows"]),
    )


@cache
def _texts() -> Mapping[str, str]:
    folder = files("constraint_first.report").joinpath("paper")
    found = {f.name.removesuffix(".toml"): f for f in folder.iterdir() if f.name.endswith(".toml")}
    return {name: found[name].read_text(encoding="utf-8") for name in sorted(found)}


def paper_accuracy(model_label: str, method_label: str, benchmark_label: str) -> float | None:
    """Look up a published pass@1 (%, four runs at temperature 0.7); None if there is none."""
    return _accuracies().get((model_label, method_label, benchmark_label))


@cache
def _accuracies() -> Mapping[tuple[str, str, str], float]:
    benchmarks = {entry.label for entry in entries().values()}
    found: dict[tuple[str, str, str], float] = {}
    for table in map(published, reversed(_ACCURACIES)):
        for values in table.rows:
            row = dict(zip(table.columns, values, strict=True))
            model, method = str(row["model"]), str(row["method"])
            for column, value in row.items() if method != _DIFFERENCE else ():
                if column in benchmarks and not isinstance(value, str):
                    found[model, method, column] = float(value)
    return found
