"""The audits that need nobody, and the marks of people where they take them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from instructed import request_store
from intervened import intervened_store

from .conftest import Ran, Run

MEASURED = Path(__file__).parents[2] / "docs" / "results" / "constraintbench-mini.jsonl"


def tables(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    return {table["name"]: table for table in json.loads(ran.out)}


def test_stage_1_has_its_completeness_and_what_is_no_constraint_apart(cfr: Run) -> None:
    found = tables(cfr("audit", "stage1", str(MEASURED), "--json"))["extraction"]
    assert found["columns"][5:8] == ["Validity", "Halluc.", "Complete"]
    always_on, its_range, its_format = found["rows"][:3]
    assert always_on[7].startswith("75.8 % [")
    assert always_on[8] == "by gold: 30 of 106 constraints in 24 replies; complete: of 33"
    assert (its_range[1], its_format[1]) == ("answer range", "answer format")
    said = cfr("audit", "stage1", str(MEASURED)).out
    assert "Complete" in said
    assert "75.8 % [" in said
    assert "answer range" in said


def label(problem: str, method: str = "routed-cfr") -> str:
    decoding = {"seed": None, "temperature": 0.7, "top_p": 0.95}
    return json.dumps(
        {
            "annotator": "ada",
            "benchmark": "constraintbench-mini@1",
            "problem": problem,
            "method": method,
            "model": "qwen2.5-coder-1.5b",
            "decoding": decoding,
            "run": 0,
            "constraints": [{"id": "C1", "stage": "raw", "mark": "entailed"}],
            "missing": ["it is even"],
        }
    )


def test_marks_of_people_tell_how_complete_stage_1_is(cfr: Run, tmp_path: Path) -> None:
    row: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8").splitlines()[0])
    known = json.loads(label(row["problem"])) | {
        name: row[name] for name in ("model", "decoding", "run")
    }
    lines = [json.dumps(known), label("nobody's")]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ran = cfr("audit", "router", str(MEASURED), "--labels", "labels.jsonl", "--json")
    cofire = tables(ran)["cofire"]
    assert [line[4][:6] for line in cofire["rows"] if line[4] != "–"] == ["50.0 %"]
    assert "Marks on attempts that are not in these runs: 1" in ran.err
    bare = tables(cfr("audit", "router", str(MEASURED), "--json"))["cofire"]
    assert all(line[4:] == ["–", "–"] for line in bare["rows"])
    assert bare["notes"][-1].startswith("Stage 1 complete is empty: it takes marks by a person")


def test_errors_have_their_fixes_by_constraint(cfr: Run) -> None:
    found = tables(cfr("audit", "errors", str(MEASURED), "--method", "cfr-brief", "--json"))
    assert list(found)[:3] == ["outcomes", "errors", "fixes"]
    assert found["fixes"]["rows"][-1] == ["Fixed", "5"]
    per_problem = next(table for name, table in found.items() if name.startswith("per-problem"))
    fixes = [line[-1] for line in per_problem["rows"]]
    assert fixes.count("Reasoning error") == 12
    assert fixes.count("Propagation") == 2


def test_instructions_have_their_four_numbers(cfr: Run, tmp_path: Path) -> None:
    request_store(str(tmp_path / "runs.db"))
    found = tables(cfr("audit", "instructions", "--json"))
    assert found["instructions"]["columns"][6:] == [
        *("Prompt level Strict", "Prompt level Loose"),
        *("Instruction level Strict", "Instruction level Loose"),
    ]
    assert len(found["instructions"]["rows"]) == 2
    assert "punctuation:no_comma" in cfr("audit", "instructions", "runs.db").out
    compared = cfr("compare", "runs.db")
    assert "requests" in compared.out
    assert "gold instructions: [" not in compared.out


def test_runs_without_instructions_say_so(cfr: Run) -> None:
    ran = cfr("audit", "instructions", str(MEASURED))
    assert ran.code == 2
    assert "has no replies to requests with gold instructions; run a benchmark" in ran.err


def test_interventions_are_undone(cfr: Run, tmp_path: Path) -> None:
    intervened_store(str(tmp_path / "runs.db"))
    found = tables(cfr("audit", "interventions", "--json"))
    assert len(found["interventions"]["rows"]) == 2
    assert "intervention-steps" in found
    shown = cfr("audit", "interventions", "runs.db", "--benchmark", "sums").out
    assert "0.0" in shown
    assert "repair" in shown


def test_runs_without_interventions_say_so(cfr: Run) -> None:
    ran = cfr("audit", "interventions", str(MEASURED))
    assert ran.code == 2
    assert "has no interventions on record; run a method that makes them" in ran.err


def marked(annotator: str, problem: str, marks: str, missing: int = 0) -> str:
    """Write an annotator's line: a letter for each constraint, ``-`` where no mark is given yet."""
    words = {"e": "entailed", "n": "not_entailed", "v": "vague", "-": None}
    stages = ("raw", "raw", "propagated")
    line: dict[str, Any] = json.loads(label(problem)) | {"annotator": annotator, "model": "m"}
    line["constraints"] = [
        {"id": f"C{n}", "stage": stages[n], "mark": words[mark]} for n, mark in enumerate(marks)
    ]
    return json.dumps(line | {"missing": ["x > 0"] * missing})


def test_the_marks_of_several_people_are_added_up(cfr: Run, tmp_path: Path) -> None:
    lines = [marked("ada", "1", "ene"), marked("ada", "2", "ene"), marked("ada", "3", "env", 1)]
    lines += [marked("ben", "1", "ene"), marked("ben", "2", "evv"), marked("cy", "1", "e--")]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines) + "\n")
    found = json.loads(cfr("audit", "report", "labels.jsonl", "--json").out)
    together = found["models"][-1]
    assert (together["attempts"], together["raw"], together["propagated"]) == (3, 2, 1)
    assert together["validity"]["value"] == pytest.approx(4.5 / 9)  # pyright: ignore
    assert together["hallucination"]["value"] == pytest.approx(2.5 / 9)  # pyright: ignore
    assert together["completeness"] | {"ci": None} == {"value": 0.75, "ci": None, "n": 4}
    (pair,) = found["annotators"]
    assert (pair["annotators"], pair["n"], pair["agreement"]) == (["ada", "ben"], 6, 4 / 6)
    assert pair["kappa"] == pytest.approx((24 - 14) / (36 - 14))  # pyright: ignore
    assert found["drafts"] == 1
    ran = cfr("audit", "report", "labels.jsonl")
    assert "50.0 [" in ran.out
    assert re.search(r"ada, ben +2 +6 +66\.7 % +0\.45", ran.out)
    assert "Begun, not finished and left out: 1 attempt." in ran.out


def test_marks_that_cannot_be_added_up(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "torn.jsonl").write_text('{"annotator": "a')
    (tmp_path / "begun.jsonl").write_text(marked("ada", "1", "e--") + "\n")
    for name, message in (
        ("none.jsonl", "none.jsonl: cannot be read"),
        ("torn.jsonl", "torn.jsonl, line 1: not JSON"),
        ("begun.jsonl", "begun.jsonl: no attempt is judged yet"),
    ):
        ran = cfr("audit", "report", name)
        assert (ran.code, ran.out) == (2, "")
        assert message in ran.err


def test_marking_is_done_on_a_page(cfr: Run) -> None:
    ran = cfr("audit", "mark", "runs.db", "--labels", "labels.jsonl", "--annotator", "ada")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("cfr: constraints are marked on a page: run 'cfr serve ")
    assert ran.err.count("\n") == 1
