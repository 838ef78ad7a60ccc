"""TeX in texts, as MathML that cannot do anything."""

import re
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot import Golden

from constraint_first.file.safe import printable
from constraint_first.report.math import DEEPEST, LONGEST, STYLE, formula_spans, mathml, to_html

# Formula.

ELEMENTS = set(
    "math mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup "
    "mtable mtd mtext mtr munder munderover".split()
)
ATTRIBUTES = set(
    "accent class columnalign columnlines columnspacing depth display displaystyle fence form "
    "height largeop linethickness lspace mathvariant maxsize minsize movablelimits rowlines "
    "rowspacing rspace scriptlevel separator stretchy width".split()
)
CLASSES = {"boxed", "overline", "struck", "underline"}
PIECES = (
    r"\frac \sqrt \left( \right) \left. \right| { } { } [ ] ^ _ ' & \\ \begin{cases} \end{cases} "
    r"\begin{array} \end{array} {c|c} \hline \text{ \mathbf{ \mathbb{ \boxed{ \overline \underline "
    r"\cancel{ \href{ javascript:alert(1) \style{ \class{ \color{ red \unicode{ x202e \hbox{ $ % # "
    r"\rule{9em}{9em} \hspace{-9em} \raise{9em} \Huge \phantom{ \not \over \genfrac \substack "
    r"\xrightarrow[ \operatorname{ \lim \sum \mod \pmod{ \verb| \tag{ \textcolor{ \mathchoice 12 "
    r"\skew 3.5 x y &#x3c; <script> </math> <!-- ]]> &lt; , \! = < > ∞ é \def \sideset \newcommand"
).split()


def parsed(html: str) -> Element:
    return fromstring(html)  # noqa: S314 (no document type, so no entities)


def shown(tex: str, *, block: bool = False) -> Element:
    html = mathml(tex, block=block)
    assert html is not None
    return parsed(html)


def text(tex: str) -> str:
    return "".join(shown(tex).itertext())


FORMULAS = r"""
x^2
a<b
a\implies b
\infty
\mathbf{v}_1
\mathbf{ab12}
\mathbb{RZ}
\R
\boxed{42}
\overline{AB}
\underline x
\cancel{x}
\sin x
\text{5 apples in}
\text{a $x$ b}
\text{over \$5}
\text{over $5}
\text{}
50% of 80
24{,}000
24,\!000
\arg z
\boxed{No unique solution}
a\hspace{1cm}b\label{eq1}
\begin{pmatrix*}[r] 1 \\ 2 \end{pmatrix*}
\begin{pmatrix} 1 & 2 \\ 3 & \end{pmatrix}
\begin{array}{@{}l@{}} 1 \end{array}
\begin{alignat}{2} a &= 5 \end{alignat}
\begin{vmatrix} 1 \end{vmatrix}^2
\binom{n}{k}^2
\lim_{x \to 0} x
"""
BLOCKS = r"""
\begin{aligned} a &= b \\[4pt] c &= d \end{aligned}
\begin{align} a &= b \\ c &= d \end{align}
\begin{align*} a &= b \\ c &= d \end{align*}
\begin{eqnarray} a &= b \\ c &= d \end{eqnarray}
a = b \\ c = d
a &= b \\ &= d
\lim_{x \to 0} x
"""


def test_how_formulas_are_written(golden: Golden) -> None:
    """Nothing is lost; an exponent belongs to a whole bracket; a block has its limits below."""
    made = [
        f"{tex}\n{mathml(tex, block=block)}\n"
        for block, formulas in ((False, FORMULAS), (True, BLOCKS))
        for tex in formulas.strip().splitlines()
    ]
    assert "\n".join(made) == golden("formulas.txt")


def harmless(root: Element) -> bool:
    return all(
        element.tag in ELEMENTS
        and element.attrib.keys() <= ATTRIBUTES
        and element.get("class", "boxed") in CLASSES
        for element in root.iter()
    )


