from pathlib import Path

import pytest
from hand_made import arm, study, texts

from constraint_first.error import InputError
from constraint_first.report.exhibit.marks import read_person_lines

STUDY = study(
    arm("direct", {"1": "+", "2": "-"}, benchmark="aime24"),
    arm("direct", {"1": "+"}, benchmark="aime25"),
    problems=texts({"9": "Find x."}, benchmark="aime25"),
)


def read(path: Path, *lines: str) -> list[tuple[str, str] | None]:
    path.write_text("".join(line + "\n" for line in lines))
    return [line.key for line in read_person_lines(path, STUDY)]


def test_a_benchmark_is_needed_only_where_names_repeat(tmp_path: Path) -> None:
    keys = read(
        tmp_path / "l.jsonl",
        '{"problem": "2"}',
        '{"problem": 9}',
        '{"problem": "1", "benchmark": "aime25"}',
        '{"problem": "77"}',
        '{"problem": "2", "benchmark": "aime25"}',
    )
    assert keys == [("aime24", "2"), ("aime25", "9"), ("aime25", "1"), None, None]


def test_a_table_will_do(tmp_path: Path) -> None:
    keys = read(tmp_path / "l.csv", "problem;benchmark;class", "2;;other", "1;aime25;other")
    assert keys == [("aime24", "2"), ("aime25", "1")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"problem": "1"}', "line 1: problem 1 is in aime24 and in aime25; add its 'benchmark'"),
        ('{"class": "other"}', "line 1: needs 'problem'"),
        ('{"problem": true}', "line 1: needs 'problem'"),
        ('{"problem": "2", "benchmark": 7}', "line 1: 'benchmark' must be a name, not 7"),
        ("[]", "line 1: JSON, but a list"),
    ],
)
def test_lines_that_say_too_little(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path / "l.jsonl", line)
