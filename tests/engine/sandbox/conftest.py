from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from constraint_first.sandbox.interpreter import Interpreter
from constraint_first.sandbox.sandbox import Limits, Sandbox

PACKAGES: dict[Interpreter, str] = {"cpython": "eryx", "monty": "pydantic_monty"}


@pytest.fixture(scope="module", params=PACKAGES)
def interpreter(request: pytest.FixtureRequest) -> Interpreter:
    """Each interpreter that is installed."""
    if not find_spec(PACKAGES[request.param]):
        pytest.skip(f"{PACKAGES[request.param]} is not installed")
    return request.param


@pytest.fixture(scope="module")
def sandbox(interpreter: Interpreter) -> Iterator[Sandbox]:
    with Sandbox(Limits(seconds=10), count=1, interpreter=interpreter) as sandbox:
        yield sandbox
