"""The audits that need nobody, and the marks of people where they take them."""

import json
from pathlib import Path
from typing import Any

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
