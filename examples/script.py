"""A script: solve one problem, show how it gets on, and say what it took.

python examples/script.py                             the embedded model, on this machine
python examples/script.py http://127.0.0.1:8000/v1    an endpoint; its key, if any, in ENDPOINT_KEY
python examples/script.py http://127.0.0.1:8000/v1 routed-cfr    a method by its name
"""

from __future__ import annotations

import os
import sys

import constraint_first

PROBLEM = "Find the remainder when 7^100 is divided by 13."


def main(address: str | None = None, method: str = "auto") -> None:
    solved = constraint_first.solve(
        PROBLEM,
        method,
        base_url=address,
        key=os.environ.get("ENDPOINT_KEY") if address else None,
        context=4096,
        decoding=constraint_first.Decoding(temperature=0.0),
        bounds=constraint_first.Bounds(seconds=600),
        progress=print,
    )
    verdict = "right" if constraint_first.grade(solved.answer or "", "9").correct else "wrong"
    print(f"{solved.answer} is {verdict}: {solved.tokens:,} tokens, {solved.seconds:.1f} s")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except constraint_first.CfrError as error:
        sys.exit(str(error))
