"""Text with TeX mathematics in it, a problem's or a model's, as HTML that cannot do anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup, escape

from constraint_first.analysis.report.formula import DEEPEST, LONGEST, mathml
from constraint_first.file.printable import printable

__all__ = ["formula_spans", "to_html"]

# Each alternative ends at the end of the text at the latest, so that nothing is read twice.
_BLOCK: Final = re.compile(
    r"""
      ^[ \t]*```[^\n`]*\n(?P<code>.*?)(?:^[ \t]*```[ \t]*$|\Z)
    | \[asy\](?P<drawing>.*?)(?:\[/asy\]|\Z)
    | ^[ ]{0,3}\#{1,6}[ \t]+(?P<heading>[^\n]*)$
    | \n\s*\n
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_INLINE: Final = re.compile(
    r"""
      `(?P<code>[^`\n]+)`
    | \\(?P<escaped>[\\$])
    | (?P<opening>\$\$? | \\\( | \\\[)
    | \\begin\{(?P<environment>(?:align|aligned|array|cases|eqnarray|equation|gather|gathered
        |multline|[bBpvV]?matrix)\*?)\}
    | (?P<boxed>\\boxed)\s*(?=\{)
    | (?P<bold>\*\*)
    """,
    re.VERBOSE,
)
_CLOSING: Final = {r"\(": r"\)", r"\[": r"\]", "$$": "$$"}
_DOLLAR: Final = re.compile(r"(?<!\\)\$")
_BRACE: Final = re.compile(r"\\.|([{}])", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Formula:
    """A formula and where it ends in its text."""

    tex: str
    end: int
    block: bool = False


def to_html(text: str, *, limit: int = 20_000) -> Markup:
    r"""Write a text as paragraphs, its formulas as MathML, of its first ``limit`` characters.

    Mathematics stands between ``$``, ``$$``, ``\(`` and ``\)`` or ``\[`` and ``\]``. Of Markdown it
    knows paragraphs, headings, bold, code and fences. Whatever it cannot read is shown as it was
    written. The page needs ``constraint_first.analysis.report.formula.STYLE``.
    """
    text = printable(text.replace("\r\n", "\n"))
    html = "".join(_blocks(text[:limit]))
    if len(text) > limit:
        html += f"<p>… {len(text) - limit:,} characters left out</p>\n"
    return Markup(html)  # noqa: S704 (every piece is escaped below)


def formula_spans(text: str) -> list[tuple[int, int]]:
    """Find where formulas stand in a text, their signs included."""
    ends = [0, *(end for found in _BLOCK.finditer(text) for end in found.span()), len(text)]
    return [
        span
        for start, end in zip(ends[::2], ends[1::2], strict=True)
        for span in _formulas(text, start, end)
    ]


def _formulas(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    paragraph, at = text[start:end], 0
    while found := _INLINE.search(paragraph, at):
        formula = _formula(paragraph, found)
        at = formula.end if formula else found.end()
        if formula:
            yield start + found.start(), start + at


def _blocks(text: str) -> Iterator[str]:
    at = 0
    for found in _BLOCK.finditer(text):
        yield _paragraph(_inline(text[at : found.start()].strip()))
        at = found.end()
        code = found["code"] if found["drawing"] is None else found["drawing"]
        if code is not None:
            yield f"<pre><code>{escape(code)}</code></pre>\n"
        elif found["heading"]:
            yield _paragraph(f"<strong>{_inline(found['heading'].strip())}</strong>")
    yield _paragraph(_inline(text[at:].strip()))


def _paragraph(html: str) -> str:
    return f"<p>{html}</p>\n" if html else ""


def _inline(text: str) -> str:
    line, at = _Line(), 0
    while found := _INLINE.search(text, at):
        formula = _formula(text, found)
        html, before = _shown(formula, found), text[at : found.start()]
        at = formula.end if formula else found.end()
        if html.startswith('<math display="block"'):  # it stands on lines of its own as it is
            before = before.rstrip()
            at = _after_space(text, at)
        line.pieces.append(_prose(before))
        if found["bold"]:
            line.bold(opens=not text[at : at + 1].isspace(), closes=not before[-1:].isspace())
        else:
            line.pieces.append(html)
    return "".join([*line.pieces, _prose(text[at:])])


@dataclass(slots=True)
class _Line:
    """The pieces of a paragraph so far, and where in them a bold stretch may begin."""

    pieces: list[str] = field(default_factory=list[str])
    opened: int | None = None

    def bold(self, *, opens: bool, closes: bool) -> None:
        """Take in two asterisks: they stay what they are until a second pair follows."""
        self.pieces.append("**")
        if self.opened is None:
            self.opened = len(self.pieces) - 1 if opens else None
        elif closes and any(self.pieces[self.opened + 1 : -1]):
            self.pieces[self.opened], self.pieces[-1] = "<strong>", "</strong>"
            self.opened = None


def _prose(text: str) -> str:
    return escape(text).replace("\n", Markup("<br/>\n"))


def _shown(formula: _Formula | None, found: re.Match[str]) -> str:
    """Write what stands at a place that is not prose."""
    if formula:
        written = found.string[found.start() : formula.end]
        math = mathml(formula.tex, block=formula.block)
        return math or f'<code class="tex">{escape(written)}</code>'
    if found["code"]:
        return f"<code>{escape(found['code'])}</code>"
    return escape("$" if found["escaped"] == "$" else found[0])


def _formula(text: str, found: re.Match[str]) -> _Formula | None:
    """Read the formula that begins here, if it ends somewhere."""
    if name := found["environment"]:
        return _environment(text, found.start(), rf"\end{{{name}}}")
    if found["boxed"]:
        return _boxed(text, found.start(), found.end())
    if found["opening"] == "$":
        return _dollars(text, found.end())
    if opening := found["opening"]:
        return _between(text, found.end(), _CLOSING[opening])
    return None


def _environment(text: str, start: int, closing: str) -> _Formula | None:
    at = text.find(closing, start)
    end = at + len(closing)
    return _Formula(text[start:end], end, block=True) if at >= 0 else None


def _between(text: str, start: int, closing: str) -> _Formula | None:
    end = text.find(closing, start)
    tex = text[start:end].strip() if end >= 0 else ""
    return _Formula(tex, end + len(closing), block=closing != r"\)") if tex else None


def _dollars(text: str, start: int) -> _Formula | None:
    """Read up to the next dollar sign, unless the two belong to prices."""
    closing = _DOLLAR.search(text, start)
    if not closing:
        return None
    tex, after = text[start : closing.start()], text[closing.end() : closing.end() + 1]
    fits = tex and not tex[0].isspace() and not tex[-1].isspace() and not after.isdigit()
    return _Formula(tex, closing.end()) if fits else None


def _boxed(text: str, start: int, brace: int) -> _Formula | None:
    depth = 0
    for found in _BRACE.finditer(text, brace, brace + LONGEST):
        depth += {"{": 1, "}": -1, None: 0}[found[1]]
        if depth == 0:
            return _Formula(text[start : found.end()], found.end())
        if depth > DEEPEST:
            break
    return None


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at
