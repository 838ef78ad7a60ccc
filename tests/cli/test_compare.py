import json
from functools import partial
from pathlib import Path

import pytest
from stored import attempt
from sums import sums

from constraint_first.method.baselines import Direct
from constraint_first.store import schema
from constraint_first.store.series import Series
from constraint_first.store.store import Store

from .conftest import Run


@pytest.fixture
def compare(cfr: Run) -> Run:
    return partial(cfr, "compare")


def outcomes(path: Path, gains: list[int]) -> Path:
    """Write four runs of a problem for each gain in quarter points."""
    with path.open("w", encoding="utf-8") as file:
        for problem, gain in enumerate(gains):
            for method, right in (("A", 2), ("B", 2 + gain) if gain > -3 else ("B", 0)):
                for run in range(4):
                    row = {"problem": problem, "method": method, "run": run, "correct": run < right}
                    file.write(json.dumps(row) + "\n")
    return path


def test_outcomes_of_anyone(tmp_path: Path, compare: Run) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, 2, 2, 2, 2, 2, -1] + [0] * 23)
    done = compare(path, "--baseline", "A", "--method", "B", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["family"] == 1
    (pair,) = found["pairs"]
    wanted = {"baseline": "A", "method": "B", "n": 30, "improved": 6, "tied": 23, "degraded": 1}
    assert wanted.items() <= pair.items()
    assert round(pair["gain"], 1) == 8.3
    assert pair["test"] == "exact sign-flip"
    assert pair["p"] == pair["p_holm"] < 0.05
    low, high = pair["ci"]
    assert 0 < low < pair["gain"] < high


DIFFERENCES = {
    "aime24": [1, 1, 1, 2, 2, 3, -1, -1, -1, -2],
    "aime25": [1, 1, 1, 1, 2, 2, 2, 4, -1, -1, -1],
    "aime26": [1, 2, 2, 2, 2, 2, 3, 4, -1, -1],
}


def test_the_papers_table_for_qwen(tmp_path: Path, compare: Run) -> None:
    path = tmp_path / "qwen.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for benchmark, changes in DIFFERENCES.items():
            for problem, change in enumerate(changes + [0] * (30 - len(changes))):
                before = max(0, -change)
                for method, right in (("direct", before), ("routed-cfr", before + change)):
                    for run in range(4):
                        row = {"benchmark": benchmark, "problem": problem, "method": method}
                        file.write(json.dumps(row | {"run": run, "correct": run < right}) + "\n")
    done = compare(path, "--baseline", "direct", "--method", "routed-cfr", "--json")
    found = json.loads(done.out)
    assert found["family"] == 4
    shown = [
        (
            *(pair["benchmark"], pair["n"], round(pair["gain"], 1)),
            *(pair["improved"], pair["tied"], pair["degraded"]),
            *(round(pair["p"], 4), round(pair["p_holm"], 4)),
            [round(end, 1) for end in pair["ci"]],
        )
        for pair in found["pairs"]
    ]
    assert shown == [
        ("aime24", 30, 4.2, 6, 20, 4, 0.4590, 0.4590, [-3.3, 13.3]),
        ("aime25", 30, 9.2, 8, 19, 3, 0.0859, 0.1719, [1.7, 20.8]),
        ("aime26", 30, 13.3, 8, 20, 2, 0.0234, 0.0703, [5.0, 25.8]),
        ("pooled", 90, 8.9, 22, 59, 9, 0.0020, 0.0081, [3.9, 15.0]),
    ]
    assert [round(end, 1) for end in found["pairs"][3]["ci_percentile"]] == [3.6, 14.4]
    assert {pair["test"] for pair in found["pairs"]} == {"exact sign-flip"}


def test_what_a_person_sees(tmp_path: Path, compare: Run) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, -1, 0, 0])
    done = compare(path, "--baseline", "A")
    assert done.code == 0, done.err
    for words in ("B against A", "1 / 2 / 1", "family of 1", "interval includes zero"):
        assert words in done.out
    seeded = compare(path, "--baseline", "A", "--resamples", "500", "--seed", "3", "--json")
    assert (
        seeded.out
        == compare(path, "--baseline", "A", "--resamples", "500", "--seed", "3", "--json").out
    )


