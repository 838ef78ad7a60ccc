"""A store of attempts whose answers checks changed, to good and to bad."""

from constraint_first.attempt.drive import Scripted
from constraint_first.attempt.solve import run_sync
from constraint_first.benchmark.registry import GoldInstruction, write_instructions
from constraint_first.problem import Problem
from constraint_first.protocol import Call
from constraint_first.run.job import prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

_NO_COMMA = GoldInstruction("punctuation:no_comma")
_REQUESTS = (
    Problem("Write of fog, and use no commas.", id="fixed", answer=write_instructions([_NO_COMMA])),
    Problem(
        "Write of rain in all capital letters.",
        id="still wrong",
        answer=write_instructions([GoldInstruction("detectable_format:title")]),
    ),
    Problem(
        "Write of dew in all lowercase letters.",
        id="broken",
        answer=write_instructions(
            [
                GoldInstruction(
                    "change_case:capital_word_frequency",
                    {"capital_relation": "at least", "capital_frequency": 1},
                )
            ]
        ),
    ),
    Problem("Write of sun without commas.", id="sound", answer=write_instructions([_NO_COMMA])),
)
_SUM = Problem("Find the remainder when 3 times 6 is divided by 7.", id="remainder", answer="4")


def _reply(call: Call) -> str:
    asked = str(call.messages)
    if "fog" in asked:
        return "Fog, thick fog."
    if "rain" in asked:
        return "Rain falls."
    if "dew" in asked:
        return "DEW falls."
    return "Sun is out." if "sun" in asked else r"It is \boxed{18}."


def intervened_store(url: str) -> str:
    """Run ``sound`` on requests and ``checked`` on a sum that it repairs."""
    with Store(url) as store:
        for method, problems in (("sound(then=off)", _REQUESTS), ("checked", (_SUM,))):
            series = Series("requests" if problems is _REQUESTS else "sums", method, "m")
            run_sync(run(store, [prepare(store, series, problems, 2, Scripted(_reply))], 2))
    return url
