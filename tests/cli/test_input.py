"""Every command that reads a file, with every odd file: a result, or one line that says why not."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from click.testing import CliRunner, Result
from loopback import Endpoint as Server

from cfr.benchmark.constraintbench.split import load
from cfr.cli import root
from cfr.error import CfrError
from cfr.file.printable import one_line

Row: TypeAlias = dict[str, Any]

PROBLEMS: Final[list[Row]] = [
    {"id": name, "problem": f"What is 1 + 3, {name}?", "answer": "4"} for name in "ab"
]
REPLIES: Final[list[Row]] = [
    {"id": name, "text": r"It is \boxed{4}.", "pred": "4", "gold": "4"} for name in "ab"
]
OUTCOMES: Final[list[Row]] = [
    {
        "problem": problem,
        "benchmark": "sums",
        "method": method,
        "label": method,
        "model": "m",
        "run": 0,
        "correct": True,
        "problem_text": "Find the remainder.",
        "gold": "4",
        "answer": "4",
        "text": "It is 4.",
        "input_tokens": 1,
        "seconds": 0.5,
        "decoding": {"temperature": 0.7},
        "details": {"rung": "parsed", "constraints": {"raw_constraints": []}},
        "stages": {"direct": {"calls": 1}},
    }
    for method in ("direct", "b")
    for problem in ("a", "c")
]
LABEL: Final[Row] = {
    "annotator": "ada",
    "benchmark": "sums",
    "problem": "a",
    "method": "b",
    "model": "m",
    "decoding": {"temperature": 0.7},
    "run": 0,
    "constraints": [{"id": "C1", "stage": "raw", "mark": "entailed"}],
    "missing": ["x > 0"],
    "note": "odd",
}
READERS: Final[dict[str, list[Row]]] = {
    "solve x.jsonl --quiet": PROBLEMS,
    "route x.jsonl": PROBLEMS,
    "constraints x.jsonl": PROBLEMS,
    "eval x.jsonl --method direct --runs 1 --quiet --store {n}.db": PROBLEMS,
    "grade x.jsonl --workers 1": REPLIES,
    "extract x.jsonl": REPLIES,
    "compare x.jsonl --method b": OUTCOMES,
    "audit router x.jsonl --method b": OUTCOMES,
    "audit stage1 x.jsonl --method b": OUTCOMES,
    "audit errors x.jsonl --method b": OUTCOMES,
    "report x.jsonl --method b --no-figures": OUTCOMES,
    "audit errors o.jsonl --method b --classes x.jsonl": [{"problem": "a", "class": "arithmetic"}],
    "audit router o.jsonl --method b --decisions x.jsonl": [{"problem": "a", "routed": True}],
    "audit report x.jsonl": [LABEL],
    "bench check x.jsonl": [item.to_json() for item in load("mini")[:2]],
}
ODD: Final[tuple[Any, ...]] = (
    *("", " ", "half \ud800 a pair", "a\0b", "\x1b[2J", "x" * 2_000_000),
    *(None, True, 0, -1, 10**30, 10**4_000, 0.5, float("nan"), float("inf")),
    *([], ["4"], ["4", 5], [["4"]], [None], {}, {"a": 1}, {"\ud800": "\0"}),
)
BYTES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "a number beyond floating point": lambda good: good.replace(b'"4"', b"1e999"),
    "a number of 5,000 digits": lambda good: good + b'{"id": ' + b"9" * 5_000 + b"}",
    "a field that is there twice": lambda good: good.replace(b"{", b'{"id": 1, "id": 1, ', 1),
    "nesting without end": lambda good: good + b'{"id":' * 9_999 + b"1" + b"}" * 9_999,
    "no object": lambda good: good + b"[1]",
    "half a line": lambda good: good[:-9],
    "no UTF-8": lambda good: good + b"\xff",
    "UTF-16": lambda good: good.decode().encode("utf-16"),
    "a mark": lambda good: b"\xef\xbb\xbf" + good,
    "nothing": lambda _: b"",
    "blanks": lambda _: b"\n\n \n",
    "no text": lambda _: bytes(range(256)),
}

Ask: TypeAlias = Callable[[str], Result]


@pytest.fixture
def ask(endpoint: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Runs a command in this very process: there are many to run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    Path("o.jsonl").write_bytes(encoded(OUTCOMES))
    count = iter(range(10**6))
    return lambda command: CliRunner().invoke(root, command.format(n=next(count)).split())


def encoded(rows: list[Row]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def odd_files(rows: list[Row], every: int) -> Iterator[tuple[str, bytes]]:
    """Spoil a good file in every way: its last row field by field, and its bytes."""
    *before, last = rows
    for number, field in enumerate(last):
        for odd in ODD[number % every :: every]:
            yield f"{field} = {odd!r:.60}", encoded([*before, last | {field: odd}])
    for name, spoil in BYTES.items():
        yield name, spoil(encoded(rows))


def assert_explained(result: Result) -> None:
    """It is a result, or an error that a person can put right and that names the file."""
    if isinstance(error := result.exception, CfrError):
        assert "x.jsonl" in one_line(str(error))
    else:
        assert result.exit_code == 0, repr(error)


@pytest.mark.parametrize("command", READERS)
def test_every_odd_file_is_read_or_refused_in_a_line(command: str, ask: Ask) -> None:
    Path("x.jsonl").write_bytes(encoded(READERS[command]))
    good = ask(command)
    assert good.exit_code == 0, good.exception
    every = 5 if command.startswith("report") else 1  # a report takes its time
    for name, data in odd_files(READERS[command], every):
        Path("x.jsonl").write_bytes(data)
        try:
            assert_explained(ask(command))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


@pytest.mark.parametrize("command", READERS)
def test_what_is_no_file_is_refused_at_once(command: str, ask: Ask) -> None:
    path = Path("x.jsonl")
    result = ask(command)
    assert "x.jsonl: cannot be read (No such file or directory)" in str(result.exception)
    path.mkdir()
    assert "x.jsonl: a folder, not a file" in str(ask(command).exception)
    path.rmdir()
    os.mkfifo(path)
    assert "x.jsonl: a pipe or a device, not a file" in str(ask(command).exception)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "\ud800"}, "x.jsonl, line 3: 'id' has half a surrogate pair as character 1"),
        ({"problem": "a\0"}, "x.jsonl, line 3: 'problem' has a NUL character as character 2"),
        ({"answer": float("nan")}, "x.jsonl, line 3: not JSON (NaN is no value there)"),
        ({"answer": {"a": 1}}, "x.jsonl, line 3: 'answer' must be a text or a number, or a list"),
        ({"id": ["a"]}, "x.jsonl, line 3: 'id' must be a text or a number, not ['a']"),
    ],
)
@pytest.mark.parametrize("command", [name for name in READERS if READERS[name] is PROBLEMS])
def test_what_is_wrong_is_named_with_its_line(command: str, row: Row, said: str, ask: Ask) -> None:
    Path("x.jsonl").write_bytes(encoded([*PROBLEMS, {"problem": "P", "answer": "1"} | row]))
    assert said in str(ask(command).exception)


@pytest.mark.parametrize("command", ["eval x.jsonl", "solve x.jsonl --quiet", "demo"])
def test_a_seed_has_no_more_bits_than_an_endpoint_takes(command: str, ask: Ask) -> None:
    Path("x.jsonl").write_bytes(encoded(PROBLEMS))
    result = ask(f"{command} --seed {2**63}")
    assert result.exit_code == 2
    assert f"{2**63} is not in the range" in result.output
