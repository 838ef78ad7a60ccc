import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from sums import right, sums
from sums_run import PROBLEMS, execute, make_sums
from sums_run import SERIES as SUMS_RUN_SERIES
from sums_run import evaluate as make_all

from constraint_first.attempt.drive import Scripted
from constraint_first.benchmark.registry import load
from constraint_first.cli import root
from constraint_first.error import InputError
from constraint_first.method.constraint_first import CFR, renamed
from constraint_first.method.registry import METHODS, Wording, make, original_prompts, reword
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem, Prompt, Solution
from constraint_first.protocol import Call, Completion, Steps, Usage, ask
from constraint_first.report.reader import open_study, read_store
from constraint_first.run.forecast import read_earlier_runs
from constraint_first.sandbox.interpreter import SandboxMissing
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError
from constraint_first.store.merge import merge
from constraint_first.store.query import (
    SeriesName,
    attempt_rows,
    find_series,
    mean_output,
    problem_rows,
    read_attempt,
    read_series,
    summaries,
)
from constraint_first.store.series import (
    Registered,
    Series,
    find_registered,
    fingerprint,
    probe_calls,
    read_prompts,
)
from constraint_first.store.store import Store

SERIES = Series("aime24", "routed-cfr(reply=json)", "m")


@dataclass(frozen=True)
class Asks:
    """Asks the same call a number of times, or for ever."""

    label: ClassVar[str] = "Asks"
    call: Call
    times: int | None = 1

    def solve(self, problem: Problem) -> Steps[Solution]:
        asked = 0
        while self.times is None or asked < self.times:
            asked += 1
            yield (self.call,)
        return Solution("4", problem.text)


CALL = Call.user("What is 2 + 2?", stage="direct", max_tokens=100)


@pytest.mark.parametrize(
    ("decoding", "system", "stored"),
    [
        (Decoding(), "", {}),
        (Decoding(1.0, 0.9, 7), "Be brief.", {"temperature": 1.0, "top_p": 0.9, "seed": 7}),
        (Decoding(None, None), "", {"temperature": None, "top_p": None}),
        (Decoding(max_tokens=4096), "", {"max_tokens": 4096}),
        (Decoding(extra='{"top_k": 5}'), "", {"extra": '{"top_k": 5}'}),
    ],
)
def test_settings_as_they_are_stored(
    decoding: Decoding, system: str, stored: dict[str, Any]
) -> None:
    said = {"system": system} if system else {}
    found = replace(SERIES, decoding=decoding, system=system).settings
    assert found == {"temperature": 0.7, "top_p": 0.95, "seed": None} | stored | said
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("name", METHODS)
def test_every_method_comes_to_an_end_on_the_probes(name: str) -> None:
    calls = list(probe_calls(make(name)))
    assert 2 <= len(calls) <= 40
    assert calls == list(probe_calls(make(name)))


def test_a_fingerprint_is_the_methods_configuration_and_all_that_it_asks() -> None:
    first = Asks(CALL)
    changed = [
        replace(first, times=2),
        replace(first, call=replace(CALL, max_tokens=101)),
        replace(first, call=replace(CALL, json=True)),
        replace(first, call=Call.user("What is 2 + 3?", stage="direct", max_tokens=100)),
    ]
    prints = [fingerprint(method) for method in (first, *changed)]
    assert len(set(prints)) == len(prints)
    assert fingerprint(Asks(CALL)) == prints[0]
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in prints)
    assert len(list(probe_calls(Asks(CALL, times=None)))) == 2 * 64, "one without end"


