from pathlib import Path

import pytest

from constraint_first.error import InputError
from constraint_first.file.rows import Columns, ColumnUse, JsonLine

USUAL = {"pred": ("pred", "reply"), "gold": ("gold", "answer", "solution")}


def find(row: dict[str, str], name: str, **chosen: str) -> list[str]:
    return [*Columns(USUAL, chosen).find(row, name)]


def test_usual_names_in_their_order_whatever_their_case() -> None:
    row = {"Solution": "", " ANSWER ": "", "x": ""}
    assert find(row, "gold") == [" ANSWER ", "Solution"]
    assert find(row, "pred") == []


def test_a_chosen_column_is_the_only_one_and_nobody_elses() -> None:
    row = {"answer": "", "solution": "", "x": ""}
    assert find(row, "gold", gold="X") == ["x"]
    assert find(row, "gold", pred="Answer") == ["solution"]


def test_what_is_not_there_is_named() -> None:
    rows = [JsonLine(1, {"replies": "", "gold": ""})]
    with pytest.raises(InputError, match=r"f.csv: no column is called 'reply'.*mean 'replies'"):
        Columns(USUAL, {"pred": "reply"}).check(Path("f.csv"), rows)
    said = r"f.csv: has no text under 'pred' \(or 'reply'\); choose one of 'replies', 'gold' with"
    with pytest.raises(InputError, match=said):
        Columns(USUAL).check(Path("f.csv"), rows, ("gold", "pred"))
    Columns(USUAL, {"pred": "reply"}).check(Path("f.csv"), [], ("pred",))
    with pytest.raises(InputError, match="--columns prd=…: nothing here is called 'prd'"):
        Columns(USUAL, {"prd": "x"})


def test_many_columns_are_not_all_listed() -> None:
    row = {f"c{n}": "" for n in range(30)}
    assert "'c19' and 10 more with --columns" in Columns(USUAL).absent(row, "pred")
    assert Columns(USUAL, {"pred": "x"}).absent(row, "pred") == "has no text under 'x'"
    assert "choose one of none with" in Columns(USUAL).absent({}, "pred")


def test_what_was_taken_is_one_line() -> None:
    use = ColumnUse(Path("f.csv"), "rows")
    assert use.describe(0, ("pred", "gold")) == "f.csv: 0 rows"
    use.add("pred", "reply")
    assert use.describe(1, ("pred", "gold")) == "f.csv: 1 row; pred from 'reply'"
    assert (use.saw("pred"), use.saw("gold")) == (True, False)
    use.add("pred", "pred")
    use.add("gold", "answer", "after ####")
    told = "pred from 'reply' or 'pred', gold from 'answer' (after ####, in 1 of 2)"
    assert use.describe(2, ("pred", "gold")) == f"f.csv: 2 rows; {told}"
    use.add("gold", "answer")
    assert use.describe(2, ("gold",)).endswith("gold from 'answer' (1 after ####, 1 as written)")
