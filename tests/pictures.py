"""Looking at figures as a program can: their elements, their ids, their words, their pixels."""

from io import BytesIO
from xml.etree import ElementTree

from PIL import Image

from constraint_first.report.canvas import INK, Figure

_SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    r"$\frac{1}{2}$",
    r"$x_{",
    "a & b --> ]]> c",
    "NUL\0 and \x1b[31m red",
    "right\u202eto left\u2066",
    "emoji 🧮 and 漢字",
    "_starts with a line",
    "Z\u0351\u0352\u0353\u0354\u0355algo",
    "lone \ud800 surrogate",
    "\u200b\u200e",
    "quotes \" and ' here",
    "a\nb\tc\r\nd",
    "very long " * 20,
)
"""Labels that would break a careless figure."""


def elements(figure: Figure) -> list[ElementTree.Element]:
    """List every element of a figure's SVG; one that is not well-formed is an error."""
    return [*read(figure.svg).iter()]


def read(svg: str) -> ElementTree.Element:
    """Read XML of our own making; what is not well-formed is an error."""
    return ElementTree.fromstring(svg)  # noqa: S314


def ids(figure: Figure) -> list[str]:
    """List the ids in a figure."""
    return [element.attrib["id"] for element in elements(figure) if "id" in element.attrib]


def found(figure: Figure, kind: str) -> list[ElementTree.Element]:
    """Find the marks of a kind: ``bar`` for ``NAME-bar-0``, ``NAME-bar-1``."""
    wanted = f"{figure.name}-{kind}-"
    return [
        element
        for element in elements(figure)
        if (own := element.get("id", "")).startswith(wanted) and own[len(wanted) :].isdigit()
    ]


def words(figure: Figure) -> list[str]:
    """List the texts of a figure, line by line."""
    return [element.text or "" for element in elements(figure) if element.tag == f"{_SVG}text"]


def check(figure: Figure | None) -> Figure:
    """Check what holds for every figure, and return it."""
    assert figure is not None
    root = elements(figure)[0]
    assert figure.svg.startswith("<svg ")
    assert root.tag == f"{_SVG}svg"
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == figure.alt
    assert root.attrib["width"] == "100%"
    assert "height" not in root.attrib
    assert "currentColor" in figure.svg
    assert INK not in figure.svg.lower()
    assert "style" not in {name for e in elements(figure) for name in (e.tag, *e.attrib)}
    assert len(ids(figure)) == len({*ids(figure)})
    assert all(own == figure.name or own.startswith(f"{figure.name}-") for own in ids(figure))
    _check_references(figure)
    _check_pixels(figure)
    return figure


def _check_references(figure: Figure) -> None:
    known = {*ids(figure)}
    for element in elements(figure):
        for name, value in element.attrib.items():
            if name == "href" or value.startswith("url("):
                assert value.removeprefix("url(").removesuffix(")").removeprefix("#") in known


def _check_pixels(figure: Figure) -> None:
    assert figure.png.startswith(b"\x89PNG\r\n\x1a\n")
    with Image.open(BytesIO(figure.png)) as image:
        grey = image.convert("L")
        assert grey.getpixel((0, 0)) == 255
        low, high = grey.getextrema()
        assert (low, high) != (high, high)
        assert image.width >= 6.6 * 200