def test_built_in_methods_and_models_differ() -> None:
    others = ("cfr(extractor=a)", "cfr(extractor=b)", "llm-router(model=a)")
    prints = {name: fingerprint(make(name)) for name in (*METHODS, *others)}
    assert len(set(prints.values())) == len(prints), prints
    assert fingerprint(CFR(extractor="a")) == prints["cfr(extractor=a)"]
    assert len(fingerprint(CFR(extractor="\ud83d"))) == 16


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("direct", "3941a16d61d0834a"),
        ("cfr", "c6eb70f2bd0d9489"),
        ("cfr(prompts=own)", "c6eb70f2bd0d9489"),
        ("cfr(reply=json)", "946b01793ae4ad91"),
        ("cfr(question=1)", "7a69b136df6c9821"),
        ("cfr(budget=cues)", "3050dcb04291b2ba"),
        ("cfr(constraints=all)", "c612e330a062fe79"),
        ("cfr(json=off)", "cbdb17f08a6a5028"),
        ("cfr(extractor=small)", "f255012702240d35"),
        ("cfr(prompts=paper)", "555814fa50c0d722"),
        ("cfr(prompts=paper,reply=prose)", "6b48d0a1442651c2"),
        ("cfr(prompts=paper,constraints=6+3)", "d47f87650dbce12d"),
        ("routed-cfr", "d15548f75cd0ea74"),
        ("routed-cfr(reply=json)", "0946a31fae7e98c0"),
        ("routed-cfr(prompts=paper)", "508171e928912276"),
        ("routed-cfr(prompts=paper,convention=aime)", "b3e0337575b648c1"),
        ("llm-router", "15abac59764d5570"),
        ("llm-router(prompts=paper)", "5b536f113c6b1180"),
        ("stated-cfr(own=join)", "c9bf5c3d95422566"),
        ("self-consistency(base=cfr)", "206ea4f2f0f8817f"),
        ("self-consistency(base=routed-cfr)", "e834c78829fb0c06"),
        ("self-consistency(base=cfr(prompts=paper),samples=3)", "7ea89629ffc9bf77"),
        ("vote(base=program+cfr,fallback=routed-cfr(prompts=paper))", "04596d91bd7cbbd3"),
    ],
)
def test_methods_of_old_stores_are_still_the_same(name: str, known: str) -> None:
    # As the last version without CFR-brief wrote them; the oldest are from before CFR had options.
    assert fingerprint(make(renamed(name))) == known


def test_a_method_that_breaks_on_the_probes_is_known_by_what_it_asked() -> None:
    @dataclass(frozen=True)
    class Breaks:
        label: ClassVar[str] = "Breaks"
        asks: str = "What?"

        def solve(self, problem: Problem) -> Steps[Solution]:
            yield from ask(Call.user(self.asks, stage="direct", max_tokens=1))
            raise KeyError(problem.text)

    assert [call.messages[0].content for call in probe_calls(Breaks())] == ["What?", "What?"]
    assert fingerprint(Breaks()) == fingerprint(Breaks())
    assert fingerprint(Breaks()) != fingerprint(Breaks(asks="Who?"))
    assert len(fingerprint(Breaks(asks="\ud83d"))) == 16


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("checked", "correct"),
        ("vote", "direct"),
        ("program", "direct"),
        ("prove", "translate"),
        ("cfr-brief(question=1)", "clarify"),
        ("search", "finish"),
    ],
)
def test_prompts_that_only_some_replies_lead_to_count_too(name: str, prompt: str) -> None:
    original = original_prompts()[prompt]
    changed = replace(original, text=original.text + " Please.")  # by what it asks alone
    reworded = reword(make(name), Wording("polite", (changed,)))
    assert fingerprint(reworded) != fingerprint(make(name))


def test_own_prompts_count_even_where_no_probe_leads_to_them() -> None:
    original = original_prompts()["direct"]
    own = replace(original, text=original.text + " Please.", replaced=True)
    reworded = reword(make("cfr"), Wording("polite", (own,)))
    assert [*probe_calls(reworded)] == [*probe_calls(make("cfr"))]
    assert fingerprint(reworded) != fingerprint(make("cfr"))


# What series of today were called, and how the last version before wrote them into a store.
BEFORE = {
    "cfr-brief": ("cfr", "CFR (always-on)", "c6eb70f2bd0d9489"),
    "cfr": ("cfr(prompts=paper)", "CFR (always-on)", "555814fa50c0d722"),
    "routed-cfr-brief(reply=json)": ("routed-cfr(reply=json)", "Routed-CFR", "0946a31fae7e98c0"),
    "self-consistency(base=cfr-brief)": (
        "self-consistency(base=cfr)",
        "Self-Consistency",
        "206ea4f2f0f8817f",
    ),
    "direct": ("direct", "Direct CoT", "3941a16d61d0834a"),
}


LABELS = ["CFR-brief (always-on)", "CFR (always-on)", "Routed-CFR-brief", "Self-Consistency"]
SUMS = sums(2)


def reply(call: Call) -> Completion:
    return Completion(right(call), usage=Usage(10, 20))


def evaluate(store: Store, method: str) -> list[Call]:
    engine = Scripted(reply)
    make_sums(store, method, 2, 1, engine)
    return engine.asked


