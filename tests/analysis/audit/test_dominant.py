from dataclasses import replace

from hand_made import arm, attempt, study, texts

from constraint_first.report.exhibit.errors import Dominant, dominant_constraint
from constraint_first.report.study import Attempt, Study


def dominant(*attempts: Attempt, text: str = "") -> Dominant:
    made = arm("cfr", {"p": attempts})
    return dominant_constraint(study(made, problems=texts({"p": text})), made, "p")


def critical(*kinds: str) -> Attempt:
    one = attempt("+", kinds=["domain", "domain", "bound", "bound", "modular"])
    assert one.extraction
    return replace(one, extraction=replace(one.extraction, critical=kinds))


def test_the_kind_of_most_constraints_dominates() -> None:
    first = attempt("+", 0, kinds=["parity", "bound"])
    found = dominant(first, attempt("+", 1, kinds=["bound"]))
    assert (found.names, found.by_stage1, found.label) == (("bound",), True, "Bound")


def test_what_stage_1_calls_critical_comes_first() -> None:
    assert dominant(critical("modular")).names == ("modular",)
    assert dominant(critical()).names == ("bound",)


def test_a_domain_gives_way_to_any_other_kind() -> None:
    assert dominant(attempt("+", kinds=["domain", "domain", "format"])).label == "Format"
    assert dominant(attempt("+", kinds=["domain", "domain"])).label == "Domain"


def test_kinds_that_are_equal_stand_together() -> None:
    assert dominant(attempt("+", kinds=["bound", "parity"])).label == "Parity + bound"
    assert dominant(attempt("+", kinds=["bound", "parity", "modular"])).label == "Multiple"
    assert dominant(attempt("+", kinds=["colour"])).label == "Other"


def test_without_stage_1_it_is_the_cues() -> None:
    asked = dominant(attempt("+"), text="How many have remainder 2?")
    assert (asked.label, asked.by_stage1) == ("Modular", False)
    assert dominant(attempt("+"), text="How many?").label == "Integer/Count"
    assert dominant(attempt("+", kinds=[]), text="How many?").label == "Integer/Count"
    assert dominant(attempt("+"), text="Compute it.") == Dominant()
    assert Dominant().label == ""


def test_a_problem_without_a_text_has_none() -> None:
    made = arm("cfr", {"p": "+"})
    bare: Study = study(made)
    assert dominant_constraint(bare, made, "p") == Dominant()
