"""Programs that do what they can to outlast, outgrow or escape the sandbox, and how each ends.

An outcome is how the error begins; ``ENDS`` says that the program may run to its end.
"""

import json
from pathlib import Path
from typing import Final

TIME: Final = "TimeoutError: stopped after"
NESTED: Final = "SyntaxError"
ENDS: Final = ""

_ROWS = map(json.loads, Path(__file__).with_suffix(".jsonl").read_text("utf-8").splitlines())
HOSTILE: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    **{row["name"]: (row["program"], tuple(row["ends"])) for row in _ROWS},
    "huge literal": ("print(" + "9" * 90_000 + ")", (NESTED, "ValueError", ENDS)),
    "brackets": ("(" * 20_000 + ")" * 20_000, (NESTED,)),
    "open brackets": ("[" * 90_000, (NESTED,)),
    "minus signs": ("-" * 90_000 + "1", (NESTED,)),
    "long sum": ("x = " + "1+" * 40_000 + "1", (NESTED, ENDS)),
    "long chain of calls": ("x = 'a'" + ".strip()" * 10_000, (NESTED, ENDS, "RecursionError")),
    "deep indentation": (
        "".join(" " * n + "if 1:\n" for n in range(300)) + " " * 300 + "pass",
        (NESTED, "IndentationError"),
    ),
    "deep f-string": ("f'{" * 100 + "1" + "}'" * 100, (ENDS, NESTED)),
    "huge source": ("x = 1\n" * 200_000, (NESTED, ENDS)),
    "many lambdas": ("f = " + "lambda: " * 10_000 + "1", (NESTED,)),
}
