"""Figures: what every one of them must be, and what each shows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from hand_made import arm, attempt, costing, study, texts
from hypothesis import given, settings
from hypothesis import strategies as st
from pictures import HOSTILE, check, elements, found, ids, read, words
from snapshot import Golden

from constraint_first.report.canvas import (
    INK,
    PALETTE,
    UNKNOWN,
    WIDTH,
    Box,
    Figure,
    FigureError,
    Rows,
    clean,
    draw_key,
    extent,
    inline,
    listed,
    load,
    place,
    save,
    series_look,
    shade,
    sheet,
    wrap,
)
from constraint_first.report.comparison import Plan, compare
from constraint_first.report.exhibit.cost import frontier_figures, pareto
from constraint_first.report.exhibit.gains import forest_figure, gains_figure
from constraint_first.report.exhibit.routing import audit_router, cloud_figure, flow_figure
from constraint_first.report.exhibit.scores import MOST_PROBLEMS, draw_grid, grid_figures
from constraint_first.report.exhibit.stage1 import (
    MOST_WORDS,
    Word,
    arrange,
    category_figures,
    draw_cloud,
)
from constraint_first.report.study import Study
from constraint_first.report.table import MissingExtra

# The sheet, and what stands on any of them.


def drawn(text: str = "word", x: float = 1.0) -> Figure:
    with sheet(2.0) as page:
        page.line(x, 1.0, text)
        return page.finish("sheet", "A sheet", "A word.", ["A note."])


def test_a_sheet_becomes_a_figure_of_two_files(tmp_path: Path) -> None:
    figure = check(drawn())
    assert (figure.name, figure.title, figure.notes) == ("sheet", "A sheet", ("A note.",))
    assert words(figure) == ["word"]
    save(figure, tmp_path / "new" / "folder")
    svg = tmp_path / "new" / "folder" / "sheet.svg"
    assert svg.read_text(encoding="utf-8") == figure.svg + "\n"
    assert svg.with_suffix(".png").read_bytes() == figure.png
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FigureError, match=r"file.*choose a folder that can be written"):
        save(figure, tmp_path / "file")


def test_settings_are_put_back_and_a_persons_own_change_nothing() -> None:
    plain = drawn("$x$")
    own = {"font.size": 30, "svg.fonttype": "path", "savefig.dpi": 10, "figure.facecolor": "red"}
    with load().rc_context(own):
        before: Any = dict(load().rcParams)
        assert drawn("$x$") == plain
        assert dict(load().rcParams) == before


@pytest.mark.parametrize("x", [-1.0, 1.0, 6.5])
def test_the_sheet_grows_for_what_reaches_over_its_edge(x: float) -> None:
    figure = check(drawn("a word that takes room", x))
    width = float(elements(figure)[0].attrib["viewBox"].split()[2])
    assert width == pytest.approx(6.72 * 72, abs=0.1) if x == 1.0 else width > 6.8 * 72


def test_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra) as raised:
        drawn()
    assert str(raised.value) == "reports need matplotlib: pip install 'constraint-first[report]'"


def test_matplotlib_is_imported_when_a_figure_is_drawn_and_pyplot_never() -> None:
    code = (
        "import sys\n"
        "from constraint_first.report.report import EXHIBITS\n"
        "from constraint_first.report.canvas import sheet\n"
        "assert 'matplotlib' not in sys.modules\n"
        "with sheet(1.0) as page: page.finish('a', 'A', 'A.')\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2), from 1 to 21."""
    darker, lighter = sorted(map(_luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", PALETTE)
@pytest.mark.parametrize("page", ["#ffffff", "#111111"])
def test_data_stands_out_from_light_and_dark_pages(colour: str, page: str) -> None:
    assert contrast(colour, page) >= 3


def test_shades_grow_darker_all_the_way_and_show_on_any_page() -> None:
    shades = [shade(step / 20) for step in range(21)]
    from_black = [contrast(one, "#000000") for one in shades]
    assert all(lighter > darker for lighter, darker in pairwise(from_black))
    assert all(contrast(one, "#ffffff") > 1.7 and contrast(one, "#111111") > 2.5 for one in shades)
    assert (shade(1.5), shade(-0.5)) == (shade(1), shade(0))


def test_looks_of_many_series_differ_and_a_key_names_every_one() -> None:
    looks = [(look["facecolor"], look["hatch"]) for look in map(series_look, range(30))]
    assert len({*looks}) == 30
    assert looks[: len(PALETTE)] == [(colour, None) for colour in PALETTE]
    with sheet(1.0) as page:
        draw_key(page, [(n, series_look(at), at) for at, n in enumerate(HOSTILE)], 0, 6.6, 1.1)
        figure = check(page.finish("key", "Key", "A key."))
    own = [name for name in ids(figure) if "-key-" in name]
    assert own == [f"key-key-{at}" for at in range(len(HOSTILE))]
    assert "_starts with a line" in words(figure)


def test_rows_keep_apart_and_leave_room_for_the_scale() -> None:
    rows = Rows([("a", 3), ("a long label " * 5, 1), ("c", 2)], [])
    assert len(rows.lanes) == 6
    assert all(after - before > 0.19 for before, after in pairwise(rows.lanes))
    beside = [rows.lanes[1], rows.lanes[3], sum(rows.lanes[4:]) / 2]
    assert rows.centres == pytest.approx(beside)
    assert rows.lanes[-1] < rows.height
    wide = Rows([("W" * 60, 1)], [("interval", ("−100.0 to +100.0",)), ("n", ("1,000,000",))])
    assert 0 < wide.left < wide.right < WIDTH
    assert wide.right - wide.left > 1.5


# Places of labels.

ROOM = Box(0, 0, 6, 4)
spots = st.tuples(st.floats(0.1, 5.9), st.floats(0.1, 3.9))


def test_boxes_that_touch_do_not_overlap() -> None:
    box = Box(0, 0, 1, 1)
    assert not box.meets(Box(1, 0, 2, 1))
    assert box.meets(Box(0.9, 0.9, 2, 2))
    assert box.within(ROOM)
    assert not Box(-1, 0, 1, 1).within(ROOM)


@settings(max_examples=25, deadline=None)
@given(st.lists(spots, min_size=1, max_size=12))
def test_labels_keep_clear_of_each_other_and_of_all_marks(
    marks: list[tuple[float, float]],
) -> None:
    taken = [Box.around(x, y, 0.06, 0.06) for x, y in marks]
    labels = [(f"label {number}", mark) for number, mark in enumerate(marks)]
    placed = [spot.box for spot in place(labels, ROOM, taken, (), 8) if spot]
    assert all(box.within(ROOM) for box in placed)
    assert not any(
        one.meets(other) for one, other in combinations([*placed, *taken], 2) if one in placed
    )


def test_a_label_avoids_lines_where_it_can_and_has_no_place_without_room() -> None:
    line = Box(1.0, 2.0, 3.0, 2.0)
    free, _ = place([("label", (1.0, 2.0)), ("other", (5.0, 3.0))], ROOM, (), (line,), 8)
    assert free
    assert not free.box.meets(line)
    assert place([("label", (0.1, 0.1))], Box(0, 0, 0.2, 0.2), (), (), 8) == [None]


# Gains and forests.

CFR = {"p": [attempt("+", 0, kinds=["domain"])], "q": [attempt("+", 0, kinds=["parity"])]}
STUDY = study(
    costing(arm("direct", {"p": "-", "q": "+"}, benchmark="aime24"), (100, 0)),
    costing(arm("cfr", CFR, benchmark="aime24"), (300, 0)),
    costing(arm("direct", {"r": "-"}, benchmark="aime25"), (100, 0)),
    costing(arm("cfr", {"r": [attempt("-", 0)]}, benchmark="aime25"), (300, 0)),
    problems=texts(
        {"p": "How many times is the remainder 2?", "q": "Compute it."}, benchmark="aime24"
    ),
)
COMPARISON = compare(STUDY, "direct", ())


def named(names: Sequence[str]) -> Study:
    """Make a study whose methods, problems and model have hostile names."""
    marks = dict.fromkeys(names, "+-")
    arms = [arm("direct", marks, benchmark=names[0], model=names[1])]
    arms += [arm(name, marks, benchmark=names[0], model=names[1]) for name in names]
    return study(*(costing(one, (10, 20)) for one in arms))


def test_hostile_names_are_drawn_as_words() -> None:
    hostile = named(HOSTILE)
    comparison = compare(hostile, "direct", ())
    figures = [
        forest_figure(comparison, "paired", "Paired"),
        gains_figure(comparison.pairs, "model"),
        *frontier_figures(hostile),
        *grid_figures(hostile),
        flow_figure(hostile, HOSTILE[0]),
    ]
    for figure in map(check, figures):
        assert "<script" not in figure.svg


# Grids.


def _cells(figure: Figure, kind: str) -> int:
    groups = [e for e in elements(figure) if f"-{kind}-" in e.get("id", "") and len(e)]
    return sum(
        part.tag.endswith(("}use", "}path"))
        for g in groups
        for part in g
        if part.tag[-4:] != "defs"
    )


def test_every_cell_of_a_grid_has_its_shade() -> None:
    arms = [
        arm("direct", {"p1": "----", "p2": "+---", "p3": "++++"}),
        arm("routed-cfr", {"p1": "++++", "p3": "++--"}),
        arm("cfr", {"p1": "?"}),
    ]
    figure = check(draw_grid("aime25", arms))
    assert (_cells(figure, "cells"), _cells(figure, "missing")) == (5, 4)
    assert all(shade(share) in figure.svg for share in (0.0, 0.25, 0.5, 1.0))
    assert {"p1", "p3", "Direct CoT", "no judged run"} <= {*words(figure)}
    assert (figure.name, figure.long) == ("grid-aime25", True)
    assert "Direct CoT gets 1 right in every run and 1 in none" in figure.alt
    assert "CFR (always-on) has no judged run" in figure.alt
    assert figure == draw_grid("aime25", arms)


@pytest.mark.parametrize(
    ("many", "blocks"), [(1, 1), (120, 1), (121, 2), (360, 3), (MOST_PROBLEMS + 959, 3)]
)
def test_many_problems_are_wrapped_and_what_is_left_out_is_said(many: int, blocks: int) -> None:
    marks = {f"p{n}": "+-" for n in range(many)}
    figure = check(draw_grid("b", [arm("direct", marks), arm("cfr", marks)]))
    assert sum("-cells-" in own for own in ids(figure)) == blocks
    assert _cells(figure, "cells") == 2 * min(many, MOST_PROBLEMS)
    note = "The first 360 problems are drawn; 959 problems beyond them are left out."
    assert figure.notes == ((note,) if many > MOST_PROBLEMS else ())


def test_figures_of_one_page_share_no_id() -> None:
    one = arm("direct", {"p": "+"})
    first, second = (check(draw_grid(name, [one])) for name in ("a b", "a-b"))
    assert not {*ids(first)} & {*ids(second)}
    both = study(*STUDY.arms, *(replace(one, model="other") for one in STUDY.arms))
    assert len({figure.name for figure in frontier_figures(both)}) == 2
    assert len({figure.name for figure in grid_figures(both)}) == 4


# Frontiers.

numbers = st.tuples(st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]))