@pytest.mark.parametrize(
    "tex",
    [
        "",
        r"\unknown{x}",
        r"\frac{1}",
        r"2^\binom{n}{k}",
        r"\left( x",
        "a & b",
        "x^2^3",
        r"\text{a {b} c}",
        r"\begin{itemize} x \end{itemize}",
        r"\begin{cases} x",
        "x" * (LONGEST + 1),
        "{" * (DEEPEST + 1) + "x" + "}" * (DEEPEST + 1),
        r"\def\a{x}\a",
        r"\newcommand{\a}{x}\a",
        r"\newenvironment{a}{x}{y}",
        r"\DeclareMathOperator{\a}{x}\a",
        r"\sideset{}{}{x}",
        r"\mathchoice{1}{2}{3}{4}",  # of four choices latex2mathml keeps one: digits are lost
    ],
)
def test_what_cannot_be_read_stays_tex(tex: str) -> None:
    assert mathml(tex) is None
    assert mathml(tex, block=True) is None


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        (r"\href{javascript:alert()}{x}", "x"),
        (r"\style{background:url(//evil)}{x}", "x"),
        (r"\class{evil}{x}", "x"),
        (r"\textcolor{red}{x}", "x"),
        (r"\color{white} x", "x"),
        (r"\text{<script>alert()</script>}", "<script>alert()</script>"),
        (r"\text{</mtext><script>}", "</mtext><script>"),
        (r"\text{<img src=x onerror=alert()>}", "<img\xa0src=x\xa0onerror=alert()>"),
        (r"</math><script>", "</math><script>"),
        (r"\text{&lt;b&gt; &amp;}", "&lt;b&gt;\xa0&amp;"),
        (r"\text{<![CDATA[x]]>}", "<![CDATA[x]]>"),
        (r"\text{a&#xc;}", "a\ufffd"),
        (r"\unicode{xc}", "\ufffd"),
        (r"\unicode{x202e}", ""),
        ("a\x00b\u202ec", "a\ufffdb\ufffdc"),
    ],
)
def test_hostile_formulas_are_text(tex: str, words: str) -> None:
    root = parsed(mathml(tex) or "<math/>")
    assert harmless(root)
    assert "".join(root.itertext()) == words


@pytest.mark.parametrize(
    "tex",
    [
        r"\hspace{999em} x",
        r"\kern-99em x",
        r"\mkern-9em x",
        r"\rule{99em}{99em} x",
        r"\raise{99em}{x}",
        r"\Huge x",
        r"\above{99em} x",
    ],
)
def test_no_formula_covers_the_page(tex: str) -> None:
    html = mathml(tex) or ""
    assert not re.search(r'99|"-|mathsize|mathbackground|voffset', html)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("{", "}"),
        (r"\frac{1}{", "}"),
        (r"\frac", ""),
        (r"\left(", r"\right)"),
        (r"\sqrt[", "]{x}"),
        (r"\begin{matrix}", r"\end{matrix}"),
        (r"\sideset{}{}{", "}"),
        (r"\text{", ""),
        (r"\text{{a}", ""),
        (r"\operatorname{  ", ""),
        ("ab ", ""),
        ("'", ""),
        ("&", ""),
        (r"\\ ", ""),
        (r"\hat", ""),
    ],
)
def test_enormous_formulas_come_to_an_end(opening: str, closing: str) -> None:
    count = LONGEST // len(opening + closing)
    html = mathml(opening * count + closing * count, block=True)
    assert html is None or harmless(parsed(html))


@settings(deadline=None)  # the first example imports latex2mathml
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=14), st.booleans())
def test_every_formula_is_harmless(pieces: list[str], block: bool) -> None:
    html = mathml(printable("".join(pieces)), block=block)
    assert html is None or harmless(parsed(html))


@settings(deadline=None)  # the first example imports latex2mathml
@given(st.recursive(
    st.sampled_from(["x", "12", r"\pi", "a+b", r"\text{if }"]),
    lambda inner: st.builds(r"\frac{{{}}}{{{}}}".format, inner, inner)
    | st.builds(r"\sqrt{{{}}}".format, inner)
    | st.builds(r"\left({}\right)^{{{}}}".format, inner, inner)
    | st.builds(r"\begin{{cases}} {} & {} \end{{cases}}".format, inner, inner),
    max_leaves=6,
))  # fmt: skip
def test_sound_formulas_are_shown(tex: str) -> None:
    assert harmless(shown(tex))


def test_the_style_knows_every_class() -> None:
    assert all(f"math .{name} " in STYLE for name in CLASSES)
    assert "<" not in STYLE


def test_control_characters_are_shown() -> None:
    assert printable("a\tb\nc\x07\x7f\u2066\ud800\uffff") == "a\tb\nc" + "\ufffd" * 5


# Mathematics.

