import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hand_made import arm
from hand_made import study as hand_made
from sums import right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.report.comparison import (
    Comparison,
    ComparisonError,
    Pair,
    Plan,
    compare,
    constrained_method,
    find_baseline,
    find_method,
)
from constraint_first.report.reader import read_file
from constraint_first.report.study import Study
from constraint_first.run.job import prepare, run
from constraint_first.store.series import Series
from constraint_first.store.store import Store

Runs = Sequence[object]


def study(path: Path, outcomes: Mapping[tuple[str, str], Sequence[Runs]]) -> Study:
    """Make a study of methods on benchmarks: for each problem the outcomes of its runs."""
    lines = [
        {"benchmark": benchmark, "method": method, "problem": n, "run": run, "correct": correct}
        for (benchmark, method), problems in outcomes.items()
        for n, runs in enumerate(problems)
        for run, correct in enumerate(runs)
    ]
    file = path / "outcomes.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return read_file(file)


def only_pair(found: Study, plan: Plan | None = None) -> Pair:
    (pair,) = compare(found, "direct", ["cfr"], plan or Plan()).pairs
    return pair


def test_runs_are_averaged_before_problems_are_compared(tmp_path: Path) -> None:
    direct = [[1, 0], [0, 0], [1, 1], [0, 1]]
    cfr = [[1, 1], [0, 0], [1, 0], [1, 1]]
    pair = only_pair(study(tmp_path, {("b", "direct"): direct, ("b", "cfr"): cfr}))
    assert (pair.n, pair.runs, pair.before, pair.after, pair.gain) == (4, 2, 50.0, 62.5, 12.5)
    assert (pair.improved, pair.tied, pair.degraded) == (2, 1, 1)
    assert pair.test == "exact sign-flip"
    assert pair.p == 1.0  # eight flips of three halves; every sum is at least as far out as one


def test_one_run_is_mcnemars_test_and_says_so(tmp_path: Path) -> None:
    direct, cfr = [[0]] * 8 + [[1]] * 12, [[1]] * 20
    pair = only_pair(study(tmp_path, {("b", "direct"): direct, ("b", "cfr"): cfr}))
    assert (pair.test, pair.p) == ("exact McNemar", 2 / 2**8)
    assert pair.significant


def test_unequal_sets_are_compared_on_what_they_share(tmp_path: Path) -> None:
    found = study(tmp_path, {("b", "direct"): [[1]] * 5, ("b", "cfr"): [[0]] * 3})
    pair = only_pair(found)
    assert pair.n == 3
    assert pair.left_out == 2


def test_failed_attempts_are_not_wrong_answers(tmp_path: Path) -> None:
    found = study(tmp_path, {("b", "direct"): [[1, None]] * 3, ("b", "cfr"): [[1, 1]] * 3})
    pair = only_pair(found)
    assert (pair.before, pair.after) == (100.0, 100.0)
    assert (pair.failed, pair.fewest, pair.runs) == (3, 1, 2)


def test_ties_everywhere_are_a_sentence(tmp_path: Path) -> None:
    pair = only_pair(study(tmp_path, {("b", "direct"): [[1], [0]], ("b", "cfr"): [[1], [0]]}))
    assert (pair.gain, pair.ci, pair.p, pair.detectable) == (0.0, (0.0, 0.0), 1.0, None)
    assert (pair.changed, pair.interval) == (0, None)


