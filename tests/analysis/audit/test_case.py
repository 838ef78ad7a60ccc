from hand_made import arm, attempt, study, texts

from cfr.analysis.audit.case import NO_KIND, cases
from cfr.analysis.study.study import Study, Transcript


def example(text: str = "so it is 4") -> Study:
    direct = arm("direct", {"a": "--", "b": "+-", "c": "++", "d": "+-", "e": "--"})
    cfr = arm("cfr", {"a": "++", "b": "++", "c": "--", "d": "+-", "e": "??"})
    said = {
        (*one.key, problem, attempt.run): Transcript(text, "4", attempt.correct, tokens)
        for one, tokens in ((direct, 100), (cfr, 250))
        for problem, attempts in one.attempts.items()
        for attempt in attempts
    }
    return study(direct, cfr, problems=texts({"a": "What is 2 + 2?"}), transcripts=said)


def test_cases_are_what_changed_most_in_both_directions() -> None:
    found = cases(example(), "direct", "cfr")
    assert [(case.problem, case.change) for case in found] == [
        ("a", "fixed"),
        ("b", "fixed"),
        ("c", "broken"),
    ]
    first = found[0]
    assert (first.text, first.baseline.right, first.method.right) == ("What is 2 + 2?", 0, 2)
    assert (first.baseline.transcript.correct, first.method.transcript.correct) == (False, True)
    assert first.ratio == 2.5
    assert found[1].baseline.run == 1  # the run that was wrong
    assert found[2].baseline.transcript.correct
    assert first.title == "a (set, model)"


def test_the_number_of_cases_is_kept_and_shared_out() -> None:
    assert [case.change for case in cases(example(), "direct", "cfr", most=2)] == [
        "fixed",
        "broken",
    ]
    assert cases(example(), "direct", "cfr", most=0) == []


def test_outcomes_without_texts_make_no_cases() -> None:
    bare = study(arm("direct", {"a": "-"}), arm("cfr", {"a": "+"}))
    assert cases(bare, "direct", "cfr") == []
    assert cases(example(), "direct", "direct") == []
    assert cases(example(), "nobody", "cfr") == []


def test_cases_are_grouped_by_the_constraint_that_dominates_them() -> None:
    problems = ("a", "b", "c", "d")
    direct = arm("direct", dict.fromkeys(problems, "--"))
    kinds = (["parity"], None, ["parity", "bound"], ["bound", "bound"])
    ours = arm(
        "cfr",
        {
            name: [attempt("+", run, kinds=own) for run in (0, 1)]
            for name, own in zip(problems, kinds, strict=True)
        },
    )
    said = {
        (*one.key, name, run): Transcript("so", "4", one is ours, 1)
        for one in (direct, ours)
        for name in problems
        for run in (0, 1)
    }
    found = cases(study(direct, ours, transcripts=said), "direct", "cfr")
    assert [(case.problem, case.kind) for case in found] == [
        *(("a", "Parity"), ("c", "Parity"), ("d", "Bound"), ("b", NO_KIND)),
    ]
