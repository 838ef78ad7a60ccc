import json
import subprocess
import sys
from pathlib import Path


def compare(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cfr", "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def outcomes(path: Path, gains: list[int]) -> Path:
    """Write four runs of a problem for each gain in quarter points."""
    with path.open("w", encoding="utf-8") as file:
        for problem, gain in enumerate(gains):
            for method, right in (("A", 2), ("B", 2 + gain) if gain > -3 else ("B", 0)):
                for run in range(4):
                    row = {"problem": problem, "method": method, "run": run, "correct": run < right}
                    file.write(json.dumps(row) + "\n")
    return path


def test_outcomes_of_anyone(tmp_path: Path) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, 2, 2, 2, 2, 2, -1] + [0] * 23)
    done = compare(path, "--baseline", "A", "--method", "B", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["family"] == 1
    (pair,) = found["pairs"]
    wanted = {"baseline": "A", "method": "B", "n": 30, "improved": 6, "tied": 23, "degraded": 1}
    assert wanted.items() <= pair.items()
    assert round(pair["gain"], 1) == 8.3
    assert pair["test"] == "exact sign-flip"
    assert pair["p"] == pair["p_holm"] < 0.05
    low, high = pair["ci"]
    assert 0 < low < pair["gain"] < high


def test_what_a_person_sees(tmp_path: Path) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, -1, 0, 0])
    done = compare(path, "--baseline", "A")
    assert done.returncode == 0, done.stderr
    for words in ("B against A", "1 / 2 / 1", "family of 1", "interval includes zero"):
        assert words in done.stdout
    seeded = compare(path, "--baseline", "A", "--resamples", "500", "--seed", "3", "--json")
    assert (
        seeded.stdout
        == compare(path, "--baseline", "A", "--resamples", "500", "--seed", "3", "--json").stdout
    )


def test_errors_are_one_line(tmp_path: Path) -> None:
    path = outcomes(tmp_path / "o.jsonl", [0, 0])
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    for arguments, said in (
        ((path,), "has no method 'direct'; it has A, B"),
        ((path, "--baseline", "A", "--method", "C"), "has no method 'C'"),
        ((path, "--baseline", "A", "--model", "x"), "has no model 'x'"),
        ((empty,), "no attempts yet"),
        ((tmp_path / "none.db",), "there is no such store"),
        ((tmp_path / "none.jsonl",), "cannot be read"),
    ):
        done = compare(*arguments)
        assert done.returncode == 2 or "no such store" in said, done.stderr
        assert done.returncode != 0
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert not done.stdout
