r"""TeX formulas as safe MathML: only known elements and only harmless values.

The formula may come from a model. Latex2mathml parses it into a tree, from which a new tree is
built: names and values that are not on the allowlists below are dropped. ``\href``, ``\style`` and
``\color`` lose their effect and keep their contents. A formula that latex2mathml cannot read, or
that lost a digit on the way, stays TeX.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, tostring

from markupsafe import Markup, escape

from constraint_first.file.safe import printable
from constraint_first.pattern import lazy_pattern

LONGEST: Final = 2_000
"""The longest formula, in characters, that is converted; a longer one stays TeX."""
STYLE: Final = """\
math .boxed { border: 1px solid; padding: 0.2em 0.3em; }
math .overline { border-top: 0.06em solid; padding-top: 0.1em; }
math .underline { border-bottom: 0.06em solid; padding-bottom: 0.1em; }
math .struck {
  background: linear-gradient(to top left,
    transparent 47%, currentColor 48% 52%, transparent 53%);
}
mtd[columnalign="left"] { text-align: left; text-align: -webkit-left; }
mtd[columnalign="right"] { text-align: right; text-align: -webkit-right; }
"""
"""The CSS rules that a page needs: browsers render neither boxes nor bars of MathML."""
DEEPEST: Final = 40
"""The deepest nesting of a formula: three times what people write."""
# Refused commands: definitions, and \sideset, which doubles its argument, can expand a short
# formula to any length.
_REFUSED: Final = lazy_pattern(
    r"\\(?:def|newcommand|newenvironment|DeclareMathOperator|sideset)(?![a-zA-Z])"
)
_TEXT: Final = lazy_pattern(
    r"\\(?:text(?:bf|it|md|normal|rm|sf|tt|up)?|emph|[fhm]box|tag\*?)\s*"
    r"\{(?P<said>(?:[^{}]|\{[^{}]*\})*)\}"
    r"|(?<![\\a-zA-Z])[a-zA-Z]{2,}(?: [a-zA-Z]{2,}(?:'s)?)+"
)
_LENGTH: Final = r"\+?(?:0|\d?(?:\.\d+)?(?:em|ex|cm|in|pc)|\d{0,2}(?:\.\d+)?(?:mm|pt|px))"
_WORDS: Final = r"[a-z -]+"
_TRUTH: Final = "true|false"
_VALUES: Final = {
    name: lazy_pattern(values)
    for names, values in (
        ("accent displaystyle fence largeop movablelimits separator stretchy", _TRUTH),
        ("columnalign columnlines mathvariant rowlines", _WORDS),
        ("form", "prefix|infix|postfix"),
        ("scriptlevel", "[0-3]"),
        ("depth height linethickness lspace maxsize minsize rspace width", _LENGTH),
        ("columnspacing rowspacing", rf"{_LENGTH}(?: {_LENGTH})*"),
    )
    for name in names.split()
}
_ELEMENTS: Final = frozenset(
    (
        "math menclose mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub "
        "msubsup msup mtable mtd mtext mtr munder munderover"
    ).split()
)
_PARTS: Final = {
    **dict.fromkeys(("mfrac", "mover", "mroot", "msub", "msup", "munder"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
_ALPHABETS: Final = {
    name.lower().replace(" ", "-"): name
    for name in (
        *("BOLD", "BOLD ITALIC", "DOUBLE-STRUCK", "FRAKTUR"),
        *("MONOSPACE", "SANS-SERIF", "SANS-SERIF ITALIC", "SCRIPT"),
    )
}
_TABLES: Final = {
    **{name: name for name in ("array", "cases", "displaylines", "smallmatrix", "split")},
    **{f"{kind}matrix{star}": f"{kind}matrix" for kind in ("", *"pbBvV") for star in ("", "*")},
    **dict.fromkeys(("align", "align*", "aligned", "aligned*", "eqnarray", "eqnarray*"), "align*"),
    **dict.fromkeys(("alignat", "alignat*", "alignedat", "flalign", "flalign*"), "align*"),
    **dict.fromkeys(("gather", "gather*", "gathered", "multline", "multline*"), "displaylines"),
    **dict.fromkeys(("cases*", "dcases"), "cases"),
    "tabular": "array",
}
"""The supported environments, and the names that latex2mathml uses for them."""
# Replacements for commands that latex2mathml lacks, ignores or misreads.
_REWRITTEN: Final = tuple(
    (lazy_pattern(pattern), replacement)
    for pattern, replacement in (
        (r"(?<!\\)%", r"\\%"),  # a model's 50% is no comment
        (r"\\(?:begin|end)\{equation\*?\}|\\label\s*\{[^{}]*\}", ""),
        (r"\\(?:nonumber|notag|hfill|noindent|ensuremath)(?![a-zA-Z])", ""),
        (r"(\\begin\{align(?:ed)?at\*?\})\s*\{\d+\}", r"\1"),
        (r"@\{[^{}]*\}", ""),  # between the columns of an array
        (r"&(?=\s*\\end)", "&{}"),  # else a last row with an empty last cell is dropped
        (r"\\[hv]space\*?\s*\{[^{}]*\}", r"\\quad "),
        (r"\\\\\s*\[-?[\d.]+\s*[a-z]{2}\]|\\newline(?![a-zA-Z])", r"\\\\ "),
        (r"\{,\}|,\\!", r"\\text{,}"),
        (r"\\hdots(?![a-zA-Z])", r"\\ldots "),
        (r"\\([NZQRC])(?![a-zA-Z])", r"\\mathbb{\1}"),
        (r"\\(?:over)?arc(?=\s*\{)", r"\\overparen"),
        (
            r"\\(arccot|arccsc|arcsec|arg|csch|lcm|rank|sech|sgn|tr|Tr|Var)(?![a-zA-Z])",
            r"\\operatorname{\1}",
        ),
    )
)
_LIMITS: Final = lazy_pattern(r"(\\(?:lim|max|min|sup|inf|gcd)(?![a-zA-Z]))\s*_")
_ENVIRONMENT: Final = lazy_pattern(r"\\(begin|end)\s*\{([a-zA-Z]+\*?)\}")


class _Unreadable(Exception):
    """A formula that is better shown as TeX."""


@lru_cache(maxsize=2_048)
def mathml(tex: str, *, block: bool = False) -> Markup | None:
    """Write a formula as a ``math`` element; return None if it is better left as TeX."""
    from latex2mathml.converter import convert_to_element

    if len(tex) > LONGEST:
        return None
    try:
        tex = _prepared(tex, block)
        read = convert_to_element(tex, display="block" if block else "inline")
        shown = Element("math", {"display": "block"} if block else {})
        shown.extend(_rebuilt(child, 1) for child in read)
    except Exception:  # a third-party parser on hostile text may raise anything
        return None
    if _digits(tex) != _digits("".join(shown.itertext())):
        return None
    return Markup(tostring(shown, encoding="unicode"))  # noqa: S704 (built from the lists above)


def _digits(text: str) -> list[str]:
    return sorted(re.findall("[0-9]", unicodedata.normalize("NFKC", text)))


def _prepared(tex: str, block: bool) -> str:
    """Rewrite a formula with commands that latex2mathml supports."""
    for pattern, replacement in _REWRITTEN:
        tex = pattern.sub(replacement, tex)
    tex = _TEXT.sub(_spaced, tex)
    tex = _ENVIRONMENT.sub(lambda found: rf"\{found[1]}{{{_TABLES[found[2]]}}}", tex)
    if _REFUSED.search(tex):
        raise _Unreadable
    if block:
        tex = _LIMITS.sub(r"\1\\limits_", tex)
        if "\\\\" in tex and r"\begin" not in tex:
            kind = "align*" if "&" in tex else "displaylines"
            tex = rf"\begin{{{kind}}}{tex}\end{{{kind}}}"
    return tex


def _spaced(found: re.Match[str]) -> str:
    """Keep the spaces between words, which TeX or latex2mathml drops, and read formulas inside."""
    if found["said"] is None:
        words = re.search("[a-zA-Z]{4}", found[0])  # not products such as "ab cd"
        return rf"\text{{ {found[0]} }}".replace(" ", "\N{NO-BREAK SPACE}") if words else found[0]
    command = found[0][: found.start("said") - found.start()]
    parts = re.split(r"(?<!\\)\$|\\[()]", found["said"])
    if len(parts) % 2 == 0:  # a dollar sign is a price or unpaired
        parts = [found["said"]]
    if any("{" in words for words in parts[::2]):
        raise _Unreadable
    parts[::2] = [words.replace(" ", "\N{NO-BREAK SPACE}") for words in parts[::2]]
    wrapped = (f"{{{p}}}" if at % 2 else f"{command}{p}}}" for at, p in enumerate(parts) if p)
    return "".join(wrapped) or "{}"


def _rebuilt(read: Element, depth: int) -> Element:
    """Copy an element, with its allowed names and values only."""
    if read.tag not in _ELEMENTS or depth > DEEPEST:
        raise _Unreadable
    harmless = {
        name: value
        for name, value in read.attrib.items()
        if (values := _VALUES.get(name)) and values.fullmatch(value)
    }
    shown, text = Element(read.tag, harmless), _text(read)
    if read.tag in ("mi", "mn", "mo"):
        _name(shown, text)
    else:
        shown.text = text
    shown.extend(_rebuilt(child, depth + 1) for child in _parts(read))
    # Boxes, bars and strikes are drawn by the page's CSS.
    if shown.tag == "menclose":
        return _styled("boxed" if read.get("notation") == "box" else "struck", shown)
    if shown.tag in ("mover", "munder") and len(shown) == 2 and shown[1].text == "―":
        return _styled("overline" if shown.tag == "mover" else "underline", shown[0])
    return shown


def _parts(read: Element) -> list[Element]:
    """Return the children, as many as the element requires."""
    children, wanted = list(read), _PARTS.get(read.tag, len(read))
    if len(children) > wanted and children[0].tag in ("mo", "mspace"):
        # A matrix or binomial with an exponent: latex2mathml does not group its brackets.
        base = Element("mrow")
        base.extend(children[: 1 - wanted])
        children = [base, *children[1 - wanted :]]
    if len(children) != wanted:
        raise _Unreadable
    return children


def _text(read: Element) -> str:
    """Return the text of an element, with escapes and character references resolved."""
    text = read.text or ""
    if read.tag == "mtext":
        text = re.sub(r"\\([%$&_#{} ])", r"\1", text)
    elif text == "&" or text.startswith("\\"):  # a tab outside a table, an unknown command
        raise _Unreadable
    return printable(re.sub(r"&#x([0-9a-fA-F]{1,6});", lambda m: chr(int(m[1], 16)), text))


def _name(shown: Element, text: str) -> None:
    """Write a letter in its alphabet, and give operators the spaces around them."""
    if alphabet := _ALPHABETS.get(shown.get("mathvariant", "")):
        text = "".join(_letter(character, alphabet) for character in text)
        del shown.attrib["mathvariant"]
    shown.text = text
    if text in ("∞", "∅"):
        shown.tag = "mi"
    elif len(text) == 1 and unicodedata.category(text) == "Sm":
        shown.tag = "mo"
    elif len(text) > 1 and text.isascii() and text.isalpha() and text != "mod":
        shown.tag = "mo"
        shown.attrib.update(lspace="0.167em", rspace="0.167em")


def _letter(character: str, alphabet: str) -> str:
    """Find a mathematical letter by its Unicode name: browsers ignore ``mathvariant``."""
    name = re.sub("LATIN |GREEK |LETTER ", "", unicodedata.name(character, ""))
    for family in ("MATHEMATICAL ", ""):  # a few, such as ℝ, are older than their families
        try:
            return unicodedata.lookup(f"{family}{alphabet} {name}")
        except KeyError:
            continue
    return character


def _styled(name: str, content: Element) -> Element:
    row = Element("mrow", {"class": name})
    if content.tag in ("menclose", "mrow"):
        row.text = content.text
        row.extend(content)
    else:
        row.append(content)
    return row


# Text with TeX formulas, of a problem or a model, as safe HTML.

# Each alternative matches up to the end of the text if it is not closed, so that matching is
# linear.
_BLOCK: Final = lazy_pattern(
    r"""
      ^[ \t]*```[^\n`]*\n(?P<code>.*?)(?:^[ \t]*```[ \t]*$|\Z)
    | \[asy\](?P<drawing>.*?)(?:\[/asy\]|\Z)
    | ^[ ]{0,3}\#{1,6}[ \t]+(?P<heading>[^\n]*)$
    | \n\s*\n
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_INLINE: Final = lazy_pattern(
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
_DOLLAR: Final = lazy_pattern(r"(?<!\\)\$")
_BRACE: Final = lazy_pattern(r"\\.|([{}])", re.DOTALL)


class _Formula(NamedTuple):
    """A formula and where it ends in its text."""

    tex: str
    end: int
    block: bool = False


def to_html(text: str, *, limit: int = 20_000) -> Markup:
    r"""Write a text as paragraphs, its formulas as MathML, of its first ``limit`` characters.

    Mathematics stands between ``$``, ``$$``, ``\(`` and ``\)`` or ``\[`` and ``\]``. Of Markdown
    it supports paragraphs, headings, bold, code and fences. Anything else is shown as written. The
    page needs ``constraint_first.report.math.STYLE``.
    """
    text = printable(text.replace("\r\n", "\n"))
    html = "".join(_blocks(text[:limit]))
    if len(text) > limit:
        html += f"<p>… {len(text) - limit:,} characters left out</p>\n"
    return Markup(html)  # noqa: S704 (every piece is escaped below)


def formula_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of formulas in a text, delimiters included."""
    ends = [0, *(end for found in _BLOCK.finditer(text) for end in found.span()), len(text)]
    spans: list[tuple[int, int]] = []
    for start, end in zip(ends[::2], ends[1::2], strict=True):
        paragraph, at = text[start:end], 0
        while found := _INLINE.search(paragraph, at):
            formula = _formula(paragraph, found)
            at = formula.end if formula else found.end()
            if formula:
                spans.append((start + found.start(), start + at))
    return spans


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
    pieces: list[str] = []
    at, bold = 0, -1  # start of an unclosed bold span, else -1
    while found := _INLINE.search(text, at):
        formula = _formula(text, found)
        html, before = _shown(formula, found), text[at : found.start()]
        at = formula.end if formula else found.end()
        if html.startswith('<math display="block"'):  # it is a block already
            before = before.rstrip()
            at += len(text[at:]) - len(text[at:].lstrip())
        pieces += (_prose(before), html)
        if found["bold"] and bold < 0:
            bold = -1 if text[at : at + 1].isspace() else len(pieces) - 1
        elif found["bold"] and not before[-1:].isspace() and any(pieces[bold + 1 : -1]):
            pieces[bold], pieces[-1], bold = "<strong>", "</strong>", -1
    return "".join([*pieces, _prose(text[at:])])


def _prose(text: str) -> str:
    return escape(text).replace("\n", Markup("<br/>\n"))


def _shown(formula: _Formula | None, found: re.Match[str]) -> str:
    """Write the match at a position that is not prose."""
    if formula:
        written = found.string[found.start() : formula.end]
        math = mathml(formula.tex, block=formula.block)
        return math or f'<code class="tex">{escape(written)}</code>'
    if found["code"]:
        return f"<code>{escape(found['code'])}</code>"
    return escape("$" if found["escaped"] == "$" else found[0])


def _formula(text: str, found: re.Match[str]) -> _Formula | None:
    """Parse the formula that starts here, if it is closed."""
    start, opened = found.start(), found.end()
    if name := found["environment"]:
        closing = rf"\end{{{name}}}"
        end = text.find(closing, start) + len(closing)
        return _Formula(text[start:end], end, block=True) if end >= len(closing) else None
    if found["boxed"]:
        return _boxed(text, start, opened)
    if found["opening"] == "$":
        return _dollars(text, opened)
    if closing := _CLOSING.get(found["opening"] or ""):
        end = text.find(closing, opened)
        tex = text[opened:end].strip() if end >= 0 else ""
        return _Formula(tex, end + len(closing), block=closing != r"\)") if tex else None
    return None


def _dollars(text: str, start: int) -> _Formula | None:
    """Parse up to the next dollar sign, unless the two are prices."""
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
