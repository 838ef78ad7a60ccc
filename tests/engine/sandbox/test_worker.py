"""The programs of real problems, and hostile ones, each in the worker that would run it."""

import asyncio
import resource
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from hostile_programs import ENDS, HOSTILE, TIME

from constraint_first.attempt.drive import storable_output, storable_program
from constraint_first.file.safe import printable
from constraint_first.method.program import MODULES
from constraint_first.protocol import Output, Program
from constraint_first.sandbox.sandbox import Limits, Sandbox
from constraint_first.sandbox.worker import OUTPUT, run

REAL = (Path(__file__).parent / "programs.txt").read_text("utf-8").split("#### program\n")[1:]
MEMORY = 256 << 20


@pytest.mark.parametrize("block", REAL, ids=lambda block: block.splitlines()[0][:40])
def test_a_real_program_prints_what_it_prints_in_cpython(block: str) -> None:
    source, _, rest = block.partition("#### prints\n")
    printed, _, failed = rest.partition("#### fails\n")
    ran = run(source, 10.0, MEMORY)
    assert ran["text"] == printed
    assert str(ran["error"]).partition(":")[0] == failed.strip().partition(":")[0].split(".")[-1]


USES = {
    "bisect": "print(bisect.bisect_left([1, 3], 2))",
    "calendar": "print(calendar.monthrange(2024, 2))",
    "collections": "print(collections.Counter('aab'))",
    "datetime": "print(datetime.date(2024, 2, 28) + datetime.timedelta(days=2))",
    "decimal": "print(decimal.Decimal('0.1') + 1)",
    "fractions": "print(fractions.Fraction(1, 2) + 1)",
    "functools": "print(functools.reduce(lambda a, b: a * b, [1, 2, 3]))",
    "heapq": "print(heapq.nsmallest(2, [3, 1, 2]))",
    "itertools": "print(list(itertools.combinations('abc', 2)))",
    "math": "print(math.comb(5, 2))",
    "operator": "print(operator.itemgetter(1)([4, 5]))",
    "random": "random.seed(1)\nprint(random.randint(1, 6) in range(1, 7))",
    "re": "print(re.findall('[0-9]+', 'a1b22'))",
    "statistics": "print(statistics.median([3, 1, 2]))",
    "string": "print(string.ascii_lowercase)",
}


@pytest.mark.parametrize("module", MODULES)
def test_every_module_that_a_prompt_promises_is_there(module: str) -> None:
    ran = run(f"import {module}\n{USES[module]}", 10.0, MEMORY)
    assert ran["error"] == ""
    assert ran["text"]


def test_number_theory_is_there_for_those_who_reach_for_it() -> None:
    source = "from sympy import isprime, factorint\nimport sympy\nprint(isprime(97), factorint(60))"
    assert run(f"{source}\nprint(sympy.divisors(12))", 10.0, MEMORY)["text"] == (
        "True {2: 2, 3: 1, 5: 1}\n[1, 2, 3, 4, 6, 12]\n"
    )
    error = "ImportError: cannot import name 'symbols' from 'sympy'"
    assert run("from sympy import symbols, solve", 10.0, MEMORY)["error"] == error


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("print(", "SyntaxError: unexpected EOF while parsing"),
        ("x = yield 1", "NotImplementedError: The monty syntax parser does not yet support yield"),
        ("class A(B): pass", "NotImplementedError: The monty syntax parser does not yet support"),
        ("assert 1 == 2, 'so'", "AssertionError: so"),
        ("import numpy", "ModuleNotFoundError: No module named 'numpy'"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(source: str, error: str) -> None:
    said = str(run(source, 10.0, MEMORY)["error"])
    assert said.startswith(error)
    assert "\n" not in said


def test_what_was_printed_before_an_error_is_kept() -> None:
    assert run("print(1)\n1 / 0", 10.0, MEMORY)["text"] == "1\n"
    flooded = run("print('x' * 100_000)", 10.0, MEMORY)
    assert 0 < len(str(flooded["text"])) <= OUTPUT


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outputs() -> AsyncIterator[dict[str, Output]]:
    """Run all hostile programs, as many at a time as there are cores."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Sandbox(Limits(seconds=0.6)) as sandbox:

        async def end(source: str) -> Output:
            return storable_output(await sandbox.run(storable_program(Program(source))))

        ended = await asyncio.gather(*(end(source) for source, _ in HOSTILE.values()))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert (await end("print('next')")).text == "next\n"
    assert after - before < 50 << 10, "in kilobytes"
    yield dict(zip(HOSTILE, ended, strict=True))


@pytest.mark.parametrize("what", HOSTILE)
async def test_a_hostile_program_ends_as_it_should(what: str, outputs: dict[str, Output]) -> None:
    output, (_, wanted) = outputs[what], HOSTILE[what]
    ways = (*([wanted] if isinstance(wanted, str) else wanted), TIME)  # a machine may be slow
    ended = any(output.error.startswith(way) if way else not output.error for way in ways)
    assert ended, output.error
    assert len(output.text.encode()) <= OUTPUT
    assert "\n" not in output.error
    assert output.error == printable(output.error)


async def test_nothing_on_the_host_was_touched(outputs: dict[str, Output]) -> None:
    assert len(outputs) >= 60
    assert not Path("/tmp/hostile").exists()  # noqa: S108
    assert not any("root:" in output.text for output in outputs.values())
    assert any(ENDS in (way, *way) for _, way in HOSTILE.values())
