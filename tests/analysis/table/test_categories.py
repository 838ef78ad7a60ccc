from hand_made import arm, attempt, study

from constraint_first.report.exhibit.stage1 import categories_table
from constraint_first.report.table import to_markdown

# Half of the replies are enough: p1 has domain and parity, p2 domain, p3 nothing, p4 other.
CFR = arm(
    "cfr",
    {
        "p1": [
            attempt("+", 0, kinds=["domain", "parity", "domain"]),
            attempt("+", 1, kinds=["domain"]),
        ],
        "p2": [attempt(m, n, kinds=k) for n, (m, k) in enumerate([("+", ["domain"]), ("-", [])])],
        "p3": [
            attempt("-", 0, kinds=["bound"]),
            attempt("-", 1, kinds=[]),
            attempt("-", 2, kinds=[], rung="fallback"),
        ],
        "p4": [attempt("-", 0, kinds=["colour", ""])],
        "not routed": [attempt("-", 0)],
    },
)
BASE = arm("direct", {"p1": "--", "p2": "--", "p3": "++", "p4": "+", "not routed": "+"})
STUDY = study(BASE, CFR)


def test_the_most_frequent_kind_comes_first() -> None:
    table = to_markdown(categories_table(STUDY, "cfr"))
    assert "| model | Domain | 2 (50.0 %) | +75.0 [" in table
    assert "|  | Bound | 0 (0.0 %) | – | 0 |" in table
    assert "of CFR (always-on) names, and its gain over Direct CoT there" in table
    assert "model: 4 problems of set with a Stage 1 reply." in table
    assert "Other: kinds outside the eight" in table


def test_a_method_without_stage_1_says_so() -> None:
    table = categories_table(STUDY, "direct")
    assert table.rows == ()
    assert table.notes == ("No attempt of this study has a Stage 1 reply on record.",)
