"""Judging constraints as a person does: keys through a pipe or a terminal, and kills between."""

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import Run
from .test_annotation import MARK, fill, labels, mark, marks


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with three attempts to judge, each with three constraints."""
    fill(tmp_path)
    return tmp_path


def test_keys_from_a_pipe(cfr: Run, filled: Path) -> None:
    ran = mark(cfr, "e\nN\nv\nm\n  x ≤ 9 \nt\nodd\n\nq\n")
    assert ran.code == 0, ran.err
    assert "3 of 3 attempts, one a problem and model, drawn with seed 1; 1 more have no" in ran.out
    assert "1 of 3 judged; kept in labels.jsonl. The same command goes on here." in ran.out
    (label,) = labels(filled)
    assert marks(label) == ["entailed", "not_entailed", "vague"]
    assert [one["stage"] for one in label["constraints"]] == ["raw", "raw", "propagated"]
    assert (label["annotator"], label["missing"], label["note"]) == ("ada", ["x ≤ 9"], "odd")
    assert label["decoding"] == {"temperature": 0.7, "top_p": 0.95, "seed": None}
    assert (label["model"], label["method"], label["run"]) == ("m", "cfr", 0)


def test_what_a_model_wrote_does_nothing_to_the_terminal(cfr: Run, filled: Path) -> None:
    ran = mark(cfr, "q\n")
    assert "C1 domain  an [bold]integer[/bold] �]0;owned�" in ran.out
    assert "\x1b" not in ran.out


def test_the_gold_answer_is_hidden_until_it_is_asked_for(cfr: Run, filled: Path) -> None:
    assert "gold" not in mark(cfr, "q\n").out
    said = mark(cfr, "g\nq\n").out
    asked = re.search(r"What is (\d) \+ 1\?", said)
    assert asked
    assert f"gold answer {int(asked[1]) + 1}" in said


def test_help_and_keys_that_do_nothing(cfr: Run, filled: Path) -> None:
    ran = mark(cfr, "?\nx\n\nb\nq\n")
    assert "too little to be true or false" in ran.out
    assert "'x' does nothing here" in ran.out
    assert "Enter does nothing here" in ran.out
    assert "this is the first one" in ran.out
    assert labels(filled) == []


def test_going_back_changes_a_mark_and_reopens_the_attempt_before(cfr: Run, filled: Path) -> None:
    mark(cfr, "e\ne\nb\nn\ne\n\n" + "b\nb\nv\n\n" + "q\n")
    first, again = labels(filled)
    assert marks(first) == ["entailed", "not_entailed", "entailed"]
    assert marks(again) == ["entailed", "not_entailed", "vague"]
    assert first["problem"] == again["problem"]
    assert "1 of 3 judged" in mark(cfr, "").out


def test_a_missing_constraint_can_be_taken_back(cfr: Run, filled: Path) -> None:
    mark(cfr, "m\none\nm\ntwo\nm\n-\nm\n\ne\ne\ne\n\nq\n")
    (label,) = labels(filled)
    assert label["missing"] == ["one"]


@pytest.mark.parametrize("end", ["", "q\n"])
def test_an_end_in_the_midst_loses_nothing(end: str, cfr: Run, filled: Path) -> None:
    ran = mark(cfr, "e\nn\n" + end)
    assert ran.code == 0
    assert "0 of 3 judged, 1 begun; kept in labels.jsonl. The same command goes on" in ran.out
    (draft,) = labels(filled)
    assert marks(draft) == ["entailed", "not_entailed", None]
    again = mark(cfr, "v\n\n")
    assert "3/3  P1 from C1, C2  2 at most" in again.out
    assert "1/3  C1" in again.out, "the next attempt begins"
    assert marks(labels(filled)[1]) == ["entailed", "not_entailed", "vague"]


def test_input_that_is_closed_or_not_text(cfr: Run, filled: Path) -> None:
    shell = ("sh", "-c", 'exec "$@" <&-', "sh")
    closed = subprocess.run(
        [*shell, sys.executable, "-m", "constraint_first", *MARK, "--annotator", "ada"],
        cwd=filled,
        capture_output=True,
        check=False,
    )
    assert (closed.returncode, closed.stderr) == (0, b"")
    ran = cfr(*MARK, "--annotator", "ada", stdin=b"\xff\xfe\nm\n\xff\nq\n")
    assert (ran.code, ran.err) == (0, "")
    assert labels(filled)[0]["missing"] == ["�"]


def test_a_skipped_attempt_is_asked_for_next_time(cfr: Run, filled: Path) -> None:
    ran = mark(cfr, "s\n" + "e\ne\ne\n\n" * 2)
    assert "2 of 3 judged" in ran.out
    again = mark(cfr, "n\nn\nn\n\n")
    assert "1 of 3  sums" in again.out
    assert "3 of 3 judged" in again.out
    assert "'cfr audit report labels.jsonl' adds up what was found" in again.out
    assert "3 of 3 judged" in mark(cfr, "").out
    assert len(labels(filled)) == 3


@contextmanager
def started(
    folder: Path, stdin: int, stdout: int, stderr: int | None = None
) -> Generator[subprocess.Popen[bytes]]:
    # A shell that runs the tests in the background has its children ignore interrupts.
    launch = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from constraint_first.cli import main; main()"
    )
    command = [sys.executable, "-c", launch, *MARK, "--annotator", "ada"]
    with subprocess.Popen(
        command, cwd=folder, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[bytes], pattern: str) -> None:
    """Read what a process says until it says this."""
    assert process.stdout
    said = ""
    while not re.search(pattern, said, re.DOTALL):
        got = os.read(process.stdout.fileno(), 4096)
        assert got, f"{pattern!r} was not said: {said}"
        said += got.decode(errors="replace")


def test_killed_midway_only_the_attempt_in_hand_is_lost(cfr: Run, filled: Path) -> None:
    with started(filled, subprocess.PIPE, subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(b"e\ne\ne\n\n" + b"e\nn\n")
        process.stdin.flush()
        wait_for(process, "2 of 3  sums.*3/3  P1")
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert [marks(label) for label in labels(filled)] == [["entailed"] * 3]
    again = mark(cfr, "n\nn\nn\n\n" * 2)
    assert "1 of 3  sums" not in again.out
    assert "2 of 3  sums" in again.out
    assert [marks(label)[0] for label in labels(filled)] == ["entailed", *["not_entailed"] * 2]


@pytest.mark.parametrize(("keys", "at"), [("e\ns\n", 2), ("s\ne\nb\nb\n", 1)])
def test_an_attempt_that_is_left_is_kept_at_once(
    keys: str, at: int, cfr: Run, filled: Path
) -> None:
    with started(filled, subprocess.PIPE, subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write(keys.encode() + b"?\n")
        process.stdin.flush()
        wait_for(process, f"(skipped for now|attempt before).*{at} of 3  sums.*save and quit")
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    assert [marks(label) for label in labels(filled)] == [["entailed", None, None]]
    assert "0 of 3 judged, 1 begun" in mark(cfr, "").out


def test_an_interrupt_keeps_what_is_in_hand(cfr: Run, filled: Path) -> None:
    with started(filled, *[subprocess.PIPE] * 3) as process:
        assert process.stdin
        process.stdin.write(b"v\n")
        process.stdin.flush()
        wait_for(process, "2/3  C2")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "0 of 3 judged, 1 begun" in out.decode()
    assert err.decode() == "cfr: stopped\n"
    assert marks(labels(filled)[0]) == ["vague", None, None]


class Terminal:
    """The other side of a pseudo-terminal."""

    def __init__(self, master: int) -> None:
        self._master = master

    def wait_for(self, text: str) -> None:
        said = ""
        while text not in said:
            ready, _, _ = select.select([self._master], [], [], 30)
            assert ready, f"{text!r} was not said: {said}"
            said += os.read(self._master, 4096).decode(errors="replace")

    def press(self, keys: str, *, line: bool = False) -> None:
        """Type once the command waits for a key, or for a line."""
        import termios

        until = time.monotonic() + 30
        while bool(termios.tcgetattr(self._master)[3] & termios.ICANON) != line:
            assert time.monotonic() < until
            time.sleep(0.01)
        os.write(self._master, keys.encode())


@pytest.mark.parametrize("end", ["q", "\x03", "\x04"])
def test_on_a_terminal_a_key_needs_no_enter(end: str, cfr: Run, filled: Path) -> None:
    pty = pytest.importorskip("pty", reason="pseudo-terminals are not known here")
    master, slave = pty.openpty()
    with started(filled, slave, slave, slave) as process:
        os.close(slave)
        terminal = Terminal(master)
        terminal.wait_for("> ")
        terminal.press("e")
        terminal.wait_for("2/3")
        terminal.press("\x1b[A")  # an arrow is one key, and not one of ours
        terminal.wait_for("does nothing here")
        terminal.press("nv")  # both at once
        terminal.wait_for("All marked")
        terminal.press("m")
        terminal.wait_for("what is missing")
        terminal.press("at least 0\n", line=True)
        terminal.wait_for("missing: at least 0")
        terminal.press("\r")
        terminal.wait_for("2 of 3")
        terminal.press("e")
        terminal.wait_for("2/3")
        terminal.press(end)
        terminal.wait_for("1 of 3 judged, 1 begun; kept in labels.jsonl. The same command goes on")
        assert process.wait(30) == (130 if end == "\x03" else 0)
    os.close(master)
    done, draft = labels(filled)
    assert marks(done) == ["entailed", "not_entailed", "vague"]
    assert done["missing"] == ["at least 0"]
    assert marks(draft) == ["entailed", None, None]
