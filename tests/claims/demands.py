"""What docs/demands.md says of sound replies, written anew from the outcomes on IFEval."""

from collections.abc import Iterator
from functools import cache

from constraint_first.report.comparison import Pair, compare
from constraint_first.report.study import Arm
from constraint_first.report.table import decimal

from .data import cells, gain, shipped

_FILE = "ifeval.jsonl.gz"
_ROWS = {
    "plain(mind=reminder)": "",
    "plain(mind=list)": ": the model lists the demands first",
    "sound(add=off,then=off)": ": edits alone",
    "sound(then=off)": ": edits and additions",
    "sound(then=turn)": ": edits, additions, one turn that names what is broken",
    "sound": ": edits, additions, one fresh sample",
    "sound(most=4)": ": up to three fresh samples",
    "sound(repair=off,then=off)": ": additions alone",
    "sound(repair=off,add=off,then=turn)": ": a turn alone",
    "sound(repair=off,add=off)": ": a sample alone",
    "direct": ", which asks for a mathematical answer",
    "sound(demands=gold,add=off,then=off)": ": edits alone, gold instructions for demands",
    "sound(demands=gold,then=turn)": ": a turn too, gold instructions",
    "sound(demands=gold)": ": a sample too, gold instructions",
}
"""The methods in the order of the table, and what is said of each."""


@cache
def _pairs() -> dict[str, Pair]:
    found = compare(shipped(_FILE), "plain", [*_ROWS])
    return {pair.method: pair for pair in found.pairs}


def _arm(method: str) -> Arm:
    (found,) = shipped(_FILE).select(method=method)
    return found


def _accuracy(method: str, *, odd: bool) -> str:
    scores = [one for name, one in _arm(method).scores.items() if int(name[7:]) % 2 == odd]
    return decimal(100 * sum(right / judged for right, judged in scores) / len(scores))


def sound_replies() -> Iterator[str]:
    """Write the table, and what is said below it."""
    first = next(iter(_pairs().values()))
    yield cells("`plain`", decimal(first.before), "", "", "1.00")
    for method, said in _ROWS.items():
        pair = _pairs()[method]
        counts = f"{pair.improved} / {pair.degraded}"
        ratio = decimal(pair.tokens[0], 2)
        yield cells(f"`{method}`{said}", decimal(pair.after), gain(pair), counts, ratio)
    sound = "sound(then=off)"
    yield (
        f"On the odd-numbered ones `{sound}` has {_accuracy(sound, odd=True)} where `plain` has "
        f"{_accuracy('plain', odd=True)}, on the even-numbered ones "
        f"{_accuracy(sound, odd=False)} and {_accuracy('plain', odd=False)}."
    )