def test_pooling_takes_problems_not_averages_and_a_group_alone(tmp_path: Path) -> None:
    outcomes: dict[tuple[str, str], list[Runs]] = {
        ("aime24", "direct"): [[0]] * 1,
        ("aime24", "cfr"): [[1]] * 1,
        ("cmimc25", "direct"): [[0]] * 5,
        ("cmimc25", "cfr"): [[1]] * 5,
        ("aime25", "direct"): [[0]] * 3,
        ("aime25", "cfr"): [[0]] * 3,
        ("aime26", "direct"): [[0], [None]],
        ("aime26", "cfr"): [[None], [1]],  # no problem that both have judged
    }
    made = study(tmp_path, outcomes)
    found = compare(made, "direct", ["cfr"])
    assert [(pair.benchmark, pair.n, pair.gain) for pair in found.pairs] == [
        ("aime24", 1, 100.0),
        ("cmimc25", 5, 100.0),
        ("aime25", 3, 0.0),
        ("pooled", 4, 25.0),
    ]
    assert found.family == 4
    pooled = found.pairs[3]
    assert (pooled.group, pooled.pooled) == ("AIME", ("aime24", "aime25"))
    assert pooled.where == "AIME pooled (AIME24, AIME25)"
    alone = compare(made, "direct", ["cfr"], Plan(pool=False))
    assert [pair.benchmark for pair in alone.pairs] == ["aime24", "cmimc25", "aime25"]
    every = compare(made, "direct", ["cfr"], Plan(pool_all=True)).pairs
    assert [(pair.n, pair.group) for pair in every[3:]] == [(4, "AIME"), (9, "")]


def test_a_group_that_is_everything_is_pooled_once() -> None:
    arms = [
        arm(method, {"p": "+"}, benchmark=name)
        for name in ("aime24", "aime25")
        for method in ("direct", "cfr")
    ]
    found = compare(hand_made(*arms), plan=Plan(pool_all=True))
    assert [pair.group for pair in found.pairs] == ["", "", "AIME"]
    assert not [
        p for p in compare(hand_made(*arms[:2]), plan=Plan(pool_all=True)).pairs if p.pooled
    ]


def test_a_family_can_have_members_from_elsewhere(tmp_path: Path) -> None:
    outcomes: dict[tuple[str, str], list[Runs]] = {
        ("b", "direct"): [[0]] * 8,
        ("b", "cfr"): [[1]] * 8,
    }
    found = compare(study(tmp_path, outcomes), "direct", ["cfr"], Plan(also_tested=(0.5, 0.9)))
    assert (found.family, found.pairs[0].p_holm) == (3, 3 * 2 / 2**8)


def test_runs_without_a_common_unit_are_sampled_and_say_so(tmp_path: Path) -> None:
    lengths = (7, 11, 13, 17)
    direct: list[Runs] = [[0] * n for n in lengths]
    cfr: list[Runs] = [[1] * n for n in (2, 3, 4, 5)]
    pair = only_pair(study(tmp_path, {("b", "direct"): direct, ("b", "cfr"): cfr}))
    assert pair.test == "Monte Carlo sign-flip"
    assert pair.p == pytest.approx(2 / 16, abs=0.01)
    assert pair.ci == (100.0, 100.0)


