import json
import re
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import Reply, completion
from sums import number_in, reply_right

from .conftest import Ran, Run, on_terminal


def evaluate(cfr: Run, server: Server, *options: str) -> Ran:
    given = ("--method", "direct", "--runs", "2", "--base-url", server.url, "--model", "m")
    return cfr("eval", "sums.jsonl", *given, *options)


def test_without_a_price_nobody_speaks_of_money(cfr: Run, served: Server, tmp_path: Path) -> None:
    ran, listed = evaluate(cfr, served), cfr("runs")
    solved = cfr("solve", "What is 4 + 1?", "--base-url", served.url, "--model", "m")
    for one in (ran, listed, solved, cfr("runs", "--json")):
        assert one.code == 0, one.err
        assert not any(word in one.out.lower() for word in ("$", "cost", "dollar"))
    assert cfr("report", "-o", "out", "--no-figures").code == 0
    assert "Cost an attempt" not in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.usefixtures("priced")
def test_a_run_says_what_it_cost(cfr: Run, served: Server) -> None:
    ran = evaluate(cfr, served)
    assert ran.code == 0, ran.err
    assert "$0.0003" in ran.out
    assert "All together $0.0003, at the prices that your models.toml has now." in ran.out
    assert evaluate(cfr, served).out == ran.out  # what was made before is counted too


def test_a_store_is_priced_as_things_cost_today(cfr: Run, served: Server, priced: Path) -> None:
    prices = priced.read_text()
    priced.write_text("")
    assert evaluate(cfr, served).code == 0
    priced.write_text(prices)
    shown = cfr("runs").out
    assert "cost" in shown
    assert "$0.0003" in shown
    (row,) = json.loads(cfr("runs", "--json").out)
    assert row["dollars"] == pytest.approx(12 * 25e-6)  # pyright: ignore
    assert row["dollars_complete"] is True


@pytest.mark.usefixtures("priced")
def test_tokens_from_the_cache_have_a_price_of_their_own(cfr: Run, served: Server) -> None:
    usage = {
        "prompt_tokens": 1_000,
        "completion_tokens": 500,
        "prompt_tokens_details": {"cached_tokens": 800},
    }
    served.script(completion(r"\boxed{5}", usage=usage))
    served.respond = None
    given = ("solve", "What is 4 + 1?", "--method", "direct", "--base-url", served.url)
    shown = cfr(*given, "--model", "m")
    assert shown.code == 0, shown.err
    assert ", $0.0016" in shown.out.splitlines()[-1]  # 200 + 800 / 2 + 1,000
    told = json.loads(cfr(*given, "--model", "m", "--json").out)
    assert told["dollars"] == pytest.approx(0.0016)  # pyright: ignore


def test_a_second_model_has_its_own_price(cfr: Run, served: Server, priced: Path) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        return completion('{"restrictive": "no"}') if body["model"] == "r" else reply_right(body)

    served.respond = respond
    method = ("--method", "llm-router(model=r)", "--runs", "1", "--model", "m")
    ran = cfr("eval", "sums.jsonl", *method, "--base-url", served.url)
    assert "$0.00015+" in ran.out, ran.err  # only the own calls have a price
    priced.write_text(priced.read_text() + "[r]\nprice = { input = 100, output = 100 }\n")
    again = cfr("eval", "sums.jsonl", *method, "--base-url", served.url)
    assert "$0.011" in again.out  # and 6 * 18 tokens at 100
    assert "+" not in again.out


@pytest.mark.usefixtures("priced")
def test_the_report_has_the_cost_of_an_attempt(cfr: Run, served: Server, tmp_path: Path) -> None:
    assert evaluate(cfr, served).code == 0
    ran = cfr("report", "-o", "out", "--no-figures")
    assert ran.code == 0, ran.err
    page = (tmp_path / "out" / "report.md").read_text()
    assert "Cost an attempt" in page
    assert "$0.000025" in page
    assert "prices that models.toml had when this was made" in page


@pytest.mark.usefixtures("priced")
def test_a_budget_that_is_too_small_for_one_call_says_the_way_out(cfr: Run, served: Server) -> None:
    ran = evaluate(cfr, served, "--max-cost", "0.01")
    assert ran.code == 7
    assert not served.requests
    said = "one call could cost up to $0.066, and --max-cost is $0.01; raise it, or lower "
    assert said + "--max-tokens" in ran.err
    lowered = evaluate(cfr, served, "--max-cost", "0.01", "--max-tokens", "4000")
    assert lowered.code == 0, lowered.err
    assert len(served.requests) == 12


@pytest.mark.usefixtures("priced")
def test_a_budget_that_is_spent_names_both_figures(cfr: Run, served: Server) -> None:
    usage = {"prompt_tokens": 11, "completion_tokens": 20_000}
    served.respond = lambda body: completion(f"\\boxed{{{number_in(body) + 1}}}", usage=usage)
    ran = evaluate(cfr, served, "--max-cost", "0.10")
    assert ran.code == 7
    assert "the budget is spent: $0.04 of $0.10" in ran.err
    assert "the next call could cost up to $0.066" in ran.err
    assert len(served.requests) == 1


LONG = ("direct", "vote(base=direct,samples=3)", "vote(base=direct,samples=3,check=off)", "check")


@pytest.mark.usefixtures("priced")
def test_at_eighty_columns_the_cost_stays_and_what_goes_is_named(cfr: Run, served: Server) -> None:
    methods = [word for method in LONG for word in ("--method", method)]
    given = ("eval", "sums.jsonl", *methods, "--base-url", served.url, "--model", "m")
    ran = cfr(*given, COLUMNS="80")
    assert ran.code == 0, ran.err
    for shown in (ran.out, cfr("runs", COLUMNS="80").out):
        assert max(map(len, shown.splitlines())) <= 80
        assert "cost" in shown
        assert re.search(r"vote\(base=direct, .*\n *samples=3, *\n *check=off\) *\n", shown)
        assert "In all rows: benchmark sums, model m." in shown
    narrow = cfr("runs", COLUMNS="60").out
    assert "Not shown at this width: no answer" in narrow
    assert max(map(len, narrow.splitlines())) <= 60


@pytest.mark.usefixtures("priced")
def test_a_running_evaluation_fits_its_terminal(served: Server, tmp_path: Path) -> None:
    methods = [word for method in LONG for word in ("--method", method)]
    shown = on_terminal(
        served, tmp_path, "eval", "sums.jsonl", *methods, "--model", "m", columns=80
    )
    lines = [line.rstrip() for line in shown.splitlines()]
    rows = [line for line in lines if "24/24" in line or " 0/24" in line]
    assert len(rows) > len(LONG), "those of the running table, and of the last"
    assert all(len(row) <= 80 for row in rows)
    assert any(" 0/24" in row for row in rows)
    assert "0 of 96 attempts, " in shown


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


def test_a_key_is_not_needed_to_look_ahead(cfr: Run, served: Server) -> None:
    assert "not in the catalogue" in cfr("eval", "--dry-run", "--model", "gpt-7").err
    ran = cfr("eval", "sums.jsonl", "--dry-run", "--model", "deepseek-chat", "--limit", "1")
    assert ran.code == 0, ran.err
    nameless = cfr("eval", "sums.jsonl", "--dry-run", "--base-url", served.url)
    assert "With --model NAME earlier runs" in nameless.out