@given(st.lists(numbers, max_size=12))
def test_the_frontier_is_what_nothing_beats(points: list[tuple[int, float]]) -> None:
    best = {
        tokens: max(value for cost, value in points if cost <= tokens)
        for tokens in range(1, 7)
        if any(cost <= tokens for cost, _ in points)
    }
    marked = pareto(points)
    assert len(marked) == len(points)
    for (tokens, accuracy), on_frontier in zip(points, marked, strict=True):
        cheapest = min(cost for cost, value in points if value >= accuracy)
        assert on_frontier == (accuracy == best[tokens] and tokens == cheapest)


def methods(*points: tuple[str, int, str]) -> Study:
    return study(*(costing(arm(name, {"p": m}), (tokens, 0)) for name, tokens, m in points))


def test_labels_of_a_frontier_without_room_are_named_in_a_note() -> None:
    crowd = methods(*((f"crowded {n}", 100, "+-") for n in range(150)))
    (figure,) = map(check, frontier_figures(crowd))
    assert 0 < len(found(figure, "label")) < 150
    assert any(note.startswith("Without room for a label: ") for note in figure.notes)


# The flow chart of the protocol.


def flowing(*runs: tuple[str, bool | None], method: str = "routed-cfr", cue: int = 2) -> Figure:
    """Draw problems by the rung of Stage 1 (or none), and what the router said."""
    marks = {
        f"p{n}": [attempt("+", 0, rung=rung, kinds=["domain"] if rung else None, routed=routed)]
        for n, (rung, routed) in enumerate(runs)
    }
    asked = {f"p{n}": "How many?" if n < cue else "Compute it." for n in range(len(runs))}
    return check(flow_figure(study(arm(method, marks), problems=texts(asked)), method))


