from collections import Counter

from hand_made import arm, study, two_benchmarks

from constraint_first.report.study import (
    benchmarks_of,
    by_model,
    count_statuses,
    sizes_by_benchmark,
)


def test_arms_by_model_method_and_benchmark() -> None:
    other = arm("direct", {"1": "+"}, model="other")
    deepseek, second = by_model(study(*two_benchmarks().arms, other))
    assert (deepseek.model, deepseek.title) == ("deepseek-chat", "DeepSeek-V4-Pro")
    assert {method: list(arms) for method, arms in deepseek.methods.items()} == {
        "direct": ["aime24", "aime25"],
        "routed-cfr": ["aime24", "aime25"],
        "cfr": ["aime24"],
    }
    assert deepseek.name("cfr") == "CFR (always-on)"
    assert second.arms() == [other]
    assert benchmarks_of([deepseek, second]) == ["aime24", "aime25", "set"]
    (nameless,) = by_model(study(arm("direct", {"1": "+"}, model="")))
    assert nameless.title == "All attempts"


def test_the_decoding_of_most_attempts_counts() -> None:
    cold = arm("direct", {"1": "+"}, decoding='{"temperature":0.0}')
    warm = arm("direct", {"1": "-", "2": "-"}, decoding='{"temperature":0.7}')
    (part,) = by_model(study(cold, warm))
    assert part.arms() == [warm]


def test_arms_without_a_verdict_are_left_out() -> None:
    assert by_model(study(arm("direct", {"1": "?"}))) == []


def test_methods_are_paired_on_what_both_have() -> None:
    (part,) = by_model(two_benchmarks())
    pairs = part.paired("cfr", "routed-cfr")
    assert [(one.method, other.method, one.benchmark) for one, other in pairs] == [
        ("cfr", "routed-cfr", "aime24")
    ]
    assert part.paired("cfr", "none such") == part.paired("none such", "cfr") == []
    assert part.shared_benchmarks("direct") == ["aime24"]
    assert part.keep(("direct", "routed-cfr")).shared_benchmarks("direct") == ["aime24", "aime25"]
    assert part.shared_benchmarks("none such") == []


def test_sizes_are_judged_problems_and_most_runs() -> None:
    parts = by_model(study(*two_benchmarks().arms, arm("direct", {"1": "++", "2": "?"})))
    assert sizes_by_benchmark(parts) == {
        "aime24": [(4, 2)],
        "aime25": [(1, 1)],
        "set": [(1, 2)],
    }


def test_statuses_are_added_up() -> None:
    arms = [arm("direct", {"1": "+0", "2": "?"}), arm("cfr", {"1": "-"})]
    assert count_statuses(arms) == Counter(ok=2, unparsed=1, failed=1)
