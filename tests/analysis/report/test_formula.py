"""One formula as MathML: what it shows, what it leaves as TeX, and that it is harmless."""

import re
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.file.safe import printable
from constraint_first.report.math import DEEPEST, LONGEST, STYLE, mathml

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


def harmless(root: Element) -> bool:
    return all(
        element.tag in ELEMENTS
        and element.attrib.keys() <= ATTRIBUTES
        and element.get("class", "boxed") in CLASSES
        for element in root.iter()
    )


@pytest.mark.parametrize(
    ("tex", "html"),
    [
        ("x^2", "<mrow><msup><mi>x</mi><mn>2</mn></msup></mrow>"),
        (r"a<b", "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>"),
        (r"a\implies b", "<mrow><mi>a</mi><mo>⟹</mo><mi>b</mi></mrow>"),
        (r"\infty", "<mrow><mi>∞</mi></mrow>"),
        (r"\mathbf{v}_1", "<mrow><msub><mi>𝐯</mi><mn>1</mn></msub></mrow>"),
        (r"\mathbf{ab12}", "<mrow><mrow><mi>𝐚</mi><mi>𝐛</mi><mn>𝟏𝟐</mn></mrow></mrow>"),
        (r"\mathbb{RZ}", "<mrow><mrow><mi>ℝ</mi><mi>ℤ</mi></mrow></mrow>"),
        (r"\R", "<mrow><mi>ℝ</mi></mrow>"),
        (r"\boxed{42}", '<mrow><mrow class="boxed"><mrow><mn>42</mn></mrow></mrow></mrow>'),
        (r"\overline{AB}", '<mrow><mrow class="overline"><mi>A</mi><mi>B</mi></mrow></mrow>'),
        (r"\underline x", '<mrow><mrow class="underline"><mi>x</mi></mrow></mrow>'),
        (r"\cancel{x}", '<mrow><mrow class="struck"><mrow><mi>x</mi></mrow></mrow></mrow>'),
        (r"\text{5 apples in}", "<mrow><mtext>5\xa0apples\xa0in</mtext></mrow>"),
        (r"\text{a $x$ b}",
         "<mrow><mtext>a\xa0</mtext><mrow><mi>x</mi></mrow><mtext>\xa0b</mtext></mrow>"),
        (r"\text{over \$5}", "<mrow><mtext>over\xa0$5</mtext></mrow>"),
        (r"\text{over $5}", "<mrow><mtext>over\xa0$5</mtext></mrow>"),
        (r"\text{}", "<mrow><mrow /></mrow>"),
    ],
)  # fmt: skip
def test_what_is_shown(tex: str, html: str) -> None:
    assert mathml(tex) == f"<math>{html}</math>"


@pytest.mark.parametrize(
    ("tex", "words"),
    [
        ("50% of 80", "50%of80"),
        (r"24{,}000", "24,000"),
        (r"24,\!000", "24,000"),
        (r"\arg z", "argz"),
        (r"\boxed{No unique solution}", "\xa0No\xa0unique\xa0solution\xa0"),
        (r"a\hspace{1cm}b\label{eq1}", "ab"),
        (r"\begin{pmatrix*}[r] 1 \\ 2 \end{pmatrix*}", "(12)"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & \end{pmatrix}", "(123)"),
        (r"\begin{array}{@{}l@{}} 1 \end{array}", "1"),
        (r"\begin{alignat}{2} a &= 5 \end{alignat}", "a=5"),
    ],
)
def test_nothing_that_was_written_is_lost(tex: str, words: str) -> None:
    assert text(tex) == words


@pytest.mark.parametrize("name", ["aligned", "align", "align*", "eqnarray"])
def test_aligned_lines_make_a_table(name: str) -> None:
    root = shown(rf"\begin{{{name}}} a &= b \\[4pt] c &= d \end{{{name}}}", block=True)
    rows = ["".join(row.itertext()) for row in root.iter("mtr")]
    assert rows == ["a=b", "c=d"]
    assert [cell.get("columnalign") for cell in root.iter("mtd")] == ["right", "left"] * 2


@pytest.mark.parametrize("tex", [r"\begin{vmatrix} 1 \end{vmatrix}^2", r"\binom{n}{k}^2"])
def test_an_exponent_belongs_to_the_whole_bracket(tex: str) -> None:
    power = shown(tex).find(".//msup")
    assert power is not None
    assert [child.tag for child in power] == ["mrow", "mn"]


def test_loose_lines_of_a_block_stand_one_below_the_other() -> None:
    assert len(list(shown(r"a = b \\ c = d", block=True).iter("mtr"))) == 2
    assert shown(r"a &= b \\ &= d", block=True).find(".//mtd[@columnalign='right']") is not None


def test_a_block_says_so_and_puts_its_limits_below() -> None:
    root = shown(r"\lim_{x \to 0} x", block=True)
    assert root.get("display") == "block"
    assert root.find(".//munder") is not None
    inline = shown(r"\lim_{x \to 0} x")
    assert inline.get("display") is None
    assert inline.find(".//munder") is None


def test_functions_stand_off_from_their_arguments() -> None:
    sine = shown(r"\sin x").find(".//mo")
    assert sine is not None
    assert (sine.text, sine.get("rspace")) == ("sin", "0.167em")


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
    ],
)
def test_what_cannot_be_read_stays_tex(tex: str) -> None:
    assert mathml(tex) is None
    assert mathml(tex, block=True) is None


def test_a_formula_that_lost_a_digit_stays_tex() -> None:
    # Of four choices latex2mathml keeps one.
    assert mathml(r"\mathchoice{1}{2}{3}{4}") is None


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
