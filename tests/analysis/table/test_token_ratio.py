"""Token ratios in three ways of counting, on studies whose figures can be worked out by hand."""

from hand_made import arm, cells, costing, study

from constraint_first.report.comparison import compare
from constraint_first.report.exhibit.cost import ratios_table

# Three programs: half the output of Direct CoT each, and a prompt of 200 that all of them share.
DIRECT = costing(arm("direct", {"1": "+", "2": "-"}, benchmark="aime24"), (100, 900))
VOTE = costing(
    arm("self-consistency", {"1": "+", "2": "+"}, benchmark="aime24"), (600, 810), shared=400
)


def test_three_ratios_of_each_method() -> None:
    table = ratios_table(compare(study(DIRECT, VOTE)))
    assert [column.title for column in table.columns[2:]] == [
        *("Output", "Prompt once", "Every time"),
    ]
    assert cells(table)[1] == ["self-consistency", "AIME24", "0.90×", "1.01×", "1.41×"]
    assert table.title == "Tokens relative to Direct CoT"
    assert table.notes[0].startswith("Output: written tokens alone.")


def test_only_problems_that_both_have_count() -> None:
    longer = costing(arm("cfr", {"1": "+"}, benchmark="aime24"), (100, 1_800))
    longer.attempts.update(costing(arm("cfr", {"9": "+"}), (10**6, 10**6)).attempts)
    table = ratios_table(compare(study(DIRECT, longer)))
    assert cells(table)[1][2:] == ["2.00×", "1.90×", "1.90×"]


def test_pooled_benchmarks_have_a_row_of_their_own() -> None:
    arms = [
        costing(arm(method, {"1": "+"}, benchmark=name), used)
        for name, used in (("aime24", (100, 100)), ("aime25", (100, 300)))
        for method in ("direct", "cfr")
    ]
    found = cells(ratios_table(compare(study(*arms))))
    assert [line[1] for line in found[1:]] == ["AIME24", "AIME25", "AIME pooled (AIME24, AIME25)"]


def test_a_table_for_each_model_is_named_for_it() -> None:
    comparison = compare(study(DIRECT, VOTE))
    table = ratios_table(comparison, named=True)
    assert (table.name, table.title) == (
        "token-ratios-model",
        "Tokens relative to Direct CoT: model",
    )
    assert ratios_table(comparison).name == "token-ratios"


def test_what_was_not_counted_has_no_ratio() -> None:
    table = ratios_table(compare(study(arm("direct", {"1": "+"}), arm("cfr", {"1": "-"}))))
    assert (table.rows, table.notes) == ((), ("Tokens are not on record.",))


def test_decodings_are_told_apart() -> None:
    arms = [
        costing(arm(method, {"p": "+"}, model="", decoding=f'{{"temperature":{warmth}}}'), (1, 1))
        for warmth in (0.2, 0.7)
        for method in ("direct", "cfr")
    ]
    table = ratios_table(compare(study(*arms)))
    headings = [line.cells[0].text for line in table.rows if line.kind == "heading"]
    assert headings == ["Temperature 0.2", "Temperature 0.7"]
