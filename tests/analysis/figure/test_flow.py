from __future__ import annotations

from dataclasses import replace

from pictures import HOSTILE, check, ids, words

from constraint_first.report.exhibit.routing import FlowCounts, draw_flow

COUNTS = FlowCounts(
    problems=2000,
    with_cue=1234,
    staged=1234,
    direct=766,
    rungs={"parsed": 1180, "repaired": 32, "fields": 2, "fallback": 20},
    fallback=20,
    answers=1998,
    right=1320,
    unit="attempts",
)


def test_every_step_and_way_is_drawn() -> None:
    figure = check(draw_flow(COUNTS))
    own = [name.removeprefix("framework-") for name in ids(figure)]
    assert [name for name in own if name.startswith("box-")] == [
        *("box-problem", "box-router", "box-stage1", "box-stage2", "box-answer", "box-direct")
    ]
    assert sum(name.startswith("arrow-") for name in own) == 7
    assert figure.paper == ("fig:framework",)


def test_numbers_stand_where_they_belong() -> None:
    figure = check(draw_flow(COUNTS))
    said = {"2,000", "attempts", "1,234", "766", "parsed 1,180", "not usable 20", "1,214", "786"}
    assert said | {"1,998", "1,320 right"} <= {*words(figure)}
    assert {"cue 1,234", "no cue 766", "cue", "no cue"} <= {*words(figure)}
    assert "attempts: 2,000 in all, 1,234 with a cue, 766 without a cue" in figure.alt
    assert figure.notes[0] == "Numbers are attempts."


def test_a_method_that_is_always_on_is_drawn_without_a_way_past_stage_1() -> None:
    counts = FlowCounts(problems=24, with_cue=18, staged=24, direct=0, fallback=1, always_on=True)
    figure = check(draw_flow(counts))
    own = [name.removeprefix("framework-") for name in ids(figure)]
    assert "arrow-no-cue" not in own
    assert {"always", "24", "cue 18", "no cue 6", "not usable 1"} <= {*words(figure)}
    assert figure.notes[-1] == (
        "This method asks no router: every problem has a Stage 1, with a cue or without."
    )
    assert "every problem, with a cue or without, goes to Stage 1" in figure.alt
    bare = check(draw_flow(replace(counts, with_cue=None)))
    assert bare.notes[-1] == "This method asks no router: every problem has a Stage 1."


def test_another_router_decides_otherwise_than_by_cue() -> None:
    counts = FlowCounts(problems=24, with_cue=18, staged=20, direct=4, fallback=0)
    figure = check(draw_flow(counts))
    assert {"routed", "20", "not routed", "4", "cue 18", "no cue 6"} <= {*words(figure)}
    assert figure.notes[-1] == "This method does not decide by these cues alone."


def test_without_numbers_the_diagram_stands_alone() -> None:
    figure = check(draw_flow(FlowCounts()))
    numbered = {word for word in words(figure) if any(map(str.isdigit, word))}
    assert numbered == {"Stage 1", "Stage 2"}
    assert not [own for own in ids(figure) if "count" in own]
    assert figure.notes == ()


def test_hostile_rungs_and_units() -> None:
    for name in HOSTILE:
        check(draw_flow(FlowCounts(problems=1, rungs={name: 1}, unit=name)))


def test_the_same_counts_give_the_same_bytes() -> None:
    assert draw_flow(COUNTS) == draw_flow(COUNTS)
