import asyncio
import json
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from instructed import TITLE, replies, request_store, requests
from stored import attempt
from sums import number_in, right, sums
from sums_run import execute, make_sums, run_sums

from constraint_first.answer.grade import GradingCase, Verdict, grade_each
from constraint_first.answer.workers import Workers
from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import write_instructions
from constraint_first.error import InputError
from constraint_first.model.client import Client
from constraint_first.model.limit import Cost, Price, PriceList
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem
from constraint_first.protocol import Call, Completion, Usage
from constraint_first.run.job import prepare, run
from constraint_first.store import database as schema
from constraint_first.store import query as regrading
from constraint_first.store.database import StoreError
from constraint_first.store.query import (
    AttemptLine,
    Failure,
    SeriesName,
    SeriesResult,
    Shown,
    Tally,
    attempt_columns,
    attempt_rows,
    cost_of,
    count_begun,
    count_problems,
    explain_ending,
    failures,
    find_series,
    list_problems,
    most_frequent_reason,
    outcome_rows,
    problem_rows,
    problem_scores,
    read_attempt,
    read_growth,
    regrade,
    series_costs,
    stage_rows,
    summaries,
    transcript_rows,
    use_by_model,
    without_numbers,
)
from constraint_first.store.series import Series
from constraint_first.store.store import Store

STAGE1 = '{"raw_constraints": [{"type": "domain", "description": "an integer"}]}'


def by_stage(call: Call) -> str:
    return STAGE1 if call.stage == "stage1" else right(call)


async def test_stages_add_up_calls_tokens_and_seconds(url: str) -> None:
    with Store(url) as store:
        await run_sums(store, "cfr", 3, 2, Scripted(by_stage))
        total = {row["stage"]: row for row in stage_rows(store)}
        single = [json.loads(row["stages"]) for row in attempt_rows(store)]
    assert {stage: row["calls"] for stage, row in total.items()} == {"stage1": 6, "stage2": 6}
    for name in ("input_tokens", "output_tokens", "seconds"):
        for stage, row in total.items():
            assert abs(row[name] - sum(one[stage][name] for one in single)) < 1e-9
    assert total["stage1"]["seconds"] > 0


async def test_the_model_of_a_stage_is_told_where_it_is_another(url: str) -> None:
    engines = Client(Scripted(right), {"org/small:7b@q4": Scripted(lambda _call: STAGE1)})
    with Store(url) as store:
        await run_sums(store, "cfr(extractor=org/small:7b@q4)", 2, 1, engines)
        stages = [json.loads(row["stages"]) for row in attempt_rows(store)]
        assert {row["stage"] for row in stage_rows(store)} == {"stage1", "stage2"}
    assert [one["stage1"]["model"] for one in stages] == ["org/small:7b@q4"] * 2
    assert all("model" not in one["stage2"] for one in stages)


async def test_outcomes_are_light_and_single_attempts_whole(url: str) -> None:
    with Store(url) as store:
        await run_sums(store, runs=2)
        light, (whole, *_) = list(outcome_rows(store)), attempt_rows(store)
        key = ("sums", "direct", "m", light[0]["decoding"], "p1", 1)
        other = (*key[:4], "p2", 0)
        found = dict(transcript_rows(store, [key, (*key[:5], 9), other]))
        asked = {row["name"]: row["text"] for row in problem_rows(store)}
    assert len(light) == 6
    assert not {"text", "problem_text", "error"} & light[0].keys()
    assert {*found} == {key, other}, "neither the other run of p1 nor that of p2"
    assert "boxed" in found[key]["text"]
    assert found[key]["problem_text"] == asked["p1"]
    columns = attempt_columns()
    assert list(whole) == list(columns)
    for name, value in whole.items():
        assert value is None or isinstance(value, columns[name]), name


