import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from constraint_first.cli.console import Folded, SafeConsole, fold, longest_line, longest_piece

UNTIL = "until-agreed(base=program(tokens=200,check=off),most=3)"


def lines(text: str, width: int, kind: str = "name") -> list[str]:
    return [line.plain for line in fold(Text(text), width, kind)]  # pyright: ignore[reportArgumentType]


def test_prose_folds_between_words() -> None:
    assert lines("the quick brown fox", 10, "prose") == ["the quick", "brown fox"]
    assert lines("one\ntwo three", 9, "prose") == ["one", "two three"]
    assert lines("immeasurable joy", 5, "prose") == ["immeasurable", "joy"], "no word is split"


@pytest.mark.parametrize(
    "whole",
    [
        "[34.6, 39.7]",
        "36.8% – 49.2%",
        "369 / 199 / 137",
        "95 %",
        "[−16.2, −9.7]",
        "7 min 20 s",
        "1 h 05 min",
    ],
)
def test_a_number_and_its_company_stay_together(whole: str) -> None:
    assert any(whole in line for line in lines(f"it is about {whole} of them", 16))
    assert lines(whole, 4) == [whole]


def test_a_name_folds_at_its_seams_where_it_must() -> None:
    assert lines(UNTIL, 30) == [
        "until-agreed(base=program(",
        "tokens=200,check=off),most=3)",
    ]
    assert lines("until-agreed [most=3, check=off]", 19) == ["until-agreed", "[most=3, check=off]"]
    assert lines("Qwen2.5-Coder-1.5B-Instruct", 16) == ["Qwen2.5-Coder-", "1.5B-Instruct"]
    assert lines("https://api.example.com/v1", 20) == ["https://", "api.example.com/v1"]
    assert lines("1,361,901", 4) == ["1,361,901"]
    assert lines(UNTIL, 9, "number") == [UNTIL]


def test_styles_and_wide_characters_are_minded() -> None:
    first, second = fold(Text.assemble(("数学 ", "red"), ("問題", "blue")), 5, "prose")
    assert (first.plain, second.plain) == ("数学", "問題")
    assert [span.style for span in (*first.spans, *second.spans)] == ["red", "blue"]


@given(st.text("ab1 ,.-(=[%–/数\n", max_size=60), st.integers(1, 20))
def test_nothing_is_lost_and_lines_are_as_short_as_can_be(text: str, width: int) -> None:
    for kind in ("name", "prose"):
        found = lines(text, width, kind)
        assert "".join("".join(found).split()) == "".join(text.split())
        most = max(width, longest_piece(Text(text), kind))  # pyright: ignore[reportArgumentType]
        assert all(longest_line(Text(line)) <= most for line in found)


def test_a_folded_text_is_written_at_the_width_of_its_console() -> None:
    console = Console(file=io.StringIO(), width=12)
    console.print(Folded(Text("an interval [34.6, 39.7]")))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().split("\n") == ["an interval", "[34.6, 39.7]", ""]


def test_in_a_pipe_a_text_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    SafeConsole().print(Folded(Text("word " * 50)))
    assert capsys.readouterr().out.count("\n") == 1
    monkeypatch.setenv("COLUMNS", "40")
    SafeConsole().print(Folded(Text("word " * 50)))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40
