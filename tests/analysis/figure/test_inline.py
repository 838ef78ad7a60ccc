from __future__ import annotations

from pictures import read

from constraint_first.report.canvas import INK, inline

FILE = f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt" height="5pt" viewBox="0 0 9 5"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata>2026</metadata>
 <defs><style type="text/css">*{{stroke-linejoin: round}}</style></defs>
 <g id="figure_1"><g id="patch_1"><path d="M 1.234567 2 &#10;L -0.001 3 &#10;z"
  style="fill: #0072b2; stroke: {INK}; stroke-opacity: 0.5"/></g>
 <g id="bar-0"><use xlink:href="#m1" x="1.005" style="fill: {INK}"/></g>
 <g clip-path="url(#p2)"><text style="font-family: 'DejaVu Sans'">a &lt; b</text></g>
 <g id="text_9"/></g>
 <defs><path id="m1" d="M 0 0"/><clipPath id="p2"><rect/></clipPath></defs>
</svg>"""


def test_a_file_becomes_one_element() -> None:
    written = inline(FILE, "gains", 'What "is" seen <here>')
    root = read(written)
    assert written.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert root.attrib["aria-label"] == 'What "is" seen <here>'
    assert root.attrib["viewBox"] == "0 0 9 5"
    assert {"id", "role", "width"} <= root.attrib.keys()
    assert "height" not in root.attrib
    for word in ("metadata", "style", "xlink", "figure_1", "text_9", "DejaVu"):
        assert word not in written


def test_ids_and_references_get_the_name() -> None:
    written = inline(FILE, "gains", "")
    for text in ('id="gains-bar-0"', 'id="gains-m1"', 'href="#gains-m1"', "url(#gains-p2)"):
        assert text in written
    assert 'fill="#0072b2"' in written


def test_ink_becomes_the_colour_of_the_page() -> None:
    written = inline(FILE, "gains", "")
    assert 'stroke="currentColor"' in written
    assert 'stroke-opacity="0.5"' in written
    assert INK not in written


def test_numbers_are_written_shortly() -> None:
    assert 'd="M1.23 2L0 3z"' in inline(FILE, "gains", "")
