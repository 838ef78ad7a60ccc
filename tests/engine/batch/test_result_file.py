import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from constraint_first.error import InputError
from constraint_first.model.batch import Place, RequestId, ResultIndex

DIGEST = "0123456789ab"


def name(problem: int) -> str:
    return str(RequestId(place(problem), DIGEST, DIGEST))


def place(problem: int) -> Place:
    return Place(1, problem, 0, 0)


def line(custom_id: str, status: int = 200, body: Any = "reply") -> str:
    response = {"status_code": status, "body": body}
    return json.dumps({"custom_id": custom_id, "response": response, "error": None}) + "\n"


def test_results_are_found_by_place_in_whatever_order_they_stand(tmp_path: Path) -> None:
    output, errors = tmp_path / "output.jsonl", tmp_path / "errors.jsonl"
    output.write_text("\n" + line(name(2), body="two") + line(name(1), body="one"))
    errors.write_text(line(name(3), 400, body="no").rstrip("\n"))
    index = ResultIndex(10_000)
    read = index.read([output, errors], {name(1), name(2), name(3), name(4)})
    found = index.find(place(1))
    assert found is not None
    assert (str(found.request), found.result.body) == (name(1), b"one")
    assert [one.request.place for one in read.failed] == [place(3)]
    assert read.missing == {name(4)}
    assert (read.answered, len(index)) == (2, 3)
    assert index.find(place(4)) is None
    assert not read.odd


def test_lines_that_cannot_be_used_are_counted_by_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    path.write_text(
        "not json\n"
        + line("request-1")
        + line(name(9))
        + line(name(1), 500)
        + line(name(1), body="first")
        + line(name(1), body="second")
        + line(name(2), body="x" * 3_000)
        + line(name(3), body="third")
    )
    index = ResultIndex(1_000)
    read = index.read([path], {name(1), name(2), name(3)})
    assert str(read) == (
        "1 × a line that is no result (not JSON); 2 × a result that nobody asked for; "
        "1 × a second line for one request; 1 × a line larger than 0.001 MB"
    )
    found, third = index.find(place(1)), index.find(place(3))
    assert found is not None
    assert found.result.body == b"first"
    assert third is not None
    assert third.result.body == b"third"
    assert not read.failed
    assert read.missing == {name(2)}


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    path, wanted = tmp_path / "output.jsonl", [name(n) for n in range(200)]
    with path.open("w") as file:
        for one in wanted:
            file.write(line(one, body="x" * 100_000))
    tracemalloc.start()
    index = ResultIndex(10**6)
    assert index.read([path], set(wanted)).answered == 200
    assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 10
    tracemalloc.stop()
    found = index.find(place(199))
    assert found is not None
    assert len(found.result.body) == 100_000


def test_a_file_that_changes_meanwhile_is_named(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    path.write_text(line(name(1)))
    index = ResultIndex(10_000)
    index.read([path], {name(1)})
    path.write_text("")
    with pytest.raises(InputError, match="changed while it was read"):
        index.find(place(1))
    with pytest.raises(InputError, match="cannot be read"):
        index.read([tmp_path / "none"], set())