PROSE_ELEMENTS = {"p", "br", "strong", "code", "pre"}
KEPT = re.compile(
    "accent|class|(?:column|row)(?:align|lines|spacing)|depth|display|displaystyle|fence|form"
    "|height|largeop|linethickness|[lr]space|mathvariant|m(?:ax|in)size|movablelimits|scriptlevel"
    "|separator|stretchy|width"
)
PARTS = (
    r"$ $$ \( \) \[ \] \$ \\ ** ` ``` # [asy] [/asy] \boxed{ } { \begin{align} \end{align} & "
    r"\frac{1}{2} x^2 <script>alert(1)</script> <img/onerror=alert(1)> </math> </p> </code> &lt; "
    r"&#60; <!-- --> <![CDATA[ ]]> \text{<b>} \href{javascript:alert(1)}{x} \style{x}{y} 5 a . on"
).split()


def page(text: str) -> Element:
    # There is no document type, so there are no entities.
    return fromstring(f"<body>{to_html(text)}</body>")  # noqa: S314


def formulas(text: str) -> list[str]:
    return ["".join(found.itertext()) for found in page(text).iter("math")]


def visible(text: str) -> str:
    return "".join(page(text).itertext())


def harmless_page(root: Element) -> bool:
    return all(
        (element is root or element.tag in PROSE_ELEMENTS or re.fullmatch("m[a-z]+", element.tag))
        and all(KEPT.fullmatch(name) for name in element.attrib)
        for element in root.iter()
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        (" \n\n ", ""),
        ("one\ntwo\n\n \nthree", "<p>one<br/>\ntwo</p>\n<p>three</p>\n"),
        ("one\r\ntwo", "<p>one<br/>\ntwo</p>\n"),
        ("a **bold** word", "<p>a <strong>bold</strong> word</p>\n"),
        ("2 ** 3 and **open", "<p>2 ** 3 and **open</p>\n"),
        ("****", "<p>****</p>\n"),
        ("`a < b` and ` alone", "<p><code>a &lt; b</code> and ` alone</p>\n"),
        ("`$x$ **y**`", "<p><code>$x$ **y**</code></p>\n"),
        ("## **Step** 1\nSo", "<p><strong><strong>Step</strong> 1</strong></p>\n<p>So</p>\n"),
        ("#5 is not one", "<p>#5 is not one</p>\n"),
        ("See\n```python\na = '$x$'\n\nb\n```\nnow",
         "<p>See</p>\n<pre><code>a = &#39;$x$&#39;\n\nb\n</code></pre>\n<p>now</p>\n"),
        ("```\ncut off", "<pre><code>cut off</code></pre>\n"),
        ('[asy]label("$A$");[/asy] So',
         "<pre><code>label(&#34;$A$&#34;);</code></pre>\n<p>So</p>\n"),
        (r"it costs \$5, \\ yes", "<p>it costs $5, \\\\ yes</p>\n"),
        ("**so $x$**", "<p><strong>so <math><mrow><mi>x</mi></mrow></math></strong></p>\n"),
        ("a\n\\[ x \\]\nb",
         '<p>a<math display="block"><mrow><mi>x</mi></mrow></math>b</p>\n'),
        ("a\n\\[\\no\\]", '<p>a<br/>\n<code class="tex">\\[\\no\\]</code></p>\n'),
        (r"\(\unknown{<}\)", r'<p><code class="tex">\(\unknown{&lt;}\)</code></p>' + "\n"),
    ],
)  # fmt: skip
def test_how_text_is_written(text: str, html: str) -> None:
    assert to_html(text) == html


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$x$ and $y+z$.", ["x", "y+z"]),
        (r"$$x$$ \(y\) \[z\]", ["x", "y", "z"]),
        ("$a\nb$", ["ab"]),
        (r"the price is $\$5$", ["$5"]),
        ("costs $5, or $x$", ["x"]),
        (r"\begin{align*} a &= b \end{align*}", ["a=b"]),
        (r"The answer is \boxed{42}.", ["42"]),
        (r"\boxed{\frac{1}{2}} or \(\boxed{3}\)", ["12", "3"]),
        (r"\boxed{\{1\}}", ["{1}"]),
    ],
)
def test_what_is_mathematics(text: str, found: list[str]) -> None:
    assert formulas(text) == found


