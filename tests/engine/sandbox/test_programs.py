"""Ordinary programs and hostile ones, in each interpreter."""

import asyncio
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from hostile_programs import HOSTILE, TIME

from constraint_first.attempt.drive import storable_output, storable_program
from constraint_first.file.safe import printable
from constraint_first.method.program import MODULES
from constraint_first.protocol import Output, Program
from constraint_first.sandbox.interpreter import Interpreter
from constraint_first.sandbox.sandbox import Limits, Sandbox

HERE = Path(__file__).parent
ORDINARY = (HERE / "programs.txt").read_text("utf-8").split("#### program\n")[1:]
SYMPY = (HERE / "sympy_programs.txt").read_text("utf-8").split("#### program\n")[1:]
OUTPUT = 1 << 16


@pytest.mark.parametrize("block", ORDINARY, ids=lambda block: block.splitlines()[0][:40])
def test_a_program_prints_what_cpython_prints(
    block: str, sandbox: Sandbox, interpreter: Interpreter
) -> None:
    block, _, in_monty = block.partition("#### in monty\n")
    source, _, rest = block.partition("#### prints\n")
    printed, _, failed = rest.partition("#### fails\n")
    ran = sandbox.run_now(Program(source))
    if interpreter == "monty":  # it lacks much of Python, and says so
        assert ran.error or (ran.text == (in_monty or printed) and not failed)
    else:
        assert ran.text == printed
        assert ran.error.partition(":")[0] == failed.strip().partition(":")[0]


@pytest.mark.parametrize("block", SYMPY, ids=lambda block: block.splitlines()[0][:40])
def test_values_of_sympy_are_printed_as_latex(
    block: str, sandbox: Sandbox, interpreter: Interpreter
) -> None:
    if interpreter == "monty":
        pytest.skip("has no sympy")
    source, _, rest = block.partition("#### prints\n")
    printed, _, failed = rest.partition("#### fails\n")
    ran = sandbox.run_now(Program(source))
    assert (ran.text, ran.error) == (printed, failed.strip())


@pytest.mark.long
@pytest.mark.parametrize("block", ORDINARY, ids=lambda block: block.splitlines()[0][:40])
def test_cpython_prints_what_is_noted(block: str) -> None:
    source, _, rest = block.partition("#### in monty\n")[0].partition("#### prints\n")
    ran = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert ran.stdout == rest.partition("#### fails\n")[0]
    assert bool(ran.returncode) == ("#### fails\n" in rest)


USES = {
    "bisect": "print(bisect.bisect_left([1, 3], 2))",
    "collections": "print(collections.Counter('aab'))",
    "datetime": "print(datetime.date(2024, 2, 28) + datetime.timedelta(days=2))",
    "decimal": "print(decimal.Decimal('0.1') + 1)",
    "functools": "print(functools.reduce(lambda a, b: a * b, [1, 2, 3]))",
    "itertools": "print(list(itertools.combinations('abc', 2)))",
    "math": "print(math.comb(5, 2))",
    "random": "random.seed(1)\nprint(random.randint(1, 6) in range(1, 7))",
    "re": "print(re.findall('[0-9]+', 'a1b22'))",
}


@pytest.mark.parametrize("module", MODULES)
def test_every_module_that_a_prompt_promises_is_there(module: str, sandbox: Sandbox) -> None:
    ran = sandbox.run_now(Program(f"import {module}\n{USES[module]}"))
    assert ran.error == ""
    assert ran.text


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("print(", "SyntaxError: "),
        ("assert 1 == 2, 'so\\nand so'", "AssertionError: so and so"),
        ("import numpy", "ModuleNotFoundError: No module named 'numpy'"),
    ],
)
def test_an_error_is_one_line(source: str, error: str, sandbox: Sandbox) -> None:
    said = sandbox.run_now(Program(source)).error
    assert said.startswith(error)
    assert "\n" not in said


def test_what_was_printed_before_an_error_is_kept(sandbox: Sandbox) -> None:
    assert sandbox.run_now(Program("print(1)\n1 / 0")).text == "1\n"
    flooded = sandbox.run_now(Program("print('x' * 100_000)"))
    assert 0 < len(flooded.text) <= OUTPUT
    assert flooded.error == "OutputError: printed more than 65,536 bytes"


def test_a_program_leaves_nothing_to_the_next_one(sandbox: Sandbox) -> None:
    left = (
        "import math\nmath.pi = 3\nimport json\njson.left = 1\n"
        "import builtins\nbuiltins.len = builtins.print = lambda *a: 1\n"
        "import sympy\nsympy.sqrt = sympy.latex = None\nopen('/data/left', 'w').write('x')"
    )
    for line in left.splitlines():  # an interpreter may refuse any of them
        sandbox.run_now(Program(line))
    sandbox.run_now(Program(left))
    ran = sandbox.run_now(
        Program(
            "import math, json\nprint(len('ab'), math.pi, hasattr(json, 'left'))\n"
            "try:\n    open('/data/left')\nexcept OSError:\n    print('no file')"
        )
    )
    assert ran.text == "2 3.141592653589793 False\nno file\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def outputs(interpreter: Interpreter) -> AsyncIterator[dict[str, Output]]:
    """Run all hostile programs, one for each core at a time, and one of ours after each."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Sandbox(Limits(seconds=0.6), interpreter=interpreter) as sandbox:

        async def end(source: str) -> Output:
            output = storable_output(await sandbox.run(storable_program(Program(source))))
            after = await sandbox.run(Program("print(sorted(set(map(len, ['ab', 'c']))))"))
            assert after.text == "[1, 2]\n" or after.error.startswith(TIME)
            return output

        ended = await asyncio.gather(*(end(source) for source, _ in HOSTILE.values()))
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after - before < 50 << 10, "in kilobytes"
    yield dict(zip(HOSTILE, ended, strict=True))


@pytest.mark.parametrize("what", HOSTILE)
async def test_a_hostile_program_ends_as_it_should(what: str, outputs: dict[str, Output]) -> None:
    output, (_, wanted) = outputs[what], HOSTILE[what]
    ways = (*wanted, TIME)  # a machine may be slow
    ended = any(output.error.startswith(way) if way else not output.error for way in ways)
    assert ended, output.error
    assert len(output.text.encode()) <= OUTPUT
    assert "\n" not in output.error
    assert output.error == printable(output.error)


async def test_nothing_on_the_host_was_touched(outputs: dict[str, Output]) -> None:
    assert len(outputs) >= 200
    assert not Path("/tmp/hostile").exists()  # noqa: S108
    assert not any("root:" in output.text for output in outputs.values())