async def test_stages_of_unfinished_attempts_are_not_mixed_in(url: str) -> None:
    with Store(url) as store:
        job = await run_sums(store, "cfr", 4, 1, Scripted(by_stage))
        _, middle, third, last = job.problems
        a, c = schema.attempts.c, schema.calls.c
        execute(store, schema.attempts.delete().where(a.problem.in_([middle, last])))
        execute(store, schema.calls.delete().where(c.problem == third, c.ordinal == 1))
        found = {row["problem"]: json.loads(row["stages"]) for row in attempt_rows(store)}
    assert {name: list(stages) for name, stages in found.items()} == {
        "p0": ["stage1", "stage2"],
        "p2": ["stage1"],
    }


PROGRAM = "```python\nprint(2)\n```"


def reply(call: Call) -> Completion:
    text = PROGRAM if call.stage == "program" else right(call)
    return Completion(text, usage=Usage(7, 3, 1, 0), reasoning="Hm.")


def fill(store: Store) -> None:
    """Run a method that makes a call and a program, and one that only calls."""
    for method in ("program", "direct"):
        make_sums(store, method, 2, 1, Scripted(reply))


def test_everything_that_is_stored_of_an_attempt(url: str) -> None:
    with Store(url) as store:
        fill(store)
        found = read_attempt(store, SeriesName("program"), "p1", 0)
    assert found.series["id"] == 1
    assert found.series["decoding"] == {"temperature": 0.7, "top_p": 0.95, "seed": None}
    assert found.problem == {"id": "p1", "number": 2, "text": "What is 1 + 1?", "gold": "2"}
    call, program = found.steps
    named = ("stage", "reply", "reasoning", "finish", "input_tokens", "reasoning_tokens")
    assert [call[name] for name in named] == ["program", PROGRAM, "Hm.", "stop", 7, 1]
    assert "What is 1 + 1?" in str(call["messages"])
    assert (program["program"], program["output"], program["error"]) == ("print(2)\n", "2\n", "")
    written = found.to_json()
    assert (written["status"], written["answer"], written["verdict"]) == ("ok", "2", "correct")
    assert written["steps"] == [call, program]