def rows(store: Store) -> dict[int, tuple[str, str, str]]:
    s = schema.series.c
    found = store.read(sa.select(s.id, s.method, s.label, s.fingerprint).order_by(s.id))
    return {number: (method, label, asked) for number, method, label, asked in found}


def age(store: Store) -> None:
    """Give the series of a store the names that the version before would have entered."""
    before = {number: BEFORE[row[0]] for number, row in rows(store).items()}
    # By way of names that none has: a name may pass from one series to another.
    for numbered in ({n: (str(n), "", "") for n in before}, before):
        for number, (method, label, asked) in numbered.items():
            values = {"method": method, "label": label, "fingerprint": asked}
            execute(store, schema.series.update().where(schema.series.c.id == number), values)


def fill(url: str) -> None:
    with Store(url) as store:
        for method in BEFORE:
            assert evaluate(store, method)
        age(store)


def test_a_store_from_before_shows_todays_names_and_is_not_touched(url: str) -> None:
    fill(url)
    with Store(url, existing=True) as store:
        stored = rows(store)
        assert [row[0] for row in stored.values()] == [row[0] for row in BEFORE.values()]
        found = summaries(store)
        assert [one.series.method for one in found] == list(BEFORE)
        assert [one.series.label for one in found] == [*LABELS, "Direct CoT"]
        study = read_store(store)
        assert [(arm.method, arm.label) for arm in study.arms] == [
            (one.series.method, one.series.label) for one in found
        ]
        key = (*study.arms[0].key, "p0", 0)
        assert study.transcripts([key])[key].answer == "1"
        assert find_series(store, *study.arms[1].key) == 2
        assert read_series(store, 1).label == "CFR-brief (always-on)"
        assert read_attempt(store, SeriesName("cfr"), "p0", 0).series["id"] == 2
        assert read_attempt(store, SeriesName("cfr-brief"), "p0", 0).series["id"] == 1
        used = {one.series.method for one in read_earlier_runs(store, "m").uses}
        assert used == {*BEFORE}
        assert mean_output(store, "cfr-brief", "m")
        assert mean_output(store, "cfr(prompts=paper)", "m") is None
        assert rows(store) == stored


@pytest.mark.parametrize("again", [*BEFORE, "cfr(prompts=paper)", "cfr-brief(prompts=own)"])
def test_a_series_from_before_is_gone_on_with_by_its_name_of_today(again: str, url: str) -> None:
    fill(url)
    with Store(url) as store:
        assert evaluate(store, again) == []
        assert len(rows(store)) == len(BEFORE)
        assert [one.series.method for one in summaries(store)] == list(BEFORE)


def test_a_name_that_passed_to_the_paper_takes_nothing_from_the_variant(url: str) -> None:
    with Store(url) as store:
        evaluate(store, "cfr-brief")
        age(store)
        before = rows(store)
        with store.database.connect() as connection:
            papers = Series("sums", "cfr", "m")
            assert find_registered(connection, url, papers, SUMS) is None
            brief = find_registered(connection, url, Series("sums", "cfr-brief", "m"), SUMS)
        assert brief
        assert (brief.series, rows(store)) == (1, before)
        asked = evaluate(store, "cfr")
        assert "analyst of mathematical constraints" in asked[0].messages[0].content
        assert [row[:2] for row in rows(store).values()] == [
            ("cfr-brief", "CFR-brief (always-on)"),
            ("cfr", "CFR (always-on)"),
        ]
        assert evaluate(store, "cfr") == evaluate(store, "cfr-brief") == []
        assert [one.series.label for one in summaries(store)] == LABELS[:2]


def test_an_old_spelling_that_says_nothing_is_found_too(url: str) -> None:
    with Store(url) as store:
        evaluate(store, "cfr-brief")
        age(store)
        execute(store, schema.series.update().values(method="cfr(prompts=own)"))
        assert [one.series.method for one in summaries(store)] == ["cfr-brief(prompts=own)"]
        assert evaluate(store, "cfr-brief") == []


