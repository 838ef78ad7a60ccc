from rich.text import Text

from constraint_first.cli.console import Column, Layout, Section, fit
from constraint_first.report.study import short_method_names

METHODS = (
    "until-agreed(base=program(tokens=200,check=off),most=3,agree=1,check=off)",
    "until-agreed(base=program(tokens=200),most=3,agree=1)",
)
COLUMNS = (
    Column("benchmark", "name", shared=True),
    Column("method", "name", shorten=short_method_names),
    Column("accuracy"),
    Column("95 %", rank=1),
    Column("tokens", rank=2),
)


def layout(*rows: tuple[str, ...], columns: tuple[Column, ...] = COLUMNS) -> Layout:
    made = tuple(tuple(map(Text, row)) for row in rows)
    return Layout(columns, (Section(made),), header=True)


TWO = layout(
    ("constraintbench", METHODS[0], "37.1%", "34.6% – 39.7%", "1,361,901"),
    ("constraintbench", METHODS[1], "58.4%", "55.6% – 61.2%", "2,202,866"),
)


def titles(found: Layout) -> list[str]:
    return [column.title for column in found.columns]


def test_what_fits_stays_as_it_is() -> None:
    for room in (None, 500):
        found = fit(TWO, room)
        assert found.sections == TWO.sections
        assert found.widths == TWO.natural()
        assert not [*found.notes("--json")]


def test_less_is_shown_the_less_room_there_is() -> None:
    grouped = fit(TWO, 120)
    assert titles(grouped) == ["method", "accuracy", "95 %", "tokens"]
    assert [one.heading for one in grouped.sections] == ["benchmark: constraintbench"]
    assert grouped.full_names == ()
    short = fit(TWO, 80)
    names = [row[0].plain for row in short.sections[0].rows]
    assert len({*names}) == 2
    assert all(name in next(short.notes("")) for name in (*names, *METHODS))
    few = fit(TWO, 40)
    assert titles(few) == ["method", "accuracy", "95 %"]
    assert [*few.notes("--json")][-1] == (
        "Not shown at this width: tokens; a wider terminal or --json shows all."
    )
    assert titles(fit(TWO, 24)) == ["method", "accuracy"]
    for room in range(20, 200):
        found = fit(TWO, room)
        assert found.total(found.widths) <= room


def test_rows_are_grouped_where_that_makes_few_groups() -> None:
    rows = [(name, "direct" * 9, "1%", "1% – 2%", "9") for name in ("a-set", "a-set", "b", "b")]
    assert [one.heading for one in fit(layout(*rows), 60).sections] == [
        "benchmark: a-set",
        "benchmark: b",
    ]
    mixed = layout(rows[0], rows[2], rows[1])
    assert fit(mixed, 60).columns[0].title == "benchmark"
    like_above = layout(rows[0], ("", *rows[1][1:]))
    assert len(fit(like_above, 60).sections) == 1


def test_a_name_without_seams_loses_letters_and_never_its_difference() -> None:
    columns = (Column("model", "name"), Column("n"))
    ends = layout(("x" * 90 + "a", "12"), ("x" * 90 + "b", "34"), columns=columns)
    found = fit(ends, 40)
    assert found.total(found.widths) <= 40
    assert len({cell.plain for cell in found.cells(0)}) == 2
    middle = layout(
        ("x" * 40 + "a" + "x" * 40, "1"), ("x" * 40 + "b" + "x" * 40, "2"), columns=columns
    )
    assert fit(middle, 40).sections == middle.sections, "rather a line that is too long"


def test_names_get_room_before_prose() -> None:
    columns = (Column("model", "name"), Column("about", "prose"))
    found = fit(
        layout(("qwen2.5-coder-1.5b-instruct", "it is a small model " * 5), columns=columns), 60
    )
    assert found.widths[0] == len("qwen2.5-coder-1.5b-instruct")


def test_a_table_without_rows_fits() -> None:
    assert fit(layout(), 10).total(fit(layout(), 10).widths) >= 0
