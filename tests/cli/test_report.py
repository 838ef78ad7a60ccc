"""Comparisons, audits, reports and policies of stored runs."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from calibration_runs import made_runs
from instructed import request_store
from intervened import intervened_store
from snapshot import Golden

from constraint_first.method.policy import find_policy, shipped_names
from constraint_first.report.study import Study

from .conftest import Ran, Run, played


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    path = tmp_path / "outcomes.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for problem in range(8):
            for method, right in (("direct", problem < 3), ("cfr", problem > 1)):
                row = {"problem": str(problem), "method": method, "run": 0, "correct": right}
                row |= {"problem_text": f"How many of {problem}?", "answer": "4", "gold": "5"}
                details = {
                    "rung": "parsed",
                    "constraints": {"raw_constraints": [{"type": "domain"}]},
                }
                file.write(
                    json.dumps(row | ({"details": details} if method == "cfr" else {})) + "\n"
                )
    return path


def test_a_report_in_a_folder(outcomes: Path, tmp_path: Path, cfr: Run) -> None:
    done = cfr("report", outcomes, "-o", tmp_path / "out", "--no-figures")
    assert done.code == 0, done.err
    written = [Path(line).name for line in done.out.split()]
    assert written == ["report.html", "report.md", "tables"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == written
    assert "Paired statistics …" in done.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "CFR (always-on) against Direct CoT" in page
    assert "interval includes zero" in page


def test_the_variant_of_a_family_can_be_chosen(tmp_path: Path, cfr: Run) -> None:
    path = tmp_path / "o.jsonl"
    rows = [
        {"problem": str(n), "method": method, "run": 0, "correct": n < 2, "output_tokens": tokens}
        for method, tokens in (("direct", 1), ("cfr(reply=json)", 2), ("cfr(reply=prose)", 3))
        for n in range(3)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "out"
    for option, meant, ratio in (((), "json", "0.50×"), (("cfr(reply=prose)",), "prose", "0.33×")):
        chosen = [word for name in option for word in ("--variant", name)]
        done = cfr("report", path, "-o", out, "--no-figures", *chosen)
        assert done.code == 0, done.err
        page = (out / "report.md").read_text(encoding="utf-8")
        assert f"CFR (always-on) is cfr(reply={meant}) here" in page
        ablation = (out / "tables" / "routing-ablation.tex").read_text(encoding="utf-8")
        assert f"CFR (always-on) [reply={meant}] &" in ablation
        assert ablation.count("[reply=") == 1
        (line,) = re.findall(r"\| Direct CoT \|.*", page.partition("All methods side by side")[2])[
            :1
        ]
        assert line.endswith(f"| {ratio} |")


COMMANDS = """
audit errors outcomes.jsonl --classes classes.jsonl
audit errors outcomes.jsonl --classes classes.jsonl --json
audit errors rules.jsonl --rule any --json
audit errors rules.jsonl --rule first --json
audit router outcomes.jsonl --decisions decisions.jsonl
audit router family.jsonl --json
audit router family.jsonl --json --method 'routed-cfr(reply=prose)'
audit stage1 outcomes.jsonl --json
audit instructions requests.db
audit instructions requests.db --json
audit interventions steps.db
audit interventions steps.db --benchmark sums --json
audit instructions outcomes.jsonl
audit interventions outcomes.jsonl
audit errors empty.jsonl
audit errors outcomes.jsonl --method direct
audit stage1 outcomes.jsonl --baseline zero
audit router none.db
audit report none.jsonl
audit report torn.jsonl
audit report begun.jsonl
audit mark runs.db --labels labels.jsonl --annotator ada
compare gains.jsonl --baseline A
compare gains.jsonl --baseline A --method B --method B --json
compare gains.jsonl --baseline A --interval percentile
compare gains.jsonl --baseline A --resamples 500 --seed 3 --json
compare costs.jsonl
compare costs.jsonl --json
compare requests.db
compare outcomes.jsonl --baseline zero
compare outcomes.jsonl --method C
compare outcomes.jsonl --model x
compare outcomes.jsonl --also-p nan
compare outcomes.jsonl --also-p 2
compare outcomes.jsonl --resamples 1
compare empty.jsonl
compare none.db
compare none.jsonl
report empty.jsonl -o out
report outcomes.jsonl -o outcomes.jsonl
report outcomes.jsonl --baseline zero
report outcomes.jsonl --method zero
report outcomes.jsonl --variant 'cfr(x=1)'
report outcomes.jsonl --classes torn.jsonl
""".strip()
FAMILY = ("routed-cfr(reply=json)", "llm-router(reply=json)", "routed-cfr(reply=prose)")
ROUTED = {"problem_text": "How many?", "details": {"routed": True}}
DEAR = {"input_tokens": 600, "output_tokens": 810, "shared_tokens": 400}
FILES: dict[str, list[dict[str, Any]]] = {
    "classes.jsonl": [{"problem": "3", "class": "out_of_range"}],
    "decisions.jsonl": [{"problem": "3", "routed": True}, {"problem": "4", "routed": False}],
    "rules.jsonl": [
        {"problem": "1", "method": method, "run": run, "correct": correct}
        for method, runs in (("direct", (False, True)), ("cfr", (True, True)))
        for run, correct in enumerate(runs)
    ],
    "family.jsonl": [
        {"problem": "1", "method": one, "run": 0, "correct": True} | ROUTED for one in FAMILY
    ],
    "gains.jsonl": [  # thirty problems in four runs each: the gain of B in quarter points
        {"problem": n, "method": method, "run": run, "correct": run < right}
        for n, gain in enumerate([1, 2, 2, 2, 2, 2, -1] + [0] * 23)
        for method, right in (("A", 2), ("B", 2 + gain))
        for run in range(4)
    ],
    "costs.jsonl": [
        {"problem": n, "run": 0, "correct": n < 3} | used
        for n in range(8)
        for used in (
            {"method": "direct", "input_tokens": 100, "output_tokens": 900},
            {"method": "vote"} | DEAR,
        )
    ],
    "empty.jsonl": [],
}


@pytest.mark.slow  # dozens of commands
@pytest.mark.usefixtures("outcomes")
def test_what_is_typed_and_what_is_said(golden: Golden, cfr: Run, tmp_path: Path) -> None:
    for name, rows in FILES.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "torn.jsonl").write_text('{"annotator": "a')
    unmarked = {"constraints": [{"id": "C1", "stage": "raw", "mark": None}]}
    (tmp_path / "begun.jsonl").write_text(json.dumps(json.loads(label("1")) | unmarked) + "\n")
    request_store(str(tmp_path / "requests.db"))
    intervened_store(str(tmp_path / "steps.db"))
    assert played(cfr, COMMANDS, tmp_path) == golden("analysis.txt")


def test_an_output_that_is_not_utf_8(outcomes: Path) -> None:
    command = [sys.executable, "-m", "constraint_first", "compare", str(outcomes)]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"CFR (always-on) against Direct CoT" in done.stdout


MEASURED = Path(__file__).parents[2] / "docs" / "results" / "constraintbench-mini.jsonl"


def tables(ran: Ran) -> dict[str, Any]:
    assert ran.code == 0, ran.err
    return {table["name"]: table for table in json.loads(ran.out)}


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


REPOSITORY = Path(__file__).parents[2]


def written(path: Path, study: Study, *, with_texts: bool = True) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for arm in study.arms:
            for problem, attempts in arm.attempts.items():
                for one in attempts:
                    row = {
                        "benchmark": arm.benchmark,
                        "problem": problem,
                        "method": arm.method,
                        "model": arm.model,
                        "run": one.run,
                        "correct": one.correct,
                        "output_tokens": one.output_tokens,
                    }
                    if with_texts:
                        row["problem_text"] = study.problems[arm.benchmark, problem].text
                    file.write(json.dumps(row) + "\n")
    return path


def test_from_runs_to_a_policy_that_solves(cfr: Run, tmp_path: Path) -> None:
    written(tmp_path / "runs.jsonl", made_runs({"check": (0.4, 0.0)}, size=80))
    ran = cfr("calibrate", "runs.jsonl", "-o", "policy.toml")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("Yes: on problems like these, expect +")
    assert "policy.toml: written; --method 'calibrated(policy=policy.toml)' uses it." in ran.err
    policy = find_policy(str(tmp_path / "policy.toml"))
    assert policy.command == "cfr calibrate runs.jsonl -o policy.toml"
    assert policy.model == "model"
    assert [rule.method for rule in policy.rules] == ["check"]
    again = cfr("calibrate", "runs.jsonl", "-o", "policy.toml")
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "exists already" in again.err
    assert cfr("calibrate", "runs.jsonl", "-o", "policy.toml", "--force").code == 0


def test_json_for_programs(cfr: Run, tmp_path: Path) -> None:
    written(tmp_path / "runs.jsonl", made_runs({"check": (0.0, 0.0)}, size=30))
    ran = cfr("calibrate", "runs.jsonl", "--json", "--price", "2", "--most-tokens", "any")
    found = json.loads(ran.out)
    assert found["answer"].startswith("No: ")
    assert found["rules"] == []
    assert found["price"] == 2.0
    assert "most_tokens" not in found
    assert [one["benchmark"] for one in found["runs"]] == ["stories", "algebra"]


def test_texts_may_lie_elsewhere(cfr: Run, tmp_path: Path) -> None:
    study = made_runs({"check": (0.4, 0.4)}, size=40)
    written(tmp_path / "runs.jsonl", study, with_texts=False)
    ran = cfr("calibrate", "runs.jsonl")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "name the benchmark or the file that has them with --problems" in ran.err
    with (tmp_path / "stories.jsonl").open("w", encoding="utf-8") as file:
        for (benchmark, name), posed in study.problems.items():
            if benchmark == "stories":
                row = {"id": name, "problem": posed.text, "answer": "1"}
                file.write(json.dumps(row) + "\n")
    ran = cfr("calibrate", "runs.jsonl", "--problems", "stories.jsonl")
    assert ran.code == 0, ran.err
    taken = "40 problems; problem from 'problem', answer from 'answer', id from 'id'"
    assert f"stories.jsonl: {taken}\n" in ran.err
    assert "40 problems without a text left out" in ran.err
    assert "n = 40" in ran.out


def test_what_cannot_be_calibrated_is_one_line(cfr: Run, tmp_path: Path) -> None:
    one, other = (made_runs({"check": (0.1, 0.1)}, size=3, model=name) for name in ("a", "b"))
    both = Study("both", one.arms + other.arms, one.problems, one.transcripts)
    written(tmp_path / "runs.jsonl", both)
    for arguments, message in (
        (["runs.jsonl"], "has runs of several models (a, b)"),
        (["runs.jsonl", "--model", "c"], "has no model 'c'"),
        (["runs.jsonl", "--model", "a", "--method", "magic"], "has no method 'magic'"),
        (["missing.db"], "missing.db: there is no such store"),
        (["runs.jsonl", "-o", "no/where.toml"], "there is no folder no"),
        (["runs.jsonl", "-o", "policy"], "policy: a policy is a .toml file; name it policy.toml"),
        (["runs.jsonl", "--problems", "nothing"], "benchmark 'nothing': not known"),
    ):
        ran = cfr("calibrate", *arguments)
        assert (ran.code in (2, 5), ran.err.count("\n")) == (True, 1), ran.err
        assert message in ran.err
    assert cfr("calibrate", "runs.jsonl", "--most-tokens", "0.5").code == 2
    assert cfr("calibrate", "runs.jsonl", "--model", "a").code == 0


def test_the_page_on_calibration_shows_what_is_printed(
    cfr: Run, tmp_path: Path, benchmark_file: Callable[[str], Path]
) -> None:
    (tmp_path / "docs").symlink_to(REPOSITORY / "docs")
    page = (REPOSITORY / "docs" / "calibration.md").read_text(encoding="utf-8")
    shown = re.search(r"^\$ cfr (calibrate docs/results/calibration.*)\n(Yes: .*)$", page, re.M)
    assert shown
    ran = cfr(*shlex.split(shown[1]), CFR_DATA=str(benchmark_file("gsm8k").parent))
    assert ran.code == 0, ran.err
    assert ran.out == shown[2] + "\n"


@pytest.mark.parametrize("name", [one for one in shipped_names() if find_policy(one).command])
def test_a_policy_of_the_package_is_what_its_command_learns(
    name: str, cfr: Run, tmp_path: Path, benchmark_file: Callable[[str], Path]
) -> None:
    (tmp_path / "docs").symlink_to(REPOSITORY / "docs")
    policy = find_policy(name)
    _, *arguments = shlex.split(policy.command.partition(" -o ")[0])
    ran = cfr(*arguments, "--json", CFR_DATA=str(benchmark_file("gsm8k").parent))
    assert ran.code == 0, ran.err
    said = policy.to_json() | {"command": "", "made": ""}
    assert json.loads(ran.out) | {"command": "", "made": ""} == said
