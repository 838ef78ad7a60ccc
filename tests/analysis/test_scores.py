"""Tables of scores, settings, gains and cost, on studies that can be worked out by hand."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hand_made import arm, cells, costing, study, two_benchmarks
from snapshot import Golden

from constraint_first.report.comparison import Plan, compare
from constraint_first.report.exhibit.cost import (
    exploratory_table,
    prompting_table,
    ratios_table,
    stages_table,
    tokens_table,
)
from constraint_first.report.exhibit.gains import generalization_table, pair_notes, paired_table
from constraint_first.report.exhibit.scores import (
    benchmarks_table,
    main_table,
    robustness_table,
    routing_table,
    scores_table,
    settings_table,
)
from constraint_first.report.reader import read_file
from constraint_first.report.study import StageCost, Study
from constraint_first.report.table import Table, to_latex, to_markdown

BOTH = {"routed-cfr": "routed-cfr", "cfr": "cfr"}
ALONE = study(arm("direct", {"1": "+"}))
PLAIN = study(arm("direct", {"1": "+"}), arm("cfr", {"1": "-"}))


def decoding(temperature: float, seed: int | None = None, **more: str) -> str:
    return json.dumps({"temperature": temperature, "top_p": 0.95, "seed": seed} | more)


COOL, HOT, SEEDED = decoding(0.2), decoding(0.7), decoding(0.7, 101)
DECODED = study(
    arm("direct", {"p": "+-", "q": "--"}, benchmark="aime24", decoding=COOL),
    arm("cfr", {"p": "++", "q": "--"}, benchmark="aime24", decoding=COOL),
    arm("direct", {"p": "++", "q": "++"}, benchmark="aime24", decoding=HOT),
    arm("cfr", {"p": "+-", "q": "++"}, benchmark="aime24", decoding=HOT),
    arm("cfr", {"r": "+"}, benchmark="aime25", decoding=HOT),
    arm("direct", {"p": "+"}, benchmark="aime24", decoding=SEEDED),
    arm("direct", {"p": "+"}, model="once only", decoding=COOL),
)


def scores() -> Iterator[Table]:
    """Rows with a size and losses, without a verdict, of uneven runs, of another decoding."""
    yield scores_table(two_benchmarks())
    yield scores_table(study(arm("direct", {"1": "?"})))
    # pass@3, over all ten: runs that differ in number do not shrink k.
    yield scores_table(study(arm("direct", {str(n): "---" for n in range(9)} | {"9": "++++"})))
    warm = arm("direct", {"1": "+", "2": "-"}, decoding='{"temperature":0.7}')
    yield scores_table(study(warm, arm("direct", {"1": "+"}, decoding='{"temperature":0.0}')))
    # Gains and the paper's rows; the best is bold unless shared; an average needs every benchmark.
    yield main_table(two_benchmarks(), "direct", "routed-cfr")
    yield main_table(two_benchmarks(), "direct", "cfr")
    yield main_table(study(arm("direct", {"1": "+"}), arm("cfr", {"1": "+"})), "direct", "cfr")
    yield main_table(ALONE, "direct", "direct")
    yield routing_table(two_benchmarks(), "direct", BOTH)
    # A family that is lacking is named, with the way to get it.
    yield routing_table(two_benchmarks(), "direct", {"routed-cfr": "routed-cfr"})
    yield routing_table(
        study(arm("routed-cfr", {"1": "+"})), "direct", {"routed-cfr": "routed-cfr"}
    )
    apart = study(arm("direct", {"1": "+"}, model="a"), arm("cfr", {"1": "+"}, model="b"))
    yield routing_table(apart, "direct", {"cfr": "cfr"})
    unjudged = study(*(arm(name, {"1": "?"}) for name in ("direct", "routed-cfr", "cfr")))
    yield routing_table(unjudged, "direct", BOTH)


def settings() -> Iterator[Table]:
    """Settings as they were recorded; what is not on record is not made up."""
    long = decoding(0.0, 7, system="Answer with an integer from 0 to 999, and nothing else.")
    yield settings_table(
        study(
            arm("routed-cfr", {"p": "++"}, benchmark="aime24", decoding=HOT),
            arm("routed-cfr", {"p": "++++"}, benchmark="aime25", decoding=HOT),
            arm("llm-router", {"p": "+"}, decoding=long),
            arm("begun only", {}),
            arm("llm-router(model=openai/gpt-4o-mini,extractor=small)", {"p": "+"}),
            *(arm("mine", {"p": "+"}), arm("mine(x=1)", {"p": "+"})),
        )
    )
    yield settings_table(study())
    yield robustness_table(DECODED, "cfr")
    yield robustness_table(ALONE, "cfr")  # one decoding shows nothing
    yield benchmarks_table(
        study(*two_benchmarks().arms, arm("direct", {"a": "+"}, benchmark="mine"))
    )
    yield benchmarks_table(
        study(arm("direct", {"1": "+", "2": "+"}), arm("cfr", {"1": "+"}), arm("x", {"1": "?"}))
    )


def gains() -> Iterator[Table]:
    """Gains beside routing rates, and paired comparisons with the notes that limit them."""
    base = two_benchmarks()
    base.arms[1].attempts["1"][0] = replace(base.arms[1].attempts["1"][0], routed=True)
    yield generalization_table(base, "direct", "routed-cfr")
    apart = study(arm("direct", {"1": "+"}), arm("cfr", {"1": "+"}, benchmark="other"))
    yield generalization_table(apart, "direct", "cfr")
    yield generalization_table(ALONE, "direct", "direct")
    wrong = {str(n): "-" for n in range(8)}
    right = dict.fromkeys(wrong, "+")
    methods = (("direct", wrong), ("cfr", right), ("<i>x</i>", wrong))
    three = study(*(arm(method, marks, benchmark="aime24") for method, marks in methods))
    yield paired_table(compare(three, "Direct CoT"))
    # A pooled row says what it pools.
    names = ("aime24", "aime26", "mine")
    pooled = (arm(method, wrong, benchmark=n) for n in names for method in ("direct", "cfr"))
    yield paired_table(compare(study(*pooled)))
    yield paired_table(compare(PLAIN), named=True)
    yield paired_table(compare(decoded()))
    # A note names its rows unless it holds for all.
    yield paired_table(
        compare(
            study(
                *(arm("direct", wrong, benchmark="a"), arm("cfr", right, benchmark="a")),
                *(arm("direct", {"p": "-"}, benchmark="b"), arm("cfr", {"p": "-"}, benchmark="b")),
                arm("other", {"q": "+"}, benchmark="c"),
            )
        )
    )


def decoded() -> Study:
    """Two methods under two decodings."""
    return study(
        *(
            costing(arm(method, {"p": "+"}, model="", decoding=f'{{"temperature":{at}}}'), (1, 1))
            for at in (0.2, 0.7)
            for method in ("direct", "cfr")
        )
    )


# Three programs: half the output of Direct CoT each, and a prompt of 200 that all of them share.
DIRECT = costing(arm("direct", {"1": "+", "2": "-"}, benchmark="aime24"), (100, 900))
VOTE = costing(
    arm("self-consistency", {"1": "+", "2": "+"}, benchmark="aime24"), (600, 810), shared=400
)


def costs() -> Iterator[Table]:
    """Tokens by method, model and stage, and their ratios; what was not counted is not zero."""
    # Routed-CFR has AIME25 too, on which CFR was not run: 2,000 of 3,000 on AIME24 alone.
    yield prompting_table(two_benchmarks(), "direct", ("cfr", "routed-cfr"))
    yield prompting_table(two_benchmarks(), "direct", ("cfr",))
    yield prompting_table(two_benchmarks(), "cfr", ("cfr",))
    yield prompting_table(two_benchmarks(), "none", ("none",))
    yield prompting_table(PLAIN, "direct", ("cfr",))
    yield tokens_table(two_benchmarks(), "direct", "routed-cfr")
    yield tokens_table(PLAIN, "direct", "cfr")
    spent = {"stage1": StageCost(2, 600, 200), "stage2": StageCost(1, 0, 0)}
    yield stages_table(study(arm("cfr", {"1": "+", "2": "-"}, stages=spent)))
    # Four judged attempts of two benchmarks together; then no judged one.
    part = {"stage1": StageCost(4, 600, 200), "stage2": StageCost(2, 1_000, 200)}
    whole = arm("cfr", {"1": "+-", "2": "+?"}, stages=part)
    other = arm("cfr", {"1": "-"}, benchmark="other", stages={"stage2": StageCost(2, 0, 0)})
    yield stages_table(study(whole, other))
    yield stages_table(study(arm("cfr", {"1": "?"}, stages=part)))
    yield stages_table(PLAIN)
    yield exploratory_table(two_benchmarks(), "direct")
    # pass@2 of Direct CoT is 50 and 100, of CFR 100 and 0; CFR takes 2 and 5 times the tokens.
    yield exploratory_table(
        study(
            costing(arm("direct", {"1": "+-", "2": "--"}, benchmark="aime24"), (0, 100)),
            costing(arm("direct", {"3": "++"}, benchmark="aime25"), (0, 100)),
            costing(arm("cfr", {"1": "++", "2": "++"}, benchmark="aime24"), (0, 200)),
            costing(arm("cfr", {"3": "--"}, benchmark="aime25"), (0, 500)),
        ),
        "direct",
    )
    grouped = (
        arm(method, {"1": mark}, benchmark=name)
        for name, mark in (("aime24", "+"), ("aime25", "-"), ("cmimc25", "+"))
        for method in ("direct", "cfr")
    )
    yield exploratory_table(study(*grouped), "direct")
    apart = study(arm("direct", {"1": "+"}), arm("cfr", {"1": "+"}, benchmark="other"))
    yield exploratory_table(apart, "direct")
    yield exploratory_table(ALONE, "cfr")
    yield ratios_table(compare(study(DIRECT, VOTE)))
    yield ratios_table(compare(study(DIRECT, VOTE)), named=True)
    # Only problems that both have count.
    longer = costing(arm("cfr", {"1": "+"}, benchmark="aime24"), (100, 1_800))
    longer.attempts.update(costing(arm("cfr", {"9": "+"}), (10**6, 10**6)).attempts)
    yield ratios_table(compare(study(DIRECT, longer)))
    pooled = (
        costing(arm(method, {"1": "+"}, benchmark=name), used)
        for name, used in (("aime24", (100, 100)), ("aime25", (100, 300)))
        for method in ("direct", "cfr")
    )
    yield ratios_table(compare(study(*pooled)))
    yield ratios_table(compare(PLAIN))
    yield ratios_table(compare(decoded()))


@pytest.mark.parametrize("made", [scores, settings, gains, costs])
def test_tables_that_can_be_worked_out_by_hand(
    golden: Golden, made: Callable[[], Iterator[Table]]
) -> None:
    texts = [f"{table.name}: {to_markdown(table)}" for table in made()]
    assert "\n".join(texts) == golden(f"{made.__name__}-by-hand.md")


def test_a_p_value_is_exact_for_programs_and_papers() -> None:
    wrong = {str(n): "-" for n in range(8)}
    both = study(arm("direct", wrong), arm("cfr", dict.fromkeys(wrong, "+")))
    table = paired_table(compare(both))
    assert r"0.0078 & \textbf{0.0078}" in to_latex(table)
    assert "0.0078" in str(table.to_json())


def notes(before: dict[str, str], after: dict[str, str], plan: Plan | None = None) -> str:
    both = study(arm("direct", before), arm("cfr", after))
    (pair,) = compare(both, plan=plan or Plan()).pairs
    return " ".join(pair_notes(pair))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"1": "+-", "2": "--"}, {"1": "--", "2": "++"}, "The interval includes zero"),
        ({"1": "--"}, {"1": "++"}, "All problems gain alike"),
        ({"1": "+", "2": "+", "3": "+"}, {"1": "+"}, "has them judged: 2 problems."),
        ({"1": "+?"}, {"1": "+"}, "Not judged: 1 failed attempt; the run is incomplete."),
        ({"1": "++"}, {"1": "+"}, "Problems differ in how many runs they have"),
        ({"1": "+"}, {"1": "+"}, "One run of each problem"),
        ({"1": "++"}, {"1": "++"}, "Every problem is tied"),
        ({"1": "--", "2": "--"}, {"1": "++", "2": "--"}, "Problems that differ: 1; below 6 the"),
    ],
)
def test_what_limits_a_comparison_is_said(
    before: dict[str, str], after: dict[str, str], said: str
) -> None:
    assert said in notes(before, after)


def test_nothing_is_said_where_nothing_limits() -> None:
    six = {str(n): "--" for n in range(6)}
    one_less = dict.fromkeys(six, "++") | {"0": "+-"}
    assert notes(six, one_less) == ""
    assert "was drawn, with a seed" in notes(six, one_less, Plan(resamples=100))


def test_stages_are_those_of_judged_attempts(tmp_path: Path) -> None:
    spent = {"solve": {"calls": 1, "input_tokens": 100, "output_tokens": 0, "seconds": 1}}
    row = {"method": "direct", "problem": "1", "input_tokens": 100, "stages": spent}
    path = tmp_path / "o.jsonl"
    lines = [row | {"run": 0, "correct": True}]
    lines += [row | {"run": run, "correct": False, "status": "failed"} for run in (1, 2, 3)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read_file(path)
    assert found.arms[0].scores == {"1": (1, 1)}
    assert cells(stages_table(found))[1][2:4] == ["1.00", "100"]


def test_a_price_adds_a_column_of_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = arm("direct", {"1": "+"}, stages={"direct": StageCost(1, 1_000, 2_000)})
    free = arm("direct", {"1": "+"}, model="free", stages={"direct": StageCost(1, 9, 9)})
    both = study(staged, free)
    titles = [column.title for column in prompting_table(both, "direct", ("cfr",)).columns]
    assert "Cost an attempt" not in titles
    (tmp_path / "models.toml").write_text("[model]\nprice = { input = 1, output = 1 }\n")
    monkeypatch.setenv("CFR_MODELS", str(tmp_path / "models.toml"))
    table = prompting_table(both, "direct", ("cfr",))
    assert table.columns[-1].title == "Cost an attempt"
    assert [line[-1] for line in cells(table) if len(line) > 1] == ["$0.003", "–"]
