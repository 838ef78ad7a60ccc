import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from cfr.analysis.statistics.comparison import ComparisonError, Pair, Plan, compare
from cfr.analysis.study.reader import read_file
from cfr.analysis.study.study import Study
from cfr.analysis.table.paired_comparison import headlines, paired_table, sentence
from cfr.analysis.table.table import to_markdown

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
    assert "interval includes zero" in sentence(pair)


def test_one_run_is_mcnemars_test_and_says_so(tmp_path: Path) -> None:
    direct, cfr = [[0]] * 8 + [[1]] * 12, [[1]] * 20
    pair = only_pair(study(tmp_path, {("b", "direct"): direct, ("b", "cfr"): cfr}))
    assert (pair.test, pair.p) == ("exact McNemar", 2 / 2**8)
    assert any("One run" in note for note in pair.notes)
    assert pair.significant
    assert "no difference is claimed" not in sentence(pair)


def test_unequal_sets_are_compared_on_what_they_share(tmp_path: Path) -> None:
    found = study(tmp_path, {("b", "direct"): [[1]] * 5, ("b", "cfr"): [[0]] * 3})
    pair = only_pair(found)
    assert pair.n == 3
    assert any(
        note.endswith("only one of the two has them judged: 2 problems.") for note in pair.notes
    )


def test_failed_attempts_are_not_wrong_answers(tmp_path: Path) -> None:
    found = study(tmp_path, {("b", "direct"): [[1, None]] * 3, ("b", "cfr"): [[1, 1]] * 3})
    pair = only_pair(found)
    assert (pair.before, pair.after) == (100.0, 100.0)
    assert any(note.startswith("Not judged: 3 failed attempts") for note in pair.notes)
    assert any("differ in how many runs" in note for note in pair.notes)


def test_ties_everywhere_are_a_sentence(tmp_path: Path) -> None:
    pair = only_pair(study(tmp_path, {("b", "direct"): [[1], [0]], ("b", "cfr"): [[1], [0]]}))
    assert (pair.gain, pair.ci, pair.p, pair.detectable) == (0.0, (0.0, 0.0), 1.0, None)
    assert "do not differ on any problem" in sentence(pair)
    assert any("Every problem is tied" in note for note in pair.notes)


def test_pooling_takes_problems_not_averages(tmp_path: Path) -> None:
    outcomes: dict[tuple[str, str], list[Runs]] = {
        ("a", "direct"): [[0]] * 1,
        ("a", "cfr"): [[1]] * 1,
        ("b", "direct"): [[0]] * 3,
        ("b", "cfr"): [[0]] * 3,
    }
    found = compare(study(tmp_path, outcomes), "direct", ["cfr"])
    assert [(pair.benchmark, pair.n, pair.gain) for pair in found.pairs] == [
        ("a", 1, 100.0),
        ("b", 3, 0.0),
        ("pooled", 4, 25.0),
    ]
    assert found.family == 3
    alone = compare(study(tmp_path, outcomes), "direct", ["cfr"], Plan(pool=False))
    assert [pair.benchmark for pair in alone.pairs] == ["a", "b"]


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


def test_the_table_has_every_pair_and_its_notes(tmp_path: Path) -> None:
    outcomes: dict[tuple[str, str], list[Runs]] = {
        ("aime24", "direct"): [[0]] * 8,
        ("aime24", "cfr"): [[1]] * 8,
        ("aime24", "<i>x</i>"): [[0]] * 8,
    }
    found = compare(study(tmp_path, outcomes), "Direct CoT")
    text = to_markdown(paired_table(found))
    assert "| AIME24 | 8 | 1 | 0.0 | 100.0 | +100.0 | 8 / 0 / 0 | 0.0078 |" in text
    assert "**0.0156**" in text
    assert "family of 2 tests" in text
    assert "<i>" not in text


def test_what_is_said_first_is_all_benchmarks_together(tmp_path: Path) -> None:
    outcomes: dict[tuple[str, str], list[Runs]] = {
        ("a", "direct"): [[0]] * 2,
        ("a", "cfr"): [[1]] * 2,
        ("b", "direct"): [[0]] * 2,
        ("b", "cfr"): [[1]] * 2,
        ("b", "list-first"): [[1]] * 2,
    }
    comparison = compare(study(tmp_path, outcomes), "direct")
    found = headlines(comparison)
    assert [(pair.method, pair.benchmark) for pair in found] == [
        ("cfr", "pooled"),
        ("list-first", "b"),
    ]
    cold = replace(comparison.pairs[0], decoding="cold")  # not among those taken together
    assert cold in headlines(replace(comparison, pairs=(cold, *comparison.pairs[1:])))
    assert "on a, b together with m: +100.0" in sentence(replace(found[0], model="m"), named=True)


def test_decodings_are_told_apart_in_the_table(tmp_path: Path) -> None:
    lines = [
        {"problem": n, "method": method, "correct": n < 2, "decoding": {"temperature": warmth}}
        for warmth in (0.2, 0.7)
        for method in ("direct", "cfr")
        for n in range(3)
    ]
    file = tmp_path / "o.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    table = paired_table(compare(read_file(file), "direct"))
    headings = [line.cells[0].text for line in table.rows if line.kind == "heading"]
    assert headings == [
        "CFR (always-on) against Direct CoT, Temperature 0.2",
        "CFR (always-on) against Direct CoT, Temperature 0.7",
    ]


def test_a_note_names_its_rows_unless_it_holds_for_all(tmp_path: Path) -> None:
    outcomes: dict[tuple[str, str], list[Runs]] = {
        ("a", "direct"): [[0]] * 8,
        ("a", "cfr"): [[1]] * 8,
        ("b", "direct"): [[0]] * 2,
        ("b", "cfr"): [[0]] * 2,
    }
    notes = paired_table(compare(study(tmp_path, outcomes), "direct")).notes
    assert any(note.startswith("CFR (always-on) (b): Every problem is tied") for note in notes)
    assert any(note.startswith("CFR (always-on) (a): All problems gain alike") for note in notes)
    assert any(note.startswith("One run of each problem") for note in notes)


def test_a_drawn_interval_says_so(tmp_path: Path) -> None:
    found = study(tmp_path, {("b", "direct"): [[0], [1]], ("b", "cfr"): [[1], [1]]})
    pair = only_pair(found, Plan(resamples=100))
    assert not pair.exact
    assert any("was drawn, with a seed" in note for note in pair.notes)
    assert only_pair(found).exact
