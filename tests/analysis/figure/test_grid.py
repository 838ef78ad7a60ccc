from __future__ import annotations

import math

import pytest
from pictures import HOSTILE, check, elements, ids, words

from constraint_first.report.canvas import Figure, shade
from constraint_first.report.exhibit.scores import MOST_PROBLEMS, draw_grid

METHODS = ["Direct CoT", "Routed-CFR"]


def _cells(figure: Figure, kind: str) -> int:
    groups = [e for e in elements(figure) if f"-{kind}-" in e.get("id", "") and len(e)]
    return sum(
        part.tag.endswith(("}use", "}path"))
        for g in groups
        for part in g
        if part.tag[-4:] != "defs"
    )


def _names(many: int) -> list[str]:
    return [f"p{n}" for n in range(1, many + 1)]


def test_every_cell_has_its_shade() -> None:
    shares = [[0.0, 0.25, 1.0], [1.0, None, 0.5]]
    figure = check(draw_grid("aime25", _names(3), METHODS, shares))
    assert (_cells(figure, "cells"), _cells(figure, "missing")) == (5, 1)
    for share in (0.0, 0.25, 0.5, 1.0):
        assert shade(share) in figure.svg
    assert {"p1", "p3", "Direct CoT", "no judged run"} <= {*words(figure)}
    assert figure.name == "grid-aime25"
    assert "Direct CoT gets 1 right in every run and 1 in none" in figure.alt


@pytest.mark.parametrize(("many", "blocks"), [(1, 1), (120, 1), (121, 2), (360, 3)])
def test_many_problems_are_wrapped(many: int, blocks: int) -> None:
    figure = check(draw_grid("b", _names(many), METHODS, [[0.5] * many] * 2))
    assert sum("-cells-" in own for own in ids(figure)) == blocks
    assert _cells(figure, "cells") == 2 * many
    assert not figure.notes


def test_what_is_left_out_is_said() -> None:
    many = MOST_PROBLEMS + 959
    figure = check(draw_grid("gsm8k", _names(many), METHODS, [[1.0] * many] * 2))
    assert _cells(figure, "cells") == 2 * MOST_PROBLEMS
    assert figure.notes == (
        "The first 360 problems are drawn; 959 problems beyond them are left out.",
    )


def test_nothing_to_draw_is_no_figure() -> None:
    assert draw_grid("b", [], METHODS, [[], []]) is None
    assert draw_grid("b", ["p"], [], []) is None


def test_missing_and_hostile() -> None:
    figure = check(
        draw_grid(HOSTILE[0], HOSTILE, HOSTILE, [[math.nan] * len(HOSTILE)] * len(HOSTILE))
    )
    assert _cells(figure, "missing") == len(HOSTILE) ** 2
    assert "<script" not in figure.svg
    assert "has no judged run" in figure.alt


def test_a_table_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="a row for each method"):
        draw_grid("b", ["p", "q"], METHODS, [[1.0, 1.0], [1.0]])


def test_two_benchmarks_on_a_page_share_no_id() -> None:
    one, other = (check(draw_grid(name, ["p"], ["m"], [[1.0]])) for name in ("a b", "a-b"))
    assert not {*ids(one)} & {*ids(other)}


def test_the_same_table_gives_the_same_bytes() -> None:
    table = [[0.5, None], [1.0, 0.0]]
    assert draw_grid("b", ["p", "q"], METHODS, table) == draw_grid("b", ["p", "q"], METHODS, table)