@pytest.mark.parametrize(
    "text",
    [
        *("costs $5 and $7", "costs $5-$7", "$ 5 and 7$ more", "$x $ y", "$x$5", "unclosed $x"),
        *("$x\n\ny$", "\\[x\n\ny\\]", r"unclosed \(x and \[y", "unclosed $$x", "$$ $$"),
        *(r"\\(x\\)", r"\begin{align*} a &= b", r"\boxed{42", r"\(x and \[y and $z and $$"),
    ],
)
def test_what_is_no_mathematics_stays_as_it_was(text: str) -> None:
    assert formulas(text) == []
    assert visible(text).split() == text.split()


def test_displayed_formulas_are_blocks() -> None:
    displays = [math.get("display") for math in page(r"$x$ $$x$$ \(x\) \[x\]").iter("math")]
    assert displays == [None, "block", None, "block"]


def test_long_texts_are_cut_and_say_so() -> None:
    assert to_html("abcdef", limit=4) == "<p>abcd</p>\n<p>… 2 characters left out</p>\n"
    assert to_html("abcd", limit=4) == "<p>abcd</p>\n"
    assert "… 1,000 characters left out" in to_html("a" * 21_000)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "<b>unclosed",
        "</p></body><script>",
        "$</math><script>alert(1)</script>$",
        r"$\text{</mtext><script>alert(1)</script>}$",
        r"$\text{<img src=x onerror=alert(1)>}$",
        r"$\href{javascript:alert(1)}{x}$",
        r"$\style{background:url(//x)}{x}$ $\class{x}{y}$",
        r"$\unicode{3c}script\unicode{3e}$",
        r"$\text{&#x3c;script&#x3e;}$",
        "&lt;script&gt; &#60;script&#62; &bogus;",
        "<![CDATA[ <script> ]]>",
        "<!-- <script> -->",
        "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY y 'z'>]>&y;",
        "`</code><script>`",
        "```\n</code></pre><script>\n```",
        "[asy]</code></pre><script>[/asy]",
        "# </strong><script>",
        "**</strong><script>**",
        "a\x00b\x1b[31m\x85\u202ec\u2066d\ud800\uffff",
        "$a\x00\u202e\ud800\uffff$",
        "${{{{{{" * 500,
    ],
)
def test_hostile_texts_are_only_text(text: str) -> None:
    html = to_html(text)
    assert harmless_page(page(text))
    assert not re.search(r"<(?:script|img|b|a|!|\?)\b", html)
    assert not re.search("[\x00\x1b\x85\u202e\u2066\ud800\uffff]", html)
    html.encode()


@pytest.mark.parametrize(
    "piece",
    [
        *("$", "$a", "$a ", "$$", "\\(", "\\[a", "\\boxed{", "\\begin{align}", "**", "**a ", "`"),
        *("```", "\n```", "\n ", "\n# ", "[asy]", "\\\\)", "{", "<", "$x$", r"\[\frac{1}{2}\]"),
        "$" + r"\left(" * 300 + "$",
    ],
)
def test_enormous_texts_come_to_an_end(piece: str) -> None:
    text = (piece * 20_000)[:20_000]
    root = page(text)
    assert harmless_page(root)


@settings(deadline=None)  # the first example imports latex2mathml
@given(st.text() | st.lists(st.sampled_from(PARTS) | st.text(max_size=3)).map("".join))
def test_every_text_is_harmless(text: str) -> None:
    assert harmless_page(page(text))


@settings(deadline=None)  # the first example imports latex2mathml
@given(st.text(st.characters(exclude_characters="$\\`*#[\r", exclude_categories=["Cc", "Cs"])))
def test_prose_survives(text: str) -> None:
    shown = re.sub("[\u202a-\u202e\u2066-\u2069\ufffe\uffff]", "\ufffd", text)
    assert visible(text).split() == shown.split()


@settings(deadline=None)  # the first example imports latex2mathml
@given(st.lists(st.sampled_from(["word", "a < b", "x & y", "\n", "\n\n", "**b**", "$x$"])))
def test_lines_and_paragraphs_survive(pieces: list[str]) -> None:
    text = " ".join(pieces)
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    assert len(list(page(text).iter("p"))) == len(paragraphs)
    assert "".join(visible(text).split()) == re.sub(r"[\s*$]", "", text)


def test_formulas_are_found_where_they_stand() -> None:
    text = "Price $5 and\n\nthen $x^2$ is \\(a\\) `$b$`, \\boxed{3}\n\n```\n$c$\n```\nfind $d$."
    found = [text[start:end] for start, end in formula_spans(text)]
    assert found == ["$x^2$", r"\(a\)", r"\boxed{3}", "$d$"]
    assert formula_spans("") == []