@pytest.mark.parametrize(
    ("outcomes", "baseline", "methods", "said"),
    [
        ({}, "direct", (), "no attempts yet"),
        ({("b", "cfr"): [[1]]}, "direct", (), "has no method 'direct'; it has cfr"),
        ({("b", "direct"): [[1]]}, "direct", (), "has direct alone"),
        ({("b", "direct"): [[1]]}, "direct", ("direct",), "compared with itself"),
        (
            {("a", "direct"): [[1]], ("b", "cfr"): [[1]]},
            "direct",
            ("cfr",),
            "no judged problem in common",
        ),
        ({("b", "direct"): [[1]], ("b", "cfr"): [[None]]}, "direct", (), "no judged problem"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(
    tmp_path: Path,
    outcomes: dict[tuple[str, str], list[Runs]],
    baseline: str,
    methods: tuple[str, ...],
    said: str,
) -> None:
    with pytest.raises(ComparisonError, match=said):
        compare(study(tmp_path, outcomes), baseline, methods)


def test_a_drawn_interval_says_so(tmp_path: Path) -> None:
    found = study(tmp_path, {("b", "direct"): [[0], [1]], ("b", "cfr"): [[1], [1]]})
    assert not only_pair(found, Plan(resamples=100)).exact
    assert only_pair(found).exact


def test_methods_without_a_problem_in_common_are_listed() -> None:
    direct, cfr = arm("direct", {"p": "-"}), arm("cfr", {"p": "+"})
    found = compare(hand_made(direct, cfr, arm("other", {"q": "+"})))
    assert ([pair.method for pair in found.pairs], found.missing) == (["cfr"], ("other",))


def test_models_and_decodings_are_not_mixed() -> None:
    arms = [
        arm(method, {"p": mark}, model=model, decoding=decoding)
        for model in ("a", "b")
        for decoding in ("{}", '{"temperature":1.0}')
        for method, mark in (("direct", "-"), ("cfr", "+"))
    ]
    found = compare(hand_made(*arms, arm("direct", {"p": "+"}, model="c")))
    assert [(pair.model, pair.decoding) for pair in found.pairs] == [
        ("a", "{}"),
        ("a", '{"temperature":1.0}'),
        ("b", "{}"),
        ("b", '{"temperature":1.0}'),
    ]
    assert found.family == 4


def test_a_method_is_found_by_its_label_too() -> None:
    made = hand_made(arm("direct", {"p": "+"}), arm("routed-cfr(profile=strict)", {"p": "+"}))
    assert find_method(made, "DIRECT cot") == "direct"
    assert find_method(made, "Routed-CFR [profile=strict]") == "routed-cfr(profile=strict)"


def test_the_baseline_is_direct_cot_even_where_there_is_none() -> None:
    made = hand_made(arm("direct(x=1)", {"p": "+"}), arm("cfr", {"p": "+"}))
    assert (find_baseline(made), find_baseline(made, "CFR")) == ("direct(x=1)", "cfr")
    assert find_baseline(hand_made(arm("cfr", {"p": "+"}))) == "direct"
    with pytest.raises(ComparisonError, match="has no method 'check'"):
        find_baseline(made, "check")


def test_the_method_that_is_looked_at_closely() -> None:
    arms = [arm(name, {"p": "+"}) for name in ("direct", "x", "cfr", "routed-cfr")]
    assert constrained_method(hand_made(*arms), "direct") == "routed-cfr"
    assert constrained_method(hand_made(*arms[:3]), "direct") == "cfr"
    assert constrained_method(hand_made(*arms[:2]), "direct") == "x"
    assert constrained_method(hand_made(arms[0]), "direct") == "direct"
    assert constrained_method(hand_made(*arms), "direct", "x") == "x"
    with pytest.raises(ComparisonError, match="compared with itself"):
        constrained_method(hand_made(*arms), "direct", "Direct CoT")


def test_a_method_is_found_by_its_family_whatever_its_options() -> None:
    names = ("direct", "check", "cfr(reply=json)", "routed-cfr(reply=json)", "cfr(reply=prose)")
    found = hand_made(*(arm(name, {"p": "+"}) for name in names))
    assert constrained_method(found, "direct") == "routed-cfr(reply=json)"
    assert constrained_method(found, "direct", "cfr") == "cfr(reply=json)"
    assert constrained_method(found, "direct", "cfr", ["cfr(reply=prose)"]) == "cfr(reply=prose)"
    assert find_method(found, "CFR (always-on)") == "cfr(reply=json)"
    assert compare(found, "direct", "routed-cfr").pairs[0].method == "routed-cfr(reply=json)"
    with pytest.raises(ComparisonError, match=r"has no method 'cfr\(reply=xml\)'"):
        find_method(found, "cfr(reply=xml)")


def test_a_p_value_from_elsewhere_must_be_one() -> None:
    made = hand_made(arm("direct", {"p": "+"}), arm("cfr", {"p": "+"}))
    with pytest.raises(ComparisonError, match=r"1\.5: not a p-value"):
        compare(made, plan=Plan(also_tested=(1.5,)))


async def test_runs_may_be_a_study_a_file_or_a_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(str(path)) as store:
        series = [Series("sums", method, "m") for method in ("direct", "cfr")]
        tasks = [prepare(store, one, sums(4), 1, Scripted(right)) for one in series]
        await run(store, tasks, width=4)
        opened = compare(store, "direct", "cfr")
    assert opened.pairs[0].n == 4
    assert compare(path) == compare(str(path)) == opened
    file = tmp_path / "mine.jsonl"
    lines = [
        {"problem": n, "method": m, "correct": True} for n in range(2) for m in ("direct", "x")
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    both = compare([path, file], "Direct CoT")
    assert [(pair.method, pair.n) for pair in both.pairs] == [("cfr", 4), ("x", 2)]
    assert isinstance(both, Comparison)
