"""Flow chart of the protocol, with the counts of a study (paper: figure "framework")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from constraint_first.analysis.audit.flow import FlowCounts
from constraint_first.analysis.figure.colour import INK, MUTED, PALETTE
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.figure.library import load
from constraint_first.analysis.figure.sheet import SIZE, Sheet, sheet
from constraint_first.analysis.figure.text import clean, listed
from constraint_first.constraint.recovery import DEFERRED

__all__ = ["FRAMEWORK", "draw_flow"]

FRAMEWORK: Final = Caption(
    "framework", "Routed-CFR: the ways that problems take through the protocol", ("fig:framework",)
)
_BODY: Final = 7.0
_LINE: Final = 0.128
_BOTTOM: Final = 1.0
"""Where the upper row of boxes stands."""
_TALL: Final = 1.22
_SHORT: Final = 0.74


@dataclass(frozen=True, slots=True)
class _Box:
    """A step: where it stands, what it is, and what it counts."""

    name: str
    title: str
    body: str
    place: tuple[float, float, float, float]
    """Left, bottom, width, height, in inches."""
    colour: str = INK
    counts: Sequence[str] = ()


def draw_flow(counts: FlowCounts, caption: Caption = FRAMEWORK) -> Figure:
    """Draw the way from a problem to its answer."""
    tall = _TALL if counts.known else _SHORT
    with sheet(_BOTTOM + tall) as page:
        for box in _boxes(counts, tall):
            _draw_box(page, box)
        _draw_arrows(page, counts, _BOTTOM + tall / 2)
        return page.finish(caption, _alt(counts), _notes(counts) if counts.known else ())


def _boxes(counts: FlowCounts, tall: float) -> list[_Box]:
    blue, _, green, _, orange, _, grey = PALETTE
    read = ((rung, n) for rung, n in counts.rungs.items() if rung not in DEFERRED)
    rungs = [f"{clean(rung, 12)} {n:,}" for rung, n in read]
    given = _number(counts.problems) and [*_number(counts.problems), clean(counts.unit, 12)]
    answers = [*_number(counts.answers), *(f"{right} right" for right in _number(counts.right))]
    directly = _number(counts.solved_directly)
    under = _number(counts.solved_under)

    def row(left: float, width: float) -> tuple[float, float, float, float]:
        return left, _BOTTOM, width, tall

    asks = "are there words\nthat restrict\nthe answer?"
    unasked = "not asked:\nevery problem\ngoes to Stage 1"
    cues = [f"{name} {n:,}" for name, n in _cues(counts) if n is not None]
    lists = "the model lists\nwhat any answer\nmust satisfy"
    solves = "the model solves\nunder these and\nchecks each step"
    lower = (2.41, 0.0, 1.92, _direct_height(counts))
    return [
        _Box("problem", "Problem", "its text and\nnothing else", row(0.0, 0.96), INK, given),
        _Box(
            *("router", "Router", unasked if counts.always_on else asks),
            *(row(1.2, 1.02), grey if counts.always_on else orange, cues),
        ),
        _Box("stage1", "Stage 1", lists, row(2.82, 1.1), blue, rungs[:4]),
        _Box("stage2", "Stage 2", solves, row(4.16, 1.2), green, under),
        _Box("answer", "Answer", "read from\nthe reply", row(5.6, 1.0), INK, answers),
        _Box("direct", "Direct CoT", "the model solves step by step", lower, grey, directly),
    ]


def _cues(counts: FlowCounts) -> tuple[tuple[str, int | None], tuple[str, int | None]]:
    return ("cue", counts.with_cue), ("no cue", counts.without_cue)


def _ways(counts: FlowCounts) -> tuple[str, str]:
    """Name the ways to Stage 1 and past it: by cue only where it was the cues that decided."""
    if counts.always_on:
        return "always", ""
    return ("cue", "no cue") if counts.by_cue else ("routed", "not routed")


def _direct_height(counts: FlowCounts) -> float:
    return 0.45 if counts.solved_directly is None else 0.58


def _number(value: int | None) -> list[str]:
    return [] if value is None else [f"{value:,}"]


def _draw_box(page: Sheet, box: _Box) -> None:
    left, bottom, width, height = box.place
    shape = load("patches").FancyBboxPatch(
        (left, bottom),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.07",
        facecolor=(box.colour, 0.13),
        edgecolor=box.colour if box.colour != INK else MUTED,
        linewidth=1.2,
    )
    page.add(shape, f"box-{box.name}")
    middle, y = left + width / 2, bottom + height - 0.16
    page.line(middle, y, box.title, ha="center", size=SIZE, weight="bold")
    for number, line in enumerate(box.body.split("\n"), start=1):
        page.line(middle, y - number * _LINE - 0.02, line, ha="center", size=_BODY, muted=True)
    for number, line in enumerate(reversed(box.counts)):
        low, gid = bottom + 0.11 + number * _LINE, f"count-{box.name}-{number}"
        page.line(middle, low, line, ha="center", size=_BODY, weight="bold", gid=gid)


def _draw_arrows(page: Sheet, counts: FlowCounts, y: float) -> None:
    """Draw the ways, each with its name and the number that takes it."""
    on, past = _ways(counts)
    _arrow(page, "problem", [(0.98, y), (1.18, y)])
    _arrow(page, "cue", [(2.24, y), (2.8, y)])
    _name_way(page, "cue", [on, *_number(counts.staged)], (2.5, y), "center")
    _arrow(page, "constraints", [(3.94, y), (4.14, y)])
    _arrow(page, "answer", [(5.38, y), (5.58, y)])
    if past:
        _arrow(page, "no-cue", [(1.71, _BOTTOM - 0.02), (1.71, 0.26), (2.39, 0.26)])
        _name_way(page, "no-cue", [past, *_number(counts.direct)], (2.05, 0.26), "center")
    _arrow(page, "unusable", [(3.37, _BOTTOM - 0.02), (3.37, _direct_height(counts) + 0.02)])
    label = " ".join(["not usable", *_number(counts.fallback)])
    _name_way(page, "unusable", [label], (3.44, 0.72), "left")
    _arrow(page, "direct-answer", [(4.35, 0.26), (6.1, 0.26), (6.1, _BOTTOM - 0.02)])


def _arrow(page: Sheet, name: str, way: list[tuple[float, float]]) -> None:
    arrow = load("patches").FancyArrowPatch(
        path=load("path").Path(way),
        arrowstyle="-|>,head_length=4,head_width=2",
        color=INK,
        linewidth=1.1,
        joinstyle="miter",
        capstyle="butt",
    )
    page.add(arrow, f"arrow-{name}")


def _name_way(
    page: Sheet, name: str, lines: list[str], spot: tuple[float, float], align: str
) -> None:
    """Write what an arrow stands for above it, and how many took it below."""
    x, y = spot
    for number, (line, up) in enumerate(zip(lines, (0.095, -0.1), strict=False)):
        page.line(x, y + up, line, ha=align, size=_BODY, gid=f"way-{name}-{number}")


def _notes(counts: FlowCounts) -> tuple[str, ...]:
    said = [f"Numbers are {clean(counts.unit)}."]
    cues = counts.with_cue is not None
    if cues:
        said.append("A cue is what the text-only router finds in a problem's text.")
    if counts.always_on:
        ends = ", with a cue or without" if cues else ""
        said.append(f"This method asks no router: every problem has a Stage 1{ends}.")
    elif cues and not counts.by_cue:
        said.append("This method does not decide by these cues alone.")
    return tuple(said)


def _alt(counts: FlowCounts) -> str:
    ways = {
        "in all": counts.problems,
        "with a cue": counts.with_cue,
        "without a cue": counts.without_cue,
        "with a Stage 1": counts.staged,
        "straight to Direct CoT": counts.direct,
        "back to Direct CoT": counts.fallback,
        "right": counts.right,
    }
    numbers = listed(f"{number:,} {way}" for way, number in ways.items() if number is not None)
    sent = (
        "every problem, with a cue or without, goes to Stage 1, which lists constraints, and Stage "
        "2, which solves under them; where Stage 1 cannot be used, to Direct CoT"
        if counts.always_on
        else "a router looks for words that restrict the answer; with a cue, a problem goes to "
        "Stage 1, which lists constraints, and Stage 2, which solves under them; without one, or "
        "where Stage 1 cannot be used, to Direct CoT"
    )
    listing = f" ({clean(counts.unit)}: {numbers})." if numbers else "."
    return f"A diagram of the protocol: {sent}{listing}"
