"""Judging constraints as a person does: keys through a pipe or a terminal, and kills between."""

import asyncio
import json
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
from typing import Any

import pytest
from sums import number_in, right, sums

from cfr.engine.scripted import Scripted
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store
from cfr.protocol import Call

from .conftest import Ran, Run

HOSTILE = "an [bold]integer[/bold] \x1b]0;owned\x07"
MARK = ("audit", "mark", "runs.db", "--labels", "labels.jsonl")


def reply(call: Call) -> str:
    """Two raw constraints and a propagated one for each problem; p3 gives none at all."""
    if call.stage != "stage1":
        return right(call)
    if number_in(call) == 3:
        return "I would rather not."
    raw = [
        {"id": "C1", "type": "domain", "description": HOSTILE},
        {"id": "C2", "type": "bound", "description": "below 3"},
    ]
    propagated = [{"id": "P1", "derived_from": ["C1", "C2"], "description": "2 at most"}]
    return json.dumps({"raw_constraints": raw, "propagated_constraints": propagated})


def fill(folder: Path, method: str = "cfr", model: str = "m") -> None:
    with Store(str(folder / "runs.db")) as store:
        job = prepare(store, Series("sums", method, model), sums(4), 1, Scripted(reply))
        asyncio.run(run(store, [job], 1))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with three attempts to judge, each with three constraints."""
    fill(tmp_path)
    return tmp_path


def mark(cfr: Run, keys: str, *options: str, by: str = "ada") -> Ran:
    return cfr(*MARK, "--annotator", by, *options, stdin=keys.encode())


def labels(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


def marks(label: dict[str, Any]) -> list[str]:
    return [one["mark"] for one in label["constraints"]]


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
        [*shell, sys.executable, "-m", "cfr", *MARK, "--annotator", "ada"],
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
        "from cfr.cli import main; main()"
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


def test_an_exported_file_is_judged_like_its_store(cfr: Run, filled: Path) -> None:
    assert mark(cfr, "e\nn\ne\n\n").code == 0
    assert cfr("export", "attempts.jsonl").code == 0
    arguments = ("audit", "mark", "attempts.jsonl", "--labels", "labels.jsonl")
    ran = cfr(*arguments, "--annotator", "ada", stdin=b"e\nn\ne\n\n")
    assert "1 of 3  sums" not in ran.out
    assert "2 of 3 judged" in ran.out


def test_text_that_has_no_utf8_is_shown_and_kept(cfr: Run, tmp_path: Path) -> None:
    constraints = {"raw_constraints": [{"id": "\ud800", "description": "even\udfff"}]}
    row: dict[str, Any] = {
        "problem": "p",
        "method": "cfr",
        "correct": True,
        "problem_text": "2\ud800?",
    }
    row["details"] = {"rung": "parsed", "constraints": constraints}
    (tmp_path / "attempts.jsonl").write_text(json.dumps(row))
    arguments = ("audit", "mark", "attempts.jsonl", "--labels", "labels.jsonl")
    for keys, judged in ((b"q\n", "0 of 1 judged"), (b"e\n\n", "1 of 1 judged")):
        ran = cfr(*arguments, "--annotator", "ada", stdin=keys)
        assert (ran.code, ran.err) == (0, "")
        assert judged in ran.out
    assert labels(tmp_path)[0]["constraints"][0] == {
        "id": "\ud800",
        "stage": "raw",
        "mark": "entailed",
    }


def test_two_annotators_and_the_report(cfr: Run, filled: Path) -> None:
    fill(filled, model="other")
    one = ("--size", "3", "--model", "m")
    assert mark(cfr, "e\nn\ne\n\n" * 2 + "e\nm\nx > 0\nn\nv\n\n", *one).code == 0
    assert mark(cfr, "e\nn\ne\n\n" + "e\nv\nv\n\n", *one, by="ben").code == 0
    assert mark(cfr, "e\n", *one, by="cy").code == 0
    assert mark(cfr, "v\nv\nv\n\n", "--size", "1", "--model", "other").code == 0
    found = json.loads(cfr("audit", "report", "labels.jsonl", "--json").out)
    m, other, together = found["models"]
    assert [row["model"] for row in found["models"]] == ["m", "other", "all"]
    assert (m["attempts"], m["constraints"], m["raw"], m["propagated"]) == (3, 9, 2, 1)
    assert m["validity"]["value"] == pytest.approx(4.5 / 9)  # pyright: ignore
    assert m["hallucination"]["value"] == pytest.approx(2.5 / 9)  # pyright: ignore
    assert m["completeness"] | {"ci": None} == {"value": 0.75, "ci": None, "n": 4}
    assert (other["vague"]["value"], other["completeness"]["value"]) == (1, None)
    assert together["validity"]["n"] == 12
    (pair,) = found["annotators"]
    # Ada says e n e e n e, Ben says e n e e v v.
    assert (pair["annotators"], pair["n"], pair["agreement"]) == (["ada", "ben"], 6, 4 / 6)
    assert pair["kappa"] == pytest.approx((24 - 14) / (36 - 14))  # pyright: ignore
    assert found["drafts"] == 1
    ran = cfr("audit", "report", "labels.jsonl")
    assert ran.code == 0
    assert "50.0 [" in ran.out
    assert re.search(r"ada, ben +2 +6 +66\.7 % +0\.45", ran.out)
    assert "Begun, not finished and left out: 1 attempt." in ran.out


def test_labels_of_a_store_that_has_changed_are_refused(cfr: Run, filled: Path) -> None:
    mark(cfr, "e\ne\ne\n\nq\n")
    (label,) = labels(filled)
    label["constraints"].pop()
    before = json.dumps(label) + "\n"
    (filled / "labels.jsonl").write_text(before)
    ran = mark(cfr, "e\n")
    assert ran.code == 2
    assert "has 3 constraints (C1, C2, P1), but ada judged 2 constraints (C1, C2)" in ran.err
    assert (filled / "labels.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--annotator", "a/b"], "annotator 'a/b': a name has up to 40 letters"),
        (["--model", "none"], "runs.db: has no model 'none'; it has m"),
        (["--benchmark", "none"], "runs.db: has no benchmark 'none'; it has sums"),
        (["--method", "direct"], "runs.db: has no method 'direct'; it has cfr"),
        (["--labels", "none/labels.jsonl"], "none/labels.jsonl: cannot be written"),
        (["--labels", "runs.db"], "runs.db: not UTF-8"),
        (["--labels", "torn.jsonl"], "torn.jsonl, line 1: not JSON"),
        (["--size", "0"], "--size"),
    ],
)
def test_mistakes(options: list[str], message: str, cfr: Run, filled: Path) -> None:
    (filled / "torn.jsonl").write_text('{"annotator": "a')
    store = (filled / "runs.db").read_bytes()
    ran = mark(cfr, "e\n", *options)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert (filled / "runs.db").read_bytes() == store


def test_a_store_that_is_not_there(cfr: Run, tmp_path: Path) -> None:
    ran = mark(cfr, "e\n")
    assert (ran.code, ran.out) == (5, "")
    assert "runs.db: there is no such store" in ran.err
    assert not (tmp_path / "runs.db").exists()
    assert not (tmp_path / "labels.jsonl").exists()


def test_a_store_without_stage_1(cfr: Run, tmp_path: Path) -> None:
    fill(tmp_path, method="direct")
    ran = mark(cfr, "e\n")
    assert ran.code == 2
    assert "runs.db: no attempt has Stage 1 constraints; run 'cfr eval' with" in ran.err


def test_a_report_on_nothing(cfr: Run, filled: Path) -> None:
    assert "none.jsonl: cannot be read" in cfr("audit", "report", "none.jsonl").err
    mark(cfr, "e\n")
    ran = cfr("audit", "report", "labels.jsonl")
    assert ran.code == 2
    assert "labels.jsonl: no attempt is judged yet" in ran.err