def test_without_numbers_the_diagram_stands_alone() -> None:
    figure = check(flow_figure(study(arm("direct", {"p": "+"})), "cfr"))
    numbered = {word for word in words(figure) if any(map(str.isdigit, word))}
    assert numbered == {"Stage 1", "Stage 2"}
    assert not [own for own in ids(figure) if "count" in own]
    assert figure.notes == ()
    for rung in HOSTILE:
        flowing((rung, True))


# What each figure shows.


def shown() -> Iterator[Figure | None]:
    # Both years of AIME are one bar, of sets that are not of one size; by rows of all comparisons.
    yield from (gains_figure(COMPARISON.pairs, by) for by in ("model", "benchmark"))
    yield forest_figure(COMPARISON, "paired", "Paired")
    # A group of sets of one size has the interval of all their problems; unless it is not pooled.
    marks = {"aime24": ("--", "++"), "cmimc25": ("--", "-+"), "aime25": ("--", "+-")}
    arms = [
        arm(method, dict(zip("pq", own, strict=True)), benchmark=at)
        for at, both in marks.items()
        for method, own in zip(("direct", "cfr"), both, strict=True)
    ]
    yield gains_figure(compare(study(*arms)).pairs, "benchmark")
    apart = compare(study(*arms), plan=Plan(pool=False, pool_all=True))
    yield gains_figure(apart.pairs, "model")
    # Points, intervals and labels of three methods; a fourth is so far off that the scale is by
    # logarithms; benchmarks are taken together, and so are prompts that samples share.
    one = methods(("direct", 2_100, "+--"), ("cfr", 3_400, "++-"), ("refine", 6_100, "+--"))
    yield from frontier_figures(one)
    yield from frontier_figures(study(*one.arms, *methods(("vote", 26_000, "+++")).arms))
    yield from frontier_figures(STUDY)
    sampled = costing(arm("vote", {"p": "+"}), (90, 90), shared=60)
    yield from frontier_figures(study(sampled, costing(arm("direct", {"p": "-"}), (5, 5))))
    yield flowing(("parsed", True), ("fallback", True), ("", False))
    # A method that is always on has no way past Stage 1; another router does not decide by cue.
    yield flowing(("parsed", None), ("fallback", None), ("fields", None), method="cfr")
    yield flowing(("parsed", True), ("", False), ("", False), method="llm-router")
    yield from category_figures(STUDY, "cfr", "direct")
    yield draw_cloud(WORDS, FAMILIES)
    yield cloud_figure(audit_router(STUDY))


