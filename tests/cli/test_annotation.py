"""Labels that were made before, several annotators, and what is refused."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from sums import number_in, right, sums

from constraint_first.attempt.drive import Scripted
from constraint_first.protocol import Call
from constraint_first.run.job import prepare, run
from constraint_first.store.store import Series, Store

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


def mark(cfr: Run, keys: str, *options: str, by: str = "ada") -> Ran:
    return cfr(*MARK, "--annotator", by, *options, stdin=keys.encode())


def labels(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]


def marks(label: dict[str, Any]) -> list[str]:
    return [one["mark"] for one in label["constraints"]]


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with three attempts to judge, each with three constraints."""
    fill(tmp_path)
    return tmp_path


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
    (one,) = labels(tmp_path)[0]["constraints"]
    assert (one["id"], one["stage"], one["mark"]) == ("\ud800", "raw", "entailed")


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


def test_labels_of_other_words_are_refused(cfr: Run, filled: Path) -> None:
    mark(cfr, "e\ne\ne\n\nq\n")
    (label,) = labels(filled)
    label["constraints"][1]["digest"] = "0" * 12
    before = json.dumps(label) + "\n"
    (filled / "labels.jsonl").write_text(before)
    ran = mark(cfr, "e\n")
    assert ran.code == 2
    assert "has other words in C2 than those that ada judged; these are not the runs" in ran.err
    assert (filled / "labels.jsonl").read_text() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--annotator", "a/b"], "annotator 'a/b': a name has up to 40 letters"),
        (["--model", "none"], "runs.db: has no model 'none'; it has m"),
        (["--benchmark", "none"], "runs.db: has no benchmark 'none'; it has sums"),
        (["--method", "direct"], "runs.db: has no method 'direct'; it has cfr"),
        (["--labels", "none/labels.jsonl"], "none/labels.jsonl: cannot be written"),
        (["--labels", "runs.db"], "runs.db, line 1: not UTF-8"),
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
