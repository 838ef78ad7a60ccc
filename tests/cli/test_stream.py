from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from constraint_first.cli.console import SafeConsole, TextStream


def written(capsys: pytest.CaptureFixture[str], *pieces: str, width: int | None = 20) -> str:
    stream = TextStream(SafeConsole(width=width))
    capsys.readouterr()
    for piece in pieces:
        stream.write(piece)
    stream.end()
    return capsys.readouterr().out


def test_a_word_that_comes_in_pieces_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    pieces = ("The remain", "der is th", "e incompre", "hensib", "le num", "ber 1,2", "34,567.")
    assert written(capsys, *pieces) == "The remainder is the\nincomprehensible\nnumber 1,234,567.\n"


def test_a_word_is_written_as_soon_as_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    stream = TextStream(SafeConsole(width=20))
    stream.write("one tw")
    assert (capsys.readouterr().out, stream.waits) == ("one", True)
    stream.write("o ")
    assert (capsys.readouterr().out, stream.waits) == (" two", False)
    stream.write("thr")
    stream.flush()
    assert (capsys.readouterr().out, stream.waits) == (" thr", False), "or when there is a pause"
    stream.write("ee\n")
    assert capsys.readouterr().out == "ee\n"


def test_lines_of_code_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    code = "```python\nprint('a line of code that is longer than the terminal')\n  x = 1\n```\n"
    shown = written(capsys, "So:\n``", "`py", *code[5:], "and then we go on in prose")
    assert shown == f"So:\n{code}and then we go on in\nprose\n"


def test_wide_characters_fill_two_places(capsys: pytest.CaptureFixture[str]) -> None:
    shown = written(capsys, "答えは", "二十三です。", "これで終わりです。", width=10)
    assert all(cell_len(line) <= 10 for line in shown.splitlines())
    assert shown.replace("\n", "") == "答えは二十三です。これで終わりです。"


def test_in_a_pipe_lines_stay_as_they_came(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "a long line of words " * 20 + "\n  and one more "
    assert written(capsys, text[:33], text[33:], width=None) == text + "\n"


def test_another_style_begins_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    stream = TextStream(SafeConsole(width=20))
    stream.write("thoug", "dim")
    stream.write("said")
    assert capsys.readouterr().out == "thoug"
    stream.restart()
    stream.write("anew ")
    assert capsys.readouterr().out == "anew"


@given(st.text("ab1 \n数`-", max_size=80), st.integers(4, 30), st.data())
def test_however_it_is_cut_into_pieces_the_lines_are_the_same(
    text: str, width: int, data: st.DataObject
) -> None:
    cut = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in pairwise([0, *cut, len(text)])]
    whole, pieced = Recorder(width), Recorder(width)
    for recorder, parts in ((whole, [text]), (pieced, pieces)):
        stream = TextStream(recorder)
        for part in parts:
            stream.write(part)
        stream.end()
    assert pieced.said == whole.said
    assert "".join(whole.said.split()) == "".join(text.split())


class Recorder(SafeConsole):
    """A console that keeps what is printed."""

    def __init__(self, width: int) -> None:
        super().__init__(width=width)
        self.said = ""

    def print(self, *objects: object, **_: object) -> None:
        self.said += "".join(map(str, objects))