def test_stores_from_before_and_of_today_become_one(tmp_path: Path) -> None:
    for name in ("old", "new"):
        with Store(str(tmp_path / f"{name}.db")) as store:
            for method in BEFORE:
                evaluate(store, method)
            if name == "old":
                age(store)
    for target, first, second in (("a", "old", "new"), ("b", "new", "old")):
        with (
            Store(str(tmp_path / f"{first}.db"), existing=True) as one,
            Store(str(tmp_path / f"{second}.db"), existing=True) as other,
        ):
            merged = merge([one, other], str(tmp_path / f"{target}.db"), "first")
        assert (merged.series, merged.attempts) == (len(BEFORE), 2 * len(BEFORE))
        with Store(str(tmp_path / f"{target}.db")) as store:
            assert [one.series.method for one in summaries(store)] == list(BEFORE)
            assert [evaluate(store, method) for method in BEFORE] == [[]] * len(BEFORE)


def cfr(*arguments: str | Path) -> str:
    done = CliRunner().invoke(root, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", "-outcomes.jsonl.gz"])
def test_an_export_says_which_names_it_has(suffix: str, tmp_path: Path) -> None:
    store, path = str(tmp_path / "runs.db"), tmp_path / f"attempts{suffix}"
    fill(store)
    cfr("export", path, store, *(["--outcomes"] if "outcomes" in suffix else []))
    study = open_study(path)
    assert [arm.method for arm in study.arms] == list(BEFORE)
    assert [arm.label for arm in study.arms] == [*LABELS, "Direct CoT"]
    assert "CFR-brief" in cfr("compare", path)


def test_an_export_from_before_keeps_its_meaning(tmp_path: Path) -> None:
    path = tmp_path / "before.jsonl"
    lines = [
        {"problem": "p", "method": method, "label": label, "run": 0, "correct": True}
        for method, label, _ in BEFORE.values()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [arm.method for arm in open_study(path).arms] == list(BEFORE)
    # A file of somebody else's says what it says today.
    path.write_text('{"problem": "p", "method": "routed-cfr", "run": 0, "correct": true}\n')
    (arm,) = open_study(path).arms
    assert (arm.method, arm.label) == ("routed-cfr", "Routed-CFR")


async def test_a_changed_prompt_or_problem_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(url) as store:
        await make_all(store)
        changed = (replace(PROBLEMS[0], text="Another question?"), *PROBLEMS[1:])
        with pytest.raises(StoreError, match="problem p0 of sums has another text"):
            store.register(SUMS_RUN_SERIES, changed)
        assert {row["text"] for row in problem_rows(store)} == {p.text for p in PROBLEMS}
        monkeypatch.setattr("constraint_first.store.series.fingerprint", str)
        with pytest.raises(StoreError, match="other prompts or settings"):
            await make_all(store, runs=3)
        assert len(list(attempt_rows(store))) == 10


PROGRAMS = replace(SUMS_RUN_SERIES, method="until-agreed(base=program,most=2)")


def runs_in(monkeypatch: pytest.MonkeyPatch, name: str | Exception) -> None:
    """Have programs run in another interpreter, or in none."""
    found = Mock(side_effect=name) if isinstance(name, Exception) else Mock(return_value=name)
    monkeypatch.setattr("constraint_first.store.series.interpreter", found)


def fingerprints(store: Store) -> list[str]:
    return [row.fingerprint for row in store.read(sa.select(schema.series).order_by("id"))]


async def test_the_programs_of_a_series_run_in_one_interpreter(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(url) as store:
        runs_in(monkeypatch, "monty 1")
        await make_all(store)
        await make_all(store, PROGRAMS)
        methods = [SUMS_RUN_SERIES.build(), PROGRAMS.build()]
        plain, programs = map(fingerprint, methods)
        assert fingerprints(store) == [plain, f"{programs} monty 1"]
        assert await make_all(store, PROGRAMS, runs=3)
        for other in ("eryx 2", SandboxMissing("programs need pyeryx")):
            runs_in(monkeypatch, other)
            await make_all(store, runs=4)
            assert (await make_all(store, PROGRAMS, runs=3)).asked == []
            with pytest.raises((StoreError, SandboxMissing)) as refused:
                await make_all(store, PROGRAMS, runs=4)
            assert "programs need pyeryx" in str(refused.value) or (
                f"{PROGRAMS.method} on sums: its programs ran in monty 1, and here they run in "
                "eryx 2; name a new store, or install monty 1 again" in str(refused.value)
            )
        assert len(list(attempt_rows(store))) == 5 * (4 + 3)


async def test_programs_of_an_older_store_need_a_new_one(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(url) as store:
        await make_all(store, PROGRAMS)
        execute(store, sa.update(schema.series).values(fingerprint=fingerprint(PROGRAMS.build())))
        assert (await make_all(store, PROGRAMS)).asked == []
        with pytest.raises(StoreError, match=r"ran in an interpreter that was not .* new store$"):
            await make_all(store, PROGRAMS, runs=3)


async def test_a_series_is_found_without_being_entered(url: str) -> None:
    with Store(url) as store:

        def find(series: Series) -> Registered | None:
            with store.database.connect() as connection:
                return find_registered(connection, url, series, PROBLEMS)

        assert find(SUMS_RUN_SERIES) is None
        await make_all(store)
        assert find(SUMS_RUN_SERIES) == store.register(SUMS_RUN_SERIES, PROBLEMS)
        assert find(replace(SUMS_RUN_SERIES, model="another")) is None
        assert len(summaries(store)) == 1


@pytest.mark.parametrize(
    "problem",
    [Problem("nul \0", "p0"), Problem("half", "p\ud83d"), Problem("gold", "p0", "\ud83d")],
)
def test_a_problem_that_cannot_be_stored_is_named(url: str, problem: Problem) -> None:
    with Store(url) as store:
        with pytest.raises(InputError, match=r"^problem 'p\S*' of sums: has a character that"):
            store.register(SUMS_RUN_SERIES, (problem,))
        assert not list(problem_rows(store))
        assert not summaries(store)
        for name in ("benchmark", "model", "system"):
            odd = replace(SUMS_RUN_SERIES, **{name: "odd \udcff"})
            with pytest.raises(InputError, match=r"^'odd \\udcff': has a character"):
                store.register(odd, PROBLEMS)


@pytest.mark.parametrize("name", ["constraintbench", "constraintbench-mini"])
async def test_the_first_constraintbench_is_set_apart_from_the_second(url: str, name: str) -> None:
    old, new = (tuple(load(one).problems[:2]) for one in (f"{name}@1", name))
    series = replace(SUMS_RUN_SERIES, benchmark=name)
    with Store(url) as store:
        # A store from before the second version has the first one under the plain name.
        rows = [{"benchmark": name, "name": p.id, "text": p.text} for p in old]
        execute(store, schema.problems.insert(), rows)
        values = {"benchmark": name, "method": "direct", "label": "", "model": "m"}
        execute(store, schema.series.insert(), values | {"decoding": "{}", "fingerprint": ""})
        found = store.register(series, new)
        again = store.register(replace(series, benchmark=f"{name}@1"), old)
        assert sorted(found.problems) == sorted(problem.id for problem in new)
        assert sorted(again.problems) == sorted(problem.id for problem in old)
        assert len(list(problem_rows(store))) == 4
        store.register(series, new)
        assert {row["benchmark"] for row in problem_rows(store)} == {name, f"{name}@1"}


def worded(text: str = "Please: [[problem]]", name: str = "mine") -> Series:
    return SUMS_RUN_SERIES.reworded(Wording(name, (Prompt("direct", text, replaced=True),)))


def kept(store: Store, number: int) -> dict[str, str]:
    with store.database.connect() as connection:
        return read_prompts(connection, number)


async def test_they_are_kept_and_a_change_of_them_is_refused(url: str) -> None:
    with Store(url) as store:
        await make_all(store)
        assert len((await make_all(store, worded())).asked) == 10
        assert (await make_all(store, worded())).asked == []
        assert kept(store, 1) == {}
        assert kept(store, 2) == {"direct": "Please: [[problem]]"}
        with pytest.raises(StoreError, match=r"direct\(wording=mine\) on .* words in direct\.txt"):
            await make_all(store, worded("Now: [[problem]]"))
        assert len((await make_all(store, worded("Now: [[problem]]", "other"))).asked) == 10


def test_a_series_that_is_withdrawn_takes_its_prompts_along(url: str) -> None:
    with Store(url) as store:
        number = store.register(worded(), sums(1)).series
        store.withdraw([number])
        assert kept(store, number) == {}
        again = store.register(worded("Now: [[problem]]"), sums(1)).series
        assert kept(store, again) == {"direct": "Now: [[problem]]"}


async def test_a_store_without_a_table_of_prompts_gets_one_when_needed(url: str) -> None:
    with Store(url) as store:
        await make_all(store)
        schema.prompts.drop(store.database)
    with Store(url, existing=True) as store:
        assert kept(store, 1) == {}
    with Store(url) as store:
        store.withdraw([1])
        assert len((await make_all(store, worded())).asked) == 10
        assert kept(store, 2) == {"direct": "Please: [[problem]]"}
