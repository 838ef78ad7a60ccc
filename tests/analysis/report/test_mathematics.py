"""Text with mathematics as HTML: every rule, hostile texts, and whatever text there may be."""

import re
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraint_first.report.math import formula_spans, to_html

PROSE_ELEMENTS = {"p", "br", "strong", "code", "pre"}
ATTRIBUTES = re.compile(
    "accent|class|(?:column|row)(?:align|lines|spacing)|depth|display|displaystyle|fence|form"
    "|height|largeop|linethickness|[lr]space|mathvariant|m(?:ax|in)size|movablelimits|scriptlevel"
    "|separator|stretchy|width"
)
PIECES = (
    r"$ $$ \( \) \[ \] \$ \\ ** ` ``` # [asy] [/asy] \boxed{ } { \begin{align} \end{align} & "
    r"\frac{1}{2} x^2 <script>alert(1)</script> <img/onerror=alert(1)> </math> </p> </code> &lt; "
    r"&#60; <!-- --> <![CDATA[ ]]> \text{<b>} \href{javascript:alert(1)}{x} \style{x}{y} 5 a . on"
).split()


def parsed(text: str) -> Element:
    # There is no document type, so there are no entities.
    return fromstring(f"<body>{to_html(text)}</body>")  # noqa: S314


def formulas(text: str) -> list[str]:
    return ["".join(found.itertext()) for found in parsed(text).iter("math")]


def visible(text: str) -> str:
    return "".join(parsed(text).itertext())


def harmless(root: Element) -> bool:
    return all(
        (element is root or element.tag in PROSE_ELEMENTS or re.fullmatch("m[a-z]+", element.tag))
        and all(ATTRIBUTES.fullmatch(name) for name in element.attrib)
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
        ("costs $5 and $7", []),
        ("costs $5-$7", []),
        ("costs $5, or $x$", ["x"]),
        ("$ 5 and 7$ more", []),
        ("$x $ y", []),
        ("$x$5", []),
        ("$x\n\ny$", []),
        ("\\[x\n\ny\\]", []),
        (r"unclosed $x", []),
        (r"unclosed \(x and \[y", []),
        ("unclosed $$x", []),
        ("$$ $$", []),
        (r"\\(x\\)", []),
        (r"\begin{align*} a &= b \end{align*}", ["a=b"]),
        (r"\begin{align*} a &= b", []),
        (r"The answer is \boxed{42}.", ["42"]),
        (r"\boxed{\frac{1}{2}} or \(\boxed{3}\)", ["12", "3"]),
        (r"\boxed{\{1\}}", ["{1}"]),
        (r"\boxed{42", []),
    ],
)
def test_what_is_mathematics(text: str, found: list[str]) -> None:
    assert formulas(text) == found


def test_displayed_formulas_are_blocks() -> None:
    displays = [math.get("display") for math in parsed(r"$x$ $$x$$ \(x\) \[x\]").iter("math")]
    assert displays == [None, "block", None, "block"]


@pytest.mark.parametrize(
    "text", [r"unclosed \(x and \[y and $z and $$", "a $5 and $7", r"\boxed{4"]
)
def test_what_is_not_mathematics_stays_as_it_was(text: str) -> None:
    assert visible(text).strip() == text


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
    assert harmless(parsed(text))
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
    root = parsed(text)
    assert harmless(root)


@settings(deadline=None)  # the first example imports latex2mathml
@given(st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join))
def test_every_text_is_harmless(text: str) -> None:
    assert harmless(parsed(text))


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
    assert len(list(parsed(text).iter("p"))) == len(paragraphs)
    assert "".join(visible(text).split()) == re.sub(r"[\s*$]", "", text)


def test_formulas_are_found_where_they_stand() -> None:
    text = "Price $5 and\n\nthen $x^2$ is \\(a\\) `$b$`, \\boxed{3}\n\n```\n$c$\n```\nfind $d$."
    found = [text[start:end] for start, end in formula_spans(text)]
    assert found == ["$x^2$", r"\(a\)", r"\boxed{3}", "$d$"]
    assert formula_spans("") == []
