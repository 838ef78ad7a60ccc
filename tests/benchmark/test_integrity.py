import pytest

from constraint_first.benchmark.registry import Origin, check
from constraint_first.error import InputError
from constraint_first.problem import Problem

FILE = Origin("x.jsonl")


def placed(*problems: tuple[str, str | None, str]) -> list[tuple[int, Problem]]:
    """Number problems (text, gold answer, id) by even lines."""
    return [
        (2 * place, Problem(text, name, answer))
        for place, (text, answer, name) in enumerate(problems, start=1)
    ]


def message(
    problems: list[tuple[int, Problem]], counts: tuple[int, ...] = (), origin: Origin = FILE
) -> str:
    with pytest.raises(InputError) as caught:
        check(origin, problems, counts)
    return str(caught.value)


@pytest.mark.parametrize("counts", [(), (2,), (83, 2)])
def test_a_whole_set_passes(counts: tuple[int, ...]) -> None:
    check(FILE, placed(("P", "1", "a"), ("Q", "1", "b")), counts)
    with pytest.raises(InputError):
        check(FILE, placed(("P", "1", "a"), ("Q", "", "b")), counts)


def test_an_empty_set() -> None:
    assert message([]) == "x.jsonl: has no problems"


@pytest.mark.parametrize("gap", ["", " \n\t"])
def test_gaps_are_named_by_their_lines(gap: str) -> None:
    problems = placed(("P", "1", "a"), (gap, "2", "b"))
    assert message(problems) == "x.jsonl: no text in line 4; every problem needs one"
    problems = placed(("P", gap, "a"), ("Q", None, "b"))
    assert message(problems) == "x.jsonl: no gold answer in line 2, 4; every problem needs one"


def test_of_many_lines_five_are_named() -> None:
    six = placed(*((f"P{n}", "", str(n)) for n in range(6)))
    assert "line 2, 4, 6, 8, 10 and 1 more;" in message(six)
    assert "line 2, 4, 6, 8, 10;" in message(six[:5])


def test_an_id_stands_once() -> None:
    problems = placed(("P", "1", "a"), ("Q", "1", "b"), ("R", "1", "a"))
    said = "x.jsonl: the same id ('a') in lines 2, 6; each must stand there once"
    assert message(problems) == said


def test_a_text_stands_once_however_it_is_spaced() -> None:
    said = message(placed(("P  is\nQ", "1", "a"), (" P is Q ", "2", "b")))
    assert said == (
        "x.jsonl: the same problem text ('P is Q') in lines 2, 4; each must stand there once"
    )
    check(FILE, placed(("P is Q", "1", "a"), ("P is q", "2", "b")))


def test_a_long_text_is_cut_and_hostile_text_is_quoted() -> None:
    assert f"('{'x' * 39}…')" in message(placed(*[("x" * 41, "1", n) for n in "ab"]))
    assert f"('{'x' * 40}')" in message(placed(*[("x" * 40, "1", n) for n in "ab"]))
    assert "\x1b" not in message(placed(*[("\x1b[2J", "1", n) for n in "ab"]))


def test_a_copy_that_is_not_complete() -> None:
    assert message(placed(("P", "1", "a")), (83, 43)) == (
        "x.jsonl: has 1 problems where a complete copy has 83 or 43; "
        "get a complete copy, or name the file itself to use it as it is"
    )


def test_rows_of_a_dataset_are_called_rows() -> None:
    rows = Origin("a/b on Hugging Face", "row")
    twice = placed(("P", "1", "a"), ("P", "1", "b"))
    assert "a/b on Hugging Face: the same problem text ('P') in rows 2, 4" in message(
        twice, origin=rows
    )