def test_a_table_says_which_interval_it_shows(tmp_path: Path, compare: Run) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, 2, 2, -1] + [0] * 6)
    assert "The interval is the BCa interval of" in compare(path, "--baseline", "A").out
    other = compare(path, "--baseline", "A", "--interval", "percentile").out
    assert "The interval is the percentile interval of" in other


def test_a_family_is_enough_and_what_it_means_is_said(tmp_path: Path, compare: Run) -> None:
    path = tmp_path / "o.jsonl"
    methods = ("direct", "cfr(reply=json)", "cfr(reply=prose)")
    rows = [{"problem": "1", "method": method, "run": 0, "correct": True} for method in methods]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = compare(path, "--method", "cfr", "--json")
    assert [pair["method"] for pair in json.loads(done.out)["pairs"]] == ["cfr(reply=json)"]
    assert "CFR (always-on) is cfr(reply=json) here" in done.err
    assert "(--method chooses)" in done.err
    assert not compare(path, "--method", "cfr(reply=prose)", "--json").err


def test_a_method_that_is_named_twice_is_tested_once(tmp_path: Path, compare: Run) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, 0])
    done = compare(path, "--baseline", "A", "--method", "B", "--method", "B", "--json")
    assert json.loads(done.out)["family"] == 1


def test_options_out_of_range_are_refused(tmp_path: Path, compare: Run) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, 0])
    for option, value in (("--also-p", "nan"), ("--also-p", "2"), ("--resamples", "1")):
        done = compare(path, "--baseline", "A", option, value)
        assert done.code == 2
        assert "Traceback" not in done.err


def test_errors_are_one_line(tmp_path: Path, compare: Run) -> None:
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
        assert done.code == 2 or "no such store" in said, done.err
        assert done.code != 0
        assert said in done.err
        assert done.err.count("\n") == 1
        assert not done.out


def costs(path: Path, **voted: int) -> Path:
    direct = {"method": "direct", "input_tokens": 100, "output_tokens": 900}
    rows = [
        {"problem": n, "run": 0, "correct": n < 3} | used
        for n in range(8)
        for used in (direct, {"method": "vote"} | voted)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_three_token_ratios(tmp_path: Path, compare: Run) -> None:
    path = costs(tmp_path / "o.jsonl", input_tokens=600, output_tokens=810, shared_tokens=400)
    shown = compare(path).out
    assert "Tokens relative to Direct CoT" in shown
    ratios = next(line for line in shown.splitlines() if "×" in line)
    assert ratios.split() == ["Checked", "vote", "all", "0.90×", "1.01×", "1.41×"]
    (pair,) = json.loads(compare(path, "--json").out)["pairs"]
    assert pair["token_ratios"] == {"output": 0.9, "shared_once": 1.01, "every_time": 1.41}


def test_outcomes_without_tokens_have_no_ratios(tmp_path: Path, compare: Run) -> None:
    path = outcomes(tmp_path / "o.jsonl", [1, 2, -1])
    assert "Tokens" not in compare(path, "--baseline", "A").out
    (pair,) = json.loads(compare(path, "--baseline", "A", "--json").out)["pairs"]
    assert set(pair["token_ratios"].values()) == {None}


@pytest.mark.parametrize("kind", [".jsonl.gz", ".csv", ".parquet"])
def test_an_export_gives_the_same_numbers_as_its_store(kind: str, tmp_path: Path, cfr: Run) -> None:
    if kind == ".parquet":
        pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed here")
    with Store(str(tmp_path / "runs.db")) as store:
        for method, known in (("direct", 3), ("=plugin", 5)):
            registered = store.register(Series("sums", method, "=m", given=Direct()), sums(6))
            rows = [
                attempt(registered.series, number, run, verdict=_verdict(n < known))
                for n, number in enumerate(registered.problems.values())
                for run in range(2)
            ]
            with store.database.begin() as connection:
                connection.execute(schema.attempts.insert(), rows)
    assert cfr("export", f"out{kind}").code == 0
    stored = json.loads(cfr("compare", "--json").out)
    assert stored["pairs"][0]["improved"] == 2
    ran = cfr("compare", f"out{kind}", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == stored


def _verdict(right: object) -> str:
    return "correct" if right else "incorrect"