def test_a_series_goes_by_its_number_its_method_its_label_or_its_family(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        for method in ("direct", "cfr(reply=json)"):
            known = store.register(Series("sums", method, "m"), sums(2))
            row = attempt(known.series, known.problems["p0"])
            execute(store, schema.attempts.insert(), row)
        for name, number in (("2", 2), ("direct", 1), ("direct cot", 1), ("cfr", 2)):
            assert read_attempt(store, SeriesName(name), "1", 0).series["id"] == number


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store in which a method was run on two benchmarks, and another was begun."""
    with Store(str(tmp_path / "runs.db")) as opened:
        numbered = (Problem("Which?", id="2", answer="1"), Problem("What?", id="x", answer="1"))
        for benchmark, problems in (("sums", sums(2)), ("names", numbered)):
            known = opened.register(Series(benchmark, "direct", "m"), problems)
            number = next(iter(known.problems.values()))
            row = attempt(known.series, number, 1)
            execute(opened, schema.attempts.insert(), row)
        yield opened


def test_an_id_comes_before_a_place(store: Store) -> None:
    found = read_attempt(store, SeriesName("2"), "2", 1)
    assert (found.problem["text"], found.problem["number"]) == ("Which?", 1)
    found = read_attempt(store, SeriesName("direct", benchmark="names", model="m"), "1", 1)
    assert found.problem["text"] == "Which?"


MISSING: list[tuple[str, dict[str, str], str, int, str]] = [
    ("direct", {}, "1", 1, r"'direct' is 2 series: 1 \(sums, m\), 2 \(names, m\); na"),
    ("direkt", {}, "1", 1, r"no series 'direkt' \('cfr runs' .*did you mean 'direct'"),
    ("7", {}, "1", 1, r"no series '7' .*; choose from 1, 2"),
    ("1", {"model": "n"}, "1", 1, "has no model 'n'; choose from m"),
    ("1", {"benchmark": "sum"}, "1", 1, "no benchmark 'sum'; did you mean 'sums'"),
    ("2", {"benchmark": "sums"}, "1", 1, "has no series '2'"),
    ("1", {}, "9", 1, r"sums has no problem '9'; give its id \(the first is 'p0'\) or "),
    ("1", {}, "p00", 1, "no problem 'p00'; did you mean 'p0'"),
    ("1", {}, "p0", 4, r"series 1 \(direct\) has no run 4 of problem p0; it has 1"),
    ("1", {}, "p1", 0, "has no attempt at problem p1 yet; 'cfr eval' makes it"),
]


def test_what_is_not_there_is_told_with_what_is(store: Store, tmp_path: Path) -> None:
    for name, narrowed, problem, nth, said in MISSING:
        with pytest.raises(InputError, match=said):
            read_attempt(store, SeriesName(name, **narrowed), problem, nth)
    with (
        Store(str(tmp_path / "e.db")) as empty,
        pytest.raises(InputError, match="nothing has been"),
    ):
        read_attempt(empty, SeriesName("1"), "1", 0)


def test_an_attempt_that_was_broken_off_has_its_calls(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        fill(store)
        execute(store, schema.attempts.delete())
        found = read_attempt(store, SeriesName("direct"), "p0", 0)
    assert found.ending is None
    assert len(found.steps) == 1
    assert found.to_json()["status"] is None


def test_gold_instructions_are_told_in_words(url: str) -> None:
    request_store(url, 4, runs=1)
    with Store(url) as store:
        found = read_attempt(store, SeriesName("direct"), "r3", 0)
        right = read_attempt(store, SeriesName("direct"), "r1", 0)
    assert found.gold_name == "gold instructions"
    assert found.gold_shown.startswith("The reply does without “,”. The reply has at most 9")
    verdict, *_ = explain_ending(found)
    assert verdict.startswith("incorrect: it follows 2 of 3 instructions; broken: The reply has a")
    assert next(explain_ending(right)) == "correct: it follows 3 of 3 instructions"
    assert found.to_json()["tier"] == "instructions"


NO_VERDICT = {"verdict": None, "tier": None, "answer": None}


def fill_series(store: Store) -> None:
    """Five problems: right, mixed, wrong, without an answer, failed; and one that is under way."""
    known = store.register(Series("sums", "direct", "m"), sums(6))
    other = store.register(Series("sums", "cfr", "m"), sums(6))
    p = known.problems
    rows = [
        attempt(1, p["p0"], 0, finished_at=1.0),
        attempt(1, p["p0"], 1, finished_at=2.0),
        attempt(1, p["p1"], 0, finished_at=3.0),
        attempt(1, p["p1"], 1, verdict="incorrect", finished_at=4.0),
        attempt(1, p["p2"], 0, verdict="incorrect", answer="<b>", finished_at=5.0),
        attempt(1, p["p3"], 0, verdict="incorrect", status="unparsed", answer=None),
        attempt(1, p["p4"], 0, status="failed", error="HTTP 500", **NO_VERDICT),
        attempt(other.series, p["p0"], 0, finished_at=9.0),
    ]
    execute(store, schema.attempts.insert(), rows)
    key = ("series", "problem", "run")
    begun = [(1, p["p0"], 0), (1, p["p5"], 0), (1, p["p5"], 1), (2, p["p1"], 0)]
    texts = dict.fromkeys(("stage", "digest", "messages", "text", "reasoning", "finish"), "")
    counts = {column.name: 0 for column in schema.calls.c if column.name not in (*key, *texts)}
    calls = [{**dict(zip(key, one, strict=True)), **texts, **counts} for one in begun]
    execute(store, schema.calls.insert(), [one | {"reported": True} for one in calls])


def names(store: Store, shown: Shown, search: str = "") -> list[str]:
    return [line.name for line in list_problems(store, 1, shown, search, most=9).lines]


@pytest.fixture
def listed(url: str) -> Iterator[Store]:
    with Store(url) as opened:
        fill_series(opened)
        yield opened


def test_problems_are_listed_by_how_they_went_and_by_their_words(listed: Store) -> None:
    expected: dict[Shown, list[str]] = {
        "all": ["p0", "p1", "p2", "p3", "p4"],
        "right": ["p0"],
        "mixed": ["p1"],
        "wrong": ["p2", "p3"],
        "unanswered": ["p3"],
        "failed": ["p4"],
    }
    assert {shown: names(listed, shown) for shown in expected} == expected
    words = {"P1": ["p1"], " 2 + 1 ": ["p2"], "%": [], "_": [], "'; DROP TABLE attempts": []}
    assert {said: names(listed, "all", said) for said in words} == words
    first, second, *_ = list_problems(listed, 1, most=9).lines
    assert (first.right, first.judged, first.tokens, first.seconds) == (2, 2, 6, 1.0)
    assert first.opening == "What is 0 + 1?"
    assert second.attempts == (
        AttemptLine(0, "ok", "correct", "1"),
        AttemptLine(1, "ok", "incorrect", "1"),
    )


def test_a_page_at_a_time(listed: Store) -> None:
    page = list_problems(listed, 1, at=2, most=2)
    beyond = list_problems(listed, 1, at=99, most=2)
    assert ([line.name for line in page.lines], page.total) == (["p2", "p3"], 5)
    assert (beyond.lines, beyond.total) == ((), 5)


def test_a_series_goes_by_all_that_names_it(listed: Store) -> None:
    decoding = '{"temperature":0.7,"top_p":0.95,"seed":null}'
    assert find_series(listed, "sums", "cfr", "m", decoding) == 2
    with pytest.raises(InputError, match="has no series of cfr on sums with n"):
        find_series(listed, "sums", "cfr", "n", decoding)


def test_what_is_under_way_is_counted(listed: Store) -> None:
    assert count_begun(listed) == {1: 2, 2: 1}
    assert count_problems(listed) == {"sums": 6}


def test_growth_follows_the_clock(listed: Store) -> None:
    found = read_growth(listed, 1)
    every = read_growth(listed)
    none = read_growth(listed, 7)
    assert found.times == (1.0, 1.0, 2.0, 3.0, 4.0, 5.0)  # the one without an answer ended first
    assert found.attempts == (1, 2, 3, 4, 5, 6)
    assert found.right[-1] == 3
    assert every.attempts[-1] == 7
    assert none.times == ()


def test_what_was_read_from_a_reply_that_is_judged_whole_is_no_answer(url: str) -> None:
    with Store(url) as store:
        said = Scripted(lambda _: "It is \\boxed{7}.")
        asyncio.run(
            run(store, [prepare(store, Series("r", "direct", "m"), requests(1), 1, said)], 1)
        )
        (line,) = list_problems(store, 1, most=5).lines
    assert [(one.verdict, one.answer) for one in line.attempts] == [("correct", None)]


SERIES = Series("sums", "direct", "model-a", Decoding(temperature=0, seed=3))

# How attempts ended, how they were judged, and how often.
ENDINGS = [
    ("ok", "correct", 5),
    ("ok", "incorrect", 2),
    ("ok", "undecided", 1),
    ("ok", None, 1),  # a problem without a gold answer
    ("truncated", "incorrect", 3),
    ("unparsed", "incorrect", 2),
    ("failed", None, 4),
]


def fill_summary(store: Store) -> None:
    registered = store.register(SERIES, sums(1))
    (problem,) = registered.problems.values()
    tokens = {"input_tokens": 10, "output_tokens": 7, "reasoning_tokens": 3, "cached_tokens": 1}
    made = [(status, verdict) for status, verdict, count in ENDINGS for _ in range(count)]
    rows = [
        attempt(registered.series, problem, n, status=status, verdict=verdict, **tokens)
        for n, (status, verdict) in enumerate(made)
    ]
    execute(store, schema.attempts.insert(), rows)


async def test_problems_are_counted_by_their_right_runs(url: str) -> None:
    """Seven problems in three runs, each right in as many as its number says, one never judged."""
    with Store(url) as store:
        registered = store.register(SERIES, sums(8))
        verdicts = {(n, r): "correct" if r < n else "undecided" for n in range(7) for r in range(3)}
        rows = [
            attempt(registered.series, registered.problems[f"p{n}"], r, verdict=verdict)
            for (n, r), verdict in verdicts.items()
        ]
        failed = {"status": "failed", "verdict": None}
        rows.append(attempt(registered.series, registered.problems["p7"], 0, **failed))
        execute(store, schema.attempts.insert(), rows)
        (scores,) = problem_scores(store).values()
        (summary,) = summaries(store)
        (first,) = problem_scores(store, schema.attempts.c.run == 0).values()
    assert scores == summary.scores == {(0, 3): 1, (1, 3): 1, (2, 3): 1, (3, 3): 4}
    assert summary.tally.correct == 15
    assert first == {(0, 1): 1, (1, 1): 6}


def test_a_summary_for_programs(url: str) -> None:
    with Store(url) as store:
        fill_summary(store)
        (summary,) = summaries(store)
    assert summary.to_json() == {
        "series": 1,
        "benchmark": "sums",
        "method": "direct",
        "label": "Direct CoT",
        "model": "model-a",
        "decoding": {"temperature": 0, "top_p": 0.95, "seed": 3},
        "attempts": 18,
        "ok": 9,
        "truncated": 3,
        "unparsed": 2,
        "failed": 4,
        "undecided": 1,
        "accuracy": pytest.approx(5 / 13),  # pyright: ignore
        "tokens": 306,
        "input_tokens": 180,
        "output_tokens": 126,
        "shared_tokens": 0,
    }
    assert (summary.tally.correct, summary.scores) == (5, {(5, 13): 1})
    assert summary.tally.usage == Usage(180, 126, 54, 18)


async def test_each_series_is_counted_by_itself(url: str) -> None:
    models = {"model-a": 2, "model-b": 1}
    with Store(url) as store:
        for model, runs in models.items():
            await run_sums(store, replace(SERIES, model=model), 5, runs)
        store.register(replace(SERIES, model="model-c"), sums(5))
        found = summaries(store)
    assert [(s.series.model, s.tally.total, s.tally.ok, s.accuracy) for s in found] == [
        ("model-a", 10, 10, 1.0),
        ("model-b", 5, 5, 1.0),
        ("model-c", 0, 0, None),
    ]
    assert found[2].tally.usage == Usage()
    assert found[2].to_json()["accuracy"] is None


def test_failures_are_listed_by_reason_with_the_first_attempt_of_each(url: str) -> None:
    whys = ["slow, 3 s", "odd", "odd", None, "odd", "slow, 4 s"]
    with Store(url) as store:
        registered = store.register(SERIES, sums(3))
        rows = [
            attempt(registered.series, registered.problems[f"p{n % 3}"], n // 3, error=why)
            | {"status": "failed" if why else "ok"}
            for n, why in enumerate(whys)
        ]
        execute(store, schema.attempts.insert(), rows)
        found = failures(store)
    assert found == [
        Failure("odd", 3, "sums", "direct", "model-a", "p1", 0),
        Failure("slow, 3 s", 2, "sums", "direct", "model-a", "p0", 0),
    ]
    assert found[1].to_json() == {
        "reason": "slow, 3 s",
        "count": 2,
        "benchmark": "sums",
        "method": "direct",
        "model": "model-a",
        "problem": "p0",
        "run": 0,
        "way_out": "run the same 'cfr eval' command again",
    }


@pytest.mark.parametrize(
    ("reason", "way"),
    [
        ("http://h: HTTP 401; put a key into KEY", "put a key into KEY, then run the same"),
        ("http://h: HTTP 500 (a; b)", "run the same"),
        ("odd", "run the same"),
        ("", "run the same"),
    ],
)
def test_a_failure_knows_its_way_out(reason: str, way: str) -> None:
    failure = Failure(reason, 1, "sums", "direct", "m", "p0", 0)
    assert failure.way_out == f"{way} 'cfr eval' command again"
    assert "eval" not in replace(failure, benchmark="served", reason="away").way_out


def test_settings_that_are_no_json_are_told_in_words(url: str) -> None:
    with Store(url) as store:
        fill_summary(store)
        execute(store, schema.series.update().values(decoding="{not json"))
        with pytest.raises(StoreError, match=r"cannot be read \("):
            summaries(store)


async def test_a_smaller_run_counts_only_what_belongs_to_it(url: str) -> None:
    with Store(url) as store:
        engine = Scripted(lambda call: Completion(right(call), usage=Usage(3, 4)))
        await run_sums(store, SERIES, 6, 3, engine)
        job = prepare(store, SERIES, sums(2), 2, engine)
        assert store.is_shared or not list(job.missing())
    tally = job.tally
    assert (tally.total, tally.ok, tally.correct, tally.resumed) == (4, 4, 4, 4)
    assert tally.usage == Usage(12, 16)


def test_reasons_that_differ_in_a_number_are_one() -> None:
    reasons = Counter(
        {"odd": 3, "HTTP 429 (again in 1.5s, req_8f3a)": 2, "HTTP 429 (again in 2s, req_c1)": 2}
    )
    results = [SeriesResult(SERIES, Tally(9, reasons=reasons))]
    assert most_frequent_reason(results) == ("HTTP 429 (again in 1.5s, req_8f3a)", 4)
    assert without_numbers("HTTP 429") != without_numbers("HTTP 503")


METHOD = "llm-router(model=small)"


@pytest.fixture
def spent(tmp_path: Path) -> Iterator[Store]:
    """Two attempts at sums, of which a small model decided how they are made."""
    small = Scripted(lambda _: Completion('{"restrictive": "no"}', usage=Usage(100, 10)))
    main = Scripted(lambda _: Completion(r"\\boxed{1}", usage=Usage(50, 500, cached=40)))
    with Store(str(tmp_path / "runs.db")) as spent:
        series, engine = Series("sums", METHOD, "large"), Client(main, {"small": small})
        prices = PriceList(Price(1, 10, 0.5), {"small": Price(2, 2)})
        job = prepare(spent, series, sums(2), 1, engine, prices)
        asyncio.run(run(spent, [job], 1))
        assert job.tally.cost == again(spent, engine, prices)
        yield spent


def again(spent: Store, engine: Client, prices: PriceList) -> Cost | None:
    return prepare(spent, Series("sums", METHOD, "large"), sums(2), 1, engine, prices).tally.cost


def test_calls_are_added_up_by_the_model_that_answered(spent: Store) -> None:
    (used,) = use_by_model(spent).values()
    assert {model: (use.calls, use.usage) for model, use in used.items()} == {
        "": (2, Usage(100, 1_000, cached=80)),
        "small": (2, Usage(200, 20)),
    }
    prices = PriceList(Price(1, 10, 0.5), {"small": Price(2, 2)})
    own, small = 20 * 1 + 80 * 0.5 + 1_000 * 10, 220 * 2
    assert cost_of(used, prices) == Cost(pytest.approx((own + small) / 10**6))  # pyright: ignore
    assert cost_of(used, PriceList()) is None


def test_todays_prices(spent: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert series_costs(spent, {1: "large", 2: "none"}) == {1: None, 2: None}
    path = tmp_path / "models.toml"
    monkeypatch.setenv("CFR_MODELS", str(path))
    path.write_text("[large]\nprice = { input = 0, output = 1000 }\n")
    found = series_costs(spent, {1: "large", 2: "none"})
    assert str(found[1]) == "$1.00+"  # nobody knows what the small one costs
    assert found[2] is None
    path.write_text(path.read_text() + "[small]\nprice = { input = 0, output = 1000 }\n")
    assert str(series_costs(spent, {1: "large"})[1]) == "$1.02"


METHODS = [
    "direct",
    "cfr",
    "self-consistency(samples=3)",
    "self-consistency(base=cfr,samples=3)",
    "cfr(extractor=small)",
]


def counting(call: Call) -> Completion:
    """Answer; what a reply says, and what a prompt counts, differs from problem to problem."""
    number = number_in(call)
    return Completion(f"It is \\boxed{{{number + 1}}}.", usage=Usage(100 + number, 7))


@pytest.mark.parametrize("method", METHODS)
async def test_shared_tokens_are_those_counted_in_the_run(url: str, method: str) -> None:
    with Store(url) as prompted:
        job = await run_sums(prompted, method, 4, 2, Scripted(counting))
        counted = job.tally.usage.shared
        rows, told = list(attempt_rows(prompted)), list(outcome_rows(prompted))
        (summary,) = summaries(prompted)
        again = prepare(prompted, Series("sums", method, "m"), sums(4), 2, Scripted(counting))
    assert sum(row["shared_tokens"] for row in rows) == counted
    assert sum(row["shared_tokens"] for row in told) == counted
    assert summary.tally.usage.shared == again.tally.usage.shared == counted
    assert (
        {type(row["shared_tokens"]) for row in told} == {type(summary.tally.usage.shared)} == {int}
    )
    prompts = sum(range(100, 104))
    # Of three samples two repeat each prompt; where a vote is over CFR, both stages do.
    expected = {METHODS[2]: 4 * prompts, METHODS[3]: 8 * prompts}
    assert counted == expected.get(method, 0)


REQUESTS = Series("requests", "direct", "model-a")


def spoil(store: Store, where: sa.ColumnElement[bool], **values: str | None) -> None:
    execute(store, schema.attempts.update().where(where).values(**values))


async def test_verdicts_of_another_grader_are_put_right(url: str) -> None:
    with Store(url) as store:
        await run_sums(store, SERIES, 6, 2)
        before = list(attempt_rows(store))
        spoil(store, schema.attempts.c.run == 1, verdict="incorrect")
        assert summaries(store)[0].accuracy == pytest.approx(0.5)  # pyright: ignore
        assert regrade(store) == 6
        assert list(attempt_rows(store)) == before
        assert regrade(store) == 0


async def test_a_corrected_gold_answer_changes_the_verdict(url: str) -> None:
    with Store(url) as store:
        await run_sums(store, SERIES, 6, 2)
        wrong = schema.problems.update().where(schema.problems.c.name == "p0")
        execute(store, wrong.values(answer="99"))
        assert regrade(store) == 2
        (summary,) = summaries(store)
    assert (summary.tally.correct, summary.scores) == (10, {(2, 2): 5, (0, 2): 1})


async def test_failed_attempts_stay_without_a_verdict(url: str) -> None:
    with Store(url) as store:
        await run_sums(store, SERIES, 6, 2)
        spoil(store, schema.attempts.c.run == 0, status="failed", verdict=None, tier=None)
        assert regrade(store) == 0
        (summary,) = summaries(store)
    assert (summary.tally.failed, summary.scores) == (6, {(1, 1): 6})


async def test_gold_instructions_are_checked_on_the_stored_reply(url: str) -> None:
    """Beside gold answers in one store, with more attempts than a page has."""
    with Store(url) as store:
        await run_sums(store, SERIES, 6, 2)
        jobs = [prepare(store, REQUESTS, requests(12), 2, Scripted(replies))]
        await run(store, jobs, width=4)
        before = list(attempt_rows(store))
        ours = [row for row in before if row["benchmark"] == "requests"]
        assert Counter((row["verdict"], row["tier"]) for row in ours) == {
            ("correct", "instructions"): 18,
            ("incorrect", "instructions"): 6,
        }
        spoil(store, schema.attempts.c.run == 1, verdict="undecided", tier="exact")
        assert regrade(store) == 18
        assert list(attempt_rows(store)) == before
        other = schema.problems.update().where(schema.problems.c.name == "r0")
        execute(store, other.values(answer=write_instructions([TITLE])))
        assert regrade(store) == 2
        assert regrade(store) == 0


LONG = "So we go on. " * 2_000


def fill_regrade(store: Store, problems: int, runs: int) -> None:
    """Store long replies, each judged incorrect by another grader; those of the last run are."""
    registered = store.register(SERIES, sums(problems))
    numbers = [registered.problems[problem.id] for problem in sums(problems)]
    same = {"verdict": "incorrect", "text": LONG}
    with store.database.begin() as connection:
        for run_index in range(runs):
            wrong = run_index == runs - 1
            rows = [
                attempt(registered.series, number, run_index, answer=str(n + 1 + wrong), **same)
                for n, number in enumerate(numbers)
            ]
            connection.execute(schema.attempts.insert(), rows)


def verdicts(store: Store) -> Counter[str]:
    with store.database.connect() as connection:
        return Counter(connection.scalars(sa.select(schema.attempts.c.verdict)))


def peak_of_regrading(store: Store, problems: int, runs: int) -> int:
    """Fill a store anew and say how much memory its regrading took at the most."""
    schema.METADATA.drop_all(store.database)
    schema.METADATA.create_all(store.database)
    fill_regrade(store, problems, runs)
    tracemalloc.start()
    try:
        regrade(store)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_store(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regrading, "_REGRADE_AT_ONCE", 50)
    with Store(url) as store, Workers(1) as workers:  # the grader reads ahead for each worker
        monkeypatch.setattr(regrading, "grade_each", partial(grade_each, workers=workers))
        peak_of_regrading(store, 100, 2)  # what is loaded once is loaded
        small = peak_of_regrading(store, 100, 2)
        # Another thread of the process may allocate meanwhile, so the lower of two counts.
        large = min(peak_of_regrading(store, 400, 4) for _ in range(2))
        assert verdicts(store) == {"correct": 1_200, "incorrect": 400}
    assert large < 2 * small, "eight times as many attempts took more memory"
    assert large < 100 * len(LONG), "the texts of 1,600 attempts were loaded"


@pytest.fixture
def dies_at_250(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the grader be interrupted at its 250th verdict, with batches of a hundred."""

    def interrupted(cases: Iterable[GradingCase]) -> Iterator[Verdict]:
        for n, verdict in enumerate(grade_each(cases)):
            if n == 250:
                raise KeyboardInterrupt
            yield verdict

    monkeypatch.setattr(regrading, "_REGRADE_AT_ONCE", 100)
    monkeypatch.setattr(regrading, "grade_each", interrupted)


@pytest.mark.usefixtures("dies_at_250")
def test_an_interrupted_regrading_is_redone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(url) as store:
        fill_regrade(store, problems=200, runs=3)
        with pytest.raises(KeyboardInterrupt):
            regrade(store)
        assert verdicts(store) == {"correct": 100, "incorrect": 500}
        monkeypatch.setattr(regrading, "grade_each", grade_each)
        assert regrade(store) == 300
        assert verdicts(store) == {"correct": 400, "incorrect": 200}
        assert regrade(store) == 0


def test_judging_holds_no_connection(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[str] = []

    def watched(cases: Iterable[GradingCase]) -> Iterator[Verdict]:
        for verdict in grade_each(cases):
            held.append(store.database.pool.status())
            yield verdict

    monkeypatch.setattr(regrading, "_REGRADE_AT_ONCE", 10)
    monkeypatch.setattr(regrading, "grade_each", watched)
    with Store(url) as store:
        fill_regrade(store, problems=20, runs=2)
        assert regrade(store) == 20
    assert len(held) == 40
    assert all("Current Checked out connections: 0" in status for status in held)


def test_a_store_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with Store(str(tmp_path / "runs.db")) as store:
        fill_regrade(store, problems=1, runs=2)
        refuse = "BEGIN SELECT RAISE(FAIL, 'the disk is full'); END"
        execute(store, f"CREATE TRIGGER full BEFORE UPDATE ON attempts {refuse}")
        with pytest.raises(StoreError, match=r"runs\.db: cannot be regraded.*the disk is full"):
            regrade(store)