def described(figure: Figure) -> str:
    """Write what a figure says, and how many of each kind of mark it has."""
    own = [name.removeprefix(figure.name) for name in ids(figure)]
    kinds = Counter(re.sub(r"-\d+$", "", n) for n in own if not re.fullmatch("-[mp][0-9a-f]+", n))
    marks = ", ".join(f"{name} {count}" for name, count in kinds.items())
    return "\n".join((figure.title, figure.alt, *figure.notes, " | ".join(words(figure)), marks))


def test_figures_that_can_be_worked_out_by_hand(golden: Golden) -> None:
    said = "\n\n".join(described(check(figure)) for figure in shown())
    assert said == golden("figures-by-hand.txt")
    assert gains_figure([], "model") is None
    assert not [*category_figures(study(arm("direct", {"p": "+"})), "cfr", "direct")]
    # Methods without tokens on record are left out, and one alone has no frontier.
    assert not [*frontier_figures(study(STUDY.arms[0], arm("cfr", {"p": "-"})))]


# The word cloud.

WORDS = {"how many": 249, "positive integer": 96, "remainder": 30, "at least": 29, "$x$": 1}
FAMILIES = {"how many": "P1: Integer/Count", "remainder": "P2: Modular"}


def _box(word: Word) -> Box:
    return Box(word.left, word.bottom, word.left + word.width, word.bottom + word.height)


