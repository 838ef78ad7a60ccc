"""Every command that reads a file, with every odd file: a result, or one line that says why not."""

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
from click.testing import CliRunner, Result
from loopback import Endpoint as Server

from constraint_first.benchmark.constraintbench.family import load
from constraint_first.cli import root
from constraint_first.error import CfrError
from constraint_first.file.safe import one_line

from .conftest import Run

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


def odd_files(rows: list[Row], every: int, first: int) -> Iterator[tuple[str, bytes]]:
    """Spoil a good file in every way: its last row field by field, and its bytes."""
    *before, last = rows
    for number, field in enumerate(last):
        for odd in ODD[(number + first) % every :: every]:
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
    # Five commands read outcomes in one way; each takes a fifth of the odd values of every field.
    every = 5 if READERS[command] is OUTCOMES else 1
    for name, data in odd_files(READERS[command], every, [*READERS].index(command)):
        Path("x.jsonl").write_bytes(data)
        try:
            assert_explained(ask(command))
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error


def in_format(rows: list[Row], ending: str) -> bytes:
    """Write rows in the format that an ending stands for."""
    if ending == "json":
        return json.dumps({"data": rows}, indent=2).encode()
    if ending in ("csv", "tsv"):
        written = io.StringIO(newline="")
        writer = csv.DictWriter(written, [*rows[0]], delimiter=";" if ending == "csv" else "\t")
        writer.writeheader()
        writer.writerows(rows)
        return written.getvalue().encode("utf-8-sig")
    return gzip.compress(encoded(rows)) if ending.endswith(".gz") else encoded(rows)


TAKEN: Final = {
    "solve": "",
    "eval": "",
    "route": "2 problems; problem from 'problem', answer from 'answer', id from 'id'",
    "constraints": "2 problems; problem from 'problem', answer from 'answer', id from 'id'",
    "grade": "2 rows; pred from 'pred', gold from 'gold', id from 'id'",
    "extract": "2 rows; text from 'text', id from 'id'",
}


@pytest.mark.parametrize("ending", ["ndjson", "json", "csv", "tsv", "jsonl.gz"])
@pytest.mark.parametrize("command", [one for one in READERS if one.split()[0] in TAKEN])
def test_every_command_reads_every_format(command: str, ending: str, ask: Ask) -> None:
    name = f"x.{ending}"
    Path(name).write_bytes(in_format(READERS[command], ending))
    result = ask(command.replace("x.jsonl", name))
    assert result.exit_code == 0, result.exception
    taken = TAKEN[command.split()[0]]
    assert (f"{name}: {taken}\n" in result.stderr) is bool(taken)
    if command.startswith(("solve", "extract")):
        Path("x.jsonl").write_bytes(encoded(READERS[command]))
        assert result.stdout == ask(command).stdout


def test_benchmarks_and_classes_in_other_formats(ask: Ask) -> None:
    Path("x.json").write_text(json.dumps(READERS["bench check x.jsonl"]))
    assert "x.json: 2 problems, all as they should be" in ask("bench check x.json").stdout
    Path("x.csv").write_text("problem,class\na,arithmetic\n")
    result = ask("audit errors o.jsonl --method b --classes x.csv")
    assert result.exit_code == 0, result.exception


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
    path.unlink()
    path.touch()
    os.truncate(path, 20 * 10**9)
    assert "x.jsonl: larger than" in str(ask(command).exception)
    os.truncate(path, 70 * 2**20)
    assert "x.jsonl, line 1: longer than 64 MB" in str(ask(command).exception)


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


FOREIGN: Final = {
    "eval q.csv --method direct --runs 1 --store q.db": "problem=asked,answer=key",
    "route q.csv": "problem=asked",
    "constraints q.csv": "problem=asked,answer=key",
    "grade q.csv --workers 1": "pred=said,gold=key",
    "extract q.csv": "text=said",
}


@pytest.mark.parametrize("command", FOREIGN)
def test_columns_of_any_name_can_be_chosen(
    command: str, cfr: Run, endpoint: Server, tmp_path: Path
) -> None:
    """Each as a person runs it, on a table whose columns nobody could guess."""
    cells = "asked;said;key\nHow many are 1 + 3?;It is 4.;We count on.\\n#### 4\n"
    (tmp_path / "q.csv").write_text(cells.replace("\\n", " "))
    columns = FOREIGN[command]
    ran = cfr(*command.split(), "--columns", columns, OPENAI_BASE_URL=endpoint.url)
    assert ran.code == 0, ran.err
    for pair in columns.split(","):
        assert " from ".join(pair.split("=")).replace("from ", "from '") in ran.err
    assert ("(after ####)" in ran.err) is ("key" in columns)
    assert "count on" not in json.dumps(endpoint.requests)
    ran = cfr(*command.split(), "--columns", columns.replace("=", "=x"))
    assert (ran.code, ran.err.count("\n"), ran.out) == (2, 1, "")
    assert "q.csv: no column is called 'x" in ran.err
    assert "it has 'asked', 'said', 'key'" in ran.err.replace("It", "it")
    if "gold" not in columns and "text" not in columns:
        ran = cfr(*command.split())
        assert ran.code == 2
        assert "choose one of 'asked', 'said', 'key' with --columns problem=NAME" in ran.err
