"""Golds read back out of replies: every set of the data folder, every way to state an answer.

    .venv/bin/python perf/readback.py [--data DIR] [--sets REGEX] [--show N]

A gold is put into a reply, the answer is read out of it, and must be equal to the gold.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from constraint_first.answer.grade import GradingCase, grade_each

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "answer"))

from golds import DATA, TEMPLATES, fits, golds, stated


def main() -> None:
    """Print, for every set and way to state an answer, how many golds were read back."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--sets", default="", metavar="REGEX")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="failures of each kind")
    options = parser.parse_args()
    totals: Counter[bool] = Counter()
    for name, every in golds(options.data).items():
        if not re.search(options.sets, name):
            continue
        print(f"\n{name}: {len(every)} golds")
        for how in TEMPLATES:
            chosen = [gold for gold in every if fits(how, gold)]
            cases = [GradingCase.from_reply(stated(how, gold), gold) for gold in chosen]
            verdicts = list(grade_each(cases))
            lost = [verdict.answer for verdict in verdicts if not verdict.correct]
            totals.update(verdict.correct for verdict in verdicts)
            print(f"  {how:28} {len(chosen) - len(lost):5} of {len(chosen):5}")
            wrong = (pair for pair in zip(chosen, verdicts, strict=True) if not pair[1].correct)
            for gold, verdict in list(wrong)[: options.show]:
                print(f"      {gold!r} -> {verdict.answer!r}")
    print(f"\n{totals[True]} of {totals.total()} read back")


if __name__ == "__main__":
    main()