def test_every_word_is_drawn_in_the_colour_of_its_family() -> None:
    figure = check(draw_cloud(WORDS, FAMILIES))
    fills = [mark[0].attrib["fill"].upper() for mark in found(figure, "word")]
    assert fills == [PALETTE[0], "CURRENTCOLOR", PALETTE[1], "CURRENTCOLOR", "CURRENTCOLOR"]
    assert figure == draw_cloud(dict(reversed(WORDS.items())), FAMILIES)


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=30), st.integers(1, 10**6), max_size=40))
def test_words_do_not_overlap(counts: dict[str, int]) -> None:
    placed = arrange({word: number for word, number in counts.items() if clean(word)})
    assert not any(_box(one).meets(_box(other)) for one, other in combinations(placed, 2))


def test_words_fit_their_boxes_and_the_sheet_and_grow_with_the_root_of_their_count() -> None:
    for word in arrange(WORDS):
        box = cast("Any", word.path).get_extents()
        assert min(box.x0, box.y0) > -1e-6
        assert box.x1 <= word.width + 1e-6
        assert box.y1 <= word.height + 1e-6
    often, seldom = arrange({"word": 400, "wоrd": 100})  # the second has a Cyrillic letter
    assert abs(often.height / seldom.height - 2) < 0.01
    assert arrange({"W" * 200: 10})[0].width < 4


def test_only_the_most_frequent_words_are_drawn_and_none_without_any() -> None:
    many = {f"word {number}": number + 1 for number in range(80)}
    figure = check(draw_cloud(many, {}))
    assert len(found(figure, "word")) == MOST_WORDS
    assert "The 60 most frequent are drawn; 20 phrases are left out." in figure.notes
    assert draw_cloud({}, {}) is draw_cloud({"never": 0, "\u200b": 5}, {}) is None
    hostile = check(draw_cloud(dict.fromkeys(HOSTILE, 5), {name: name for name in HOSTILE}))
    assert len(found(hostile, "word")) == len(HOSTILE) - 1
    assert "<script" not in hostile.svg


# Text in figures.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Qwen3.5-35B-A3B", "Qwen3.5-35B-A3B"),
        ("  two\n lines ", "two lines"),
        ("a\0b", f"a{UNKNOWN}b"),
        ("漢", UNKNOWN),
        ("a\u202eb", "ab"),
        ("e\u0301", "é"),
        ("x" * 61, "x" * 59 + "…"),
        (r"$\alpha$", r"$\alpha$"),
    ],
)
def test_says_what_the_font_can(text: str, said: str) -> None:
    assert clean(text) == said


@given(st.one_of(st.text(), st.sampled_from(HOSTILE)))
def test_any_text_becomes_a_line_that_xml_can_hold(text: str) -> None:
    line = clean(text)
    assert len(line) <= 60
    assert line.isprintable()
    element = ElementTree.Element("text")
    element.text = line
    assert read(ElementTree.tostring(element, encoding="unicode")).text == (line or None)
    assert clean(line) == line


def test_long_texts_are_folded_and_cut() -> None:
    folded = wrap("one two three four five six seven", 9, lines=2)
    assert folded.count("\n") == 1
    assert folded.endswith("…")
    assert max(map(len, folded.split("\n"))) <= 9
    # A long name goes on behind a hyphen, and a short one is whole.
    assert wrap("Calibrated, ConstraintBench-1-seed-5101", 22) == (
        "Calibrated,\nConstraintBench-1-\nseed-5101"
    )
    assert wrap("Program [check=off], MATH-500", 22) == "Program [check=off],\nMATH-500"


def test_measures_grow_with_text() -> None:
    width, height = extent("word", 8)
    assert extent("wordword", 8)[0] == pytest.approx(2 * width, rel=0.05)
    assert extent("word\nword", 8) == (width, 2 * height)
    assert extent("word", 16)[0] == pytest.approx(2 * width, rel=0.05)
    assert extent("word", 8, bold=True)[0] > width
    assert extent("", 8)[0] == 0


def test_lists_read_as_sentences_do() -> None:
    phrases = [listed(texts) for texts in ([], ["a"], ["a", "", "b"], ["a", "b", "c"])]
    assert phrases == ["", "a", "a and b", "a, b and c"]
    assert listed("abcdef", 2) == "a, b and 4 more"


# SVG for a page.

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


def test_a_file_becomes_one_element(golden: Golden) -> None:
    """Ids get the name, ink the colour of the page, numbers are short, and the rest is dropped."""
    written = inline(FILE, "gains", 'What "is" seen <here>')
    assert read(written).attrib["aria-label"] == 'What "is" seen <here>'
    assert written == golden("inline.svg")
