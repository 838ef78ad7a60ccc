"""Every command with hostile names, texts, answers and endpoints: they are shown, never obeyed."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import completion, failure

from .conftest import Ran, Run

CONTROL = "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f"
NAME = f"org/name[/x][red]{CONTROL}\u202egnp"
"""A name as an argument or a file may have it; no path on this disk may hold a slash or a NUL."""
LONG = f"{NAME}\n{'x' * 3_000}"
TEXT = f"{NAME}\n\x00\ud800\r\u2066end"
ANSWER = "[red]x[/x]\x1b[2J\x9b\u202e"
CUED = f"Find the remainder of 5 divided by 3. {TEXT}"


def assert_harmless(*runs: Ran) -> None:
    for ran in runs:
        said = ran.out + ran.err
        assert "Traceback" not in said
        assert {one for one in said if unicodedata.category(one) in ("Cc", "Cs")} <= {"\n"}
        assert not set(said) & {"\u202e", "\u2066"}


def write_rows(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def hostile(endpoint: Server) -> Server:
    """An endpoint whose model has a hostile name and writes hostile replies."""
    spec = {
        "raw_constraints": [{"id": TEXT, "type": TEXT, "description": TEXT}],
        "answer_format": TEXT,
        "danger_note": TEXT,
    }

    def respond(body: dict[str, Any]) -> Any:
        stage1 = "Do not solve the problem" in str(body)
        return completion(json.dumps(spec) if stage1 else f"{TEXT} \\boxed{{{ANSWER}}}")

    endpoint.served = [{"id": LONG}]
    endpoint.respond = respond
    return endpoint


def test_a_hostile_model_cannot_drive_the_terminal(cfr: Run, hostile: Server) -> None:
    ask = ("solve", "Find the remainder of 5 divided by 3. " + NAME, "--base-url", hostile.url)
    shown, quiet = cfr(*ask), cfr(*ask, "--quiet")
    assert_harmless(shown, quiet, cfr("demo", *ask[2:]))
    assert (shown.code, quiet.code) == (0, 0), shown.err
    assert "[red]" in shown.out
    assert quiet.out == "[red]x[/x]�[2J��\n"
    ran = cfr(*ask, "--json")
    assert_harmless(ran)
    assert json.loads(ran.out)["answer"] == ANSWER


@pytest.mark.parametrize("fault", [failure(400, TEXT), failure(503, TEXT, Retry_After="0")])
def test_an_endpoint_s_message_is_one_harmless_line(cfr: Run, endpoint: Server, fault: Any) -> None:
    endpoint.script(fault)
    ask = ("solve", "2 + 2?", "--model", LONG, "--base-url", endpoint.url)
    ran = cfr(*ask, "--quiet")
    assert (ran.code, ran.err.count("\n")) == (3, 1)
    assert "[/x][red]" in ran.err
    assert_harmless(ran, cfr(*ask))


@pytest.fixture
def filled(cfr: Run, hostile: Server, tmp_path: Path) -> str:
    """A store in which all that can come from outside is hostile, and half of it failed."""
    name = NAME.replace("/", "_") + "\n.jsonl"
    rows = (
        {"id": f"{n} {LONG[:200]}", "problem": f"{n} {CUED[:60]}", "answer": NAME} for n in "12"
    )
    write_rows(tmp_path / name, *rows)
    answer = hostile.respond
    assert answer
    hostile.respond = lambda body: failure(400, TEXT) if "1 Find" in str(body) else answer(body)
    ran = cfr(
        "eval",
        name,
        "--runs",
        "1",
        "--method",
        "direct",
        "--method",
        "cfr",
        "--base-url",
        hostile.url,
    )
    assert_harmless(ran)
    assert ran.code == 7, ran.err
    assert "[/x]" in ran.out
    return "runs.db"


def test_a_store_of_hostile_names_and_texts(cfr: Run, filled: str, tmp_path: Path) -> None:
    listed = cfr("runs", "--json")
    assert json.loads(listed.out)[0]["model"] == LONG
    label = {"annotator": "ada", "benchmark": NAME, "problem": TEXT, "method": "cfr", "model": LONG}
    constraints = [{"id": TEXT, "stage": "raw", "mark": "entailed"}]
    label |= {"decoding": {}, "run": 0, "constraints": constraints, "missing": [TEXT], "note": TEXT}
    write_rows(tmp_path / "labels.jsonl", label)
    assert_harmless(listed)
    for command in READERS:
        ran = cfr(*command.split())
        assert_harmless(ran)
        assert ran.code == 0, ran.err
    wrong = cfr("compare", "--model", LONG, "--baseline", NAME)
    assert wrong.code == 2
    assert_harmless(wrong)


READERS = (
    "runs",
    "runs --regrade",
    "compare --method cfr",
    "compare --method cfr --json",
    "audit router --method cfr",
    "audit stage1 --method cfr",
    "audit errors --method cfr",
    "audit errors --method cfr --json",
    "audit report labels.jsonl",
    "report --method cfr --no-figures",
    "export out.csv",
    "export out.jsonl",
)


def test_a_terminal_gets_our_colours_and_nothing_else(cfr: Run, filled: str) -> None:
    for command in ("runs", "compare --method cfr", "audit stage1 --method cfr"):
        ran = cfr(*command.split(), FORCE_COLOR="1", TERM="xterm-256color")
        assert "\x1b[" in ran.out
        ran.out = re.sub(r"\x1b\[[\d;]*m", "", ran.out)
        assert_harmless(ran)


@pytest.mark.parametrize(
    "command", ["solve", "route", "constraints", "eval", "grade", "extract", "bench check"]
)
def test_hostile_arguments_come_back_harmless(command: str, cfr: Run) -> None:
    def ask(*words: str) -> Ran:
        return cfr(*command.split(), *words, OPENAI_BASE_URL="http://127.0.0.1:1/v1")

    assert_harmless(
        ask(f"{NAME}.jsonl"),
        ask(LONG + ".jsonl"),
        ask("x", f"--{NAME}"),
        ask("x", "-o", NAME, "--method", NAME, "--base-url", NAME),
        cfr(f"{NAME}{LONG}"),
    )


def test_files_of_hostile_rows(cfr: Run, tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "p.jsonl", {"id": TEXT, "problem": CUED, "answer": TEXT})
    rows = write_rows(
        tmp_path / "rows.jsonl",
        {"id": TEXT, "pred": TEXT, "gold": TEXT, "text": f"\\boxed{{{ANSWER}}}"},
        {"id": TEXT, "problem": TEXT},
    )
    judged = write_rows(
        tmp_path / "o.jsonl",
        *(
            {"problem": TEXT, "method": method, "label": TEXT, "model": LONG, "correct": True}
            for method in (TEXT, LONG)
        ),
    )
    graded, read = cfr("grade", rows), cfr("extract", rows)
    assert json.loads(graded.out)["id"] == TEXT
    assert json.loads(read.out)["answer"] == ANSWER
    assert_harmless(
        graded,
        read,
        cfr("grade", NAME, NAME),
        cfr("route", problems),
        cfr("route", CUED.replace("\x00", "").replace("\ud800", "")),
        cfr("constraints", problems),
        cfr("constraints", CUED.replace("\x00", "").replace("\ud800", ""), "--answer", "x\x1b[2J"),
        cfr("bench", "check", problems),
        cfr("compare", judged, "--baseline", LONG),
        cfr("audit", "router", judged),
        cfr("report", judged, "--no-figures"),
    )
