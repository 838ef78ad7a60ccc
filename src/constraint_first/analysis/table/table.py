"""A table as a value: decided once, then written as text, Markdown, LaTeX or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from constraint_first.file.printable import printable
from constraint_first.problem import Json

__all__ = [
    "Cell",
    "Column",
    "Row",
    "Table",
    "Tone",
    "group_spans",
    "markdown_text",
    "row",
    "to_latex",
    "to_markdown",
]

Tone: TypeAlias = Literal["plain", "gain", "loss", "muted"]


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in one place of a table."""

    text: str
    bold: bool = False
    tone: Tone = "plain"
    exact: str = ""
    """What LaTeX and programs get in its place, where people are told it in fewer digits."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading. Neighbours with the same group share a heading above their own."""

    title: str
    align: Literal["left", "right"] = "right"
    group: str = ""
    rank: int = 0
    """How soon it goes where a terminal is narrow: the highest first; 0 stays."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row; a ``heading`` has one cell that spans the table, a ``delta`` row compares."""

    cells: tuple[Cell, ...]
    kind: Literal["row", "heading", "delta"] = "row"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption and the sentences that belong under it."""

    name: str
    """A word for files and links: ``main``, ``paired``."""
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    paper: tuple[str, ...] = ()
    """The labels of the paper's tables that this one makes anew: ``tab:robustness``."""

    def to_json(self) -> dict[str, Json]:
        """Describe the table for programs; a heading is a row of one cell."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": [f"{c.group} {c.title}".strip() for c in self.columns],
            "rows": [[cell.exact or cell.text for cell in line.cells] for line in self.rows],
            "notes": [*self.notes],
            "paper": [*self.paper],
        }


def row(*cells: Cell | str, kind: Literal["row", "heading", "delta"] = "row") -> Row:
    """Make a row out of cells or plain texts."""
    return Row(tuple(c if isinstance(c, Cell) else Cell(c) for c in cells), kind)


def to_markdown(table: Table) -> str:
    """Write a table in GitHub's Markdown, its caption ahead and its notes behind."""
    lines = [f"**{_inline(table.title)}**", ""]
    notes = [f"{markdown_text(note)}\n" for note in table.notes]
    if not table.rows:
        return "\n".join(lines + notes).rstrip() + "\n"
    lines.append(_pipes(_heading(column) for column in table.columns))
    lines.append(_pipes("--:" if c.align == "right" else ":--" for c in table.columns))
    for line in table.rows:
        texts = [_markdown_cell(cell) for cell in line.cells]
        lines.append(_pipes(texts + [""] * (len(table.columns) - len(texts))))
    return "\n".join([*lines, "", *notes]).rstrip() + "\n"


def _heading(column: Column) -> str:
    return _inline(f"{column.group}: {column.title}" if column.group else column.title)


def _markdown_cell(cell: Cell) -> str:
    text = _inline(cell.text)
    return f"**{text}**" if cell.bold and text else text


def markdown_text(text: str) -> str:
    """Keep text from being read as Markdown or HTML: it may be a model's, or a file's."""
    # What opens a block only does so at its start.
    text = re.sub(r"^(#{1,6}(?=\s|$)|>|[-+](?=\s|$))", r"\\\1", _inline(text))
    return re.sub(r"^(\d+)([.)](?=\s|$))", r"\1\\\2", text)


def _inline(text: str) -> str:
    """Do the same within a line."""
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
            body.append(_ampersands([_latex_cell(cell) for cell in line.cells]))
    body += [r"\bottomrule", r"\end{tabular}"]
    caption = " ".join([_sentence(table.title), *table.notes])
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
    """Find the columns that share a heading: the first, the last, and what they share."""
    spans: list[tuple[int, int, str]] = []
    for at, column in enumerate(columns):
        if spans and spans[-1][2] == column.group:
            spans[-1] = (spans[-1][0], at, column.group)
        else:
            spans.append((at, at, column.group))
    return spans


def _latex_cell(cell: Cell) -> str:
    text = _tex(cell.exact or cell.text)
    return rf"\textbf{{{text}}}" if cell.bold else text


def _ampersands(cells: Iterable[str]) -> str:
    line = " & ".join(cells)
    # After the end of a row, [ and * would be read as its options.
    return ("{}" if line.startswith(("[", "*")) else "") + line + r" \\"


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in _one_line(text))


def _one_line(text: str) -> str:
    """Join lines, whatever breaks them; spaces that must not break stay what they are."""
    return printable(re.sub(r"[^\S\xa0\u202f]+", " ", text)).strip(" ")


def _sentence(text: str) -> str:
    return text if text.endswith(".") else text + "."
