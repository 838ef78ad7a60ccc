import json
from pathlib import Path

import pytest
from loopback import Endpoint as Server

from .conftest import Run


def given(server: Server, *more: str) -> tuple[str, ...]:
    return ("eval", "sums.jsonl", "--base-url", server.url, "--model", "m", *more)


def test_nothing_is_asked_and_no_store_is_made(cfr: Run, served: Server, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    ran = cfr(*given(served, "--dry-run", "--runs", "2"))
    taken = "sums.jsonl: 6 problems; problem from 'problem', answer from 'answer', id from 'id'\n"
    assert (ran.code, ran.err) == (0, taken)
    assert "sums with m: 6 problems × 2 runs" in ran.out
    assert "≤ 393,216" in ran.out  # twelve replies of 32,768 tokens
    assert "calibrated(policy=unmeasured)" in ran.out  # which is auto
    assert "$" not in ran.out
    assert not served.requests
    assert not served.headers
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("priced")
def test_earlier_runs_tell_what_is_to_come(cfr: Run, served: Server, tmp_path: Path) -> None:
    assert cfr(*given(served, "--method", "direct", "--runs", "1")).code == 0
    asked, stored = len(served.requests), (tmp_path / "runs.db").read_bytes()
    dry = given(served, "--method", "direct", "--runs", "4", "--dry-run")
    ran = cfr(*dry)
    assert ran.code == 0, ran.err
    row = next(line for line in ran.out.splitlines() if line.startswith("direct"))
    assert row.split() == ["direct", "18", "18", "198", "126", "$0.00045", "same", "set"]
    assert "at the pace of the earlier runs" in ran.out
    told = json.loads(cfr(*dry, "--json").out)
    (one,) = told["series"]
    assert (one["stored"], one["attempts"], one["basis"]) == (6, 18, "same set")
    assert one["dollars"]["least"] == one["dollars"]["most"]
    assert one["dollars"]["most"] == pytest.approx(18 * 25e-6)  # pyright: ignore
    assert told["total"]["calls"] == {"least": 18, "most": 18}
    assert len(served.requests) == asked
    assert (tmp_path / "runs.db").read_bytes() == stored
    done = cfr(*given(served, "--method", "direct", "--runs", "1", "--dry-run"))
    assert "all stored" in done.out


@pytest.mark.usefixtures("priced")
def test_a_grid_is_foretold_at_eighty_columns(
    cfr: Run, served: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "grid.toml").write_text(
        'benchmarks = ["sums.jsonl"]\nmethods = ["direct", "until-agreed(most=5)"]\n'
        'models = ["m", "free"]\nruns = 3\n'
    )
    options = ("--base-url", served.url, "--dry-run", "--max-cost", "0.01")
    ran = cfr("eval", "grid.toml", *options)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "sums with m: 6 problems × 3 runs" in lines
    assert "sums with free: 6 problems × 3 runs" in lines
    varying = next(line for line in lines if line.startswith("until-agreed(most"))
    assert "36–" in varying
    assert "≤ $1.18" in next(line for line in lines if line.startswith("direct"))
    assert "--max-cost is $0.01: it may be spent before the end." in lines
    assert not served.requests


def test_a_mistake_is_told_as_by_the_run(cfr: Run, served: Server) -> None:
    assert "did you mean 'direct'" in cfr(*given(served, "--dry-run", "--method", "direkt")).err
    ran = cfr(*given(served, "--json"))
    assert ran.code == 2
    assert "--json: goes with --dry-run" in ran.err
    assert "not in the catalogue" in cfr("eval", "--dry-run", "--model", "gpt-7").err
    assert not served.requests


def test_a_key_is_not_needed_to_look_ahead(cfr: Run, served: Server) -> None:
    ran = cfr("eval", "sums.jsonl", "--dry-run", "--model", "deepseek-chat", "--limit", "1")
    assert ran.code == 0, ran.err
    nameless = cfr("eval", "sums.jsonl", "--dry-run", "--base-url", served.url)
    assert "With --model NAME earlier runs" in nameless.out


def test_own_columns_prompts_and_system_message_are_counted(
    cfr: Run, endpoint: Server, tmp_path: Path
) -> None:
    (tmp_path / "exam.csv").write_text("question;solution\nWhat is 2 + 3?;5\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "direct.txt").write_text("Add with care. " * 100 + "\n\n[[problem]]\n")

    def input_tokens(*more: str) -> int:
        named = ("--base-url", endpoint.url, "--model", "m", "--method", "direct", "--runs", "1")
        ran = cfr("eval", "exam.csv", *named, *more, "--dry-run", "--json", "--quiet")
        assert (ran.code, ran.err) == (0, "")
        return json.loads(ran.out)["total"]["input_tokens"]["most"]

    columns = ("--columns", "problem=question,answer=solution")
    alone = input_tokens(*columns)
    assert 0 < alone < 200
    assert input_tokens(*columns, "--prompts", "mine") >= 500
    assert input_tokens(*columns, "--system", "Be brief. " * 100) >= alone + 300
    assert not endpoint.requests
