"""Comparisons, audits, reports and policies of stored runs."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calibration_runs import made_runs
from instructed import request_store
from intervened import intervened_store

from constraint_first.method.policy import find_policy, shipped_names
from constraint_first.report.study import Study

from .conftest import Ran, Run


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


def test_a_person_classes_errors(outcomes: Path, tmp_path: Path, cfr: Run) -> None:
    classes = tmp_path / "classes.jsonl"
    classes.write_text('{"problem": "3", "class": "out_of_range"}\n')
    done = cfr("audit", "errors", outcomes, "--classes", classes, "--json")
    assert done.code == 0, done.err
    tables = {table["name"]: table for table in json.loads(done.out)}
    kinds = {line[1]: line[2] for line in tables["errors"]["rows"]}
    assert kinds["Range violation"] == "1"
    assert tables["outcomes"]["rows"][0][3:] == ["1", "5", "2", "0"]


def test_the_rule_for_a_problem_can_be_chosen(tmp_path: Path, cfr: Run) -> None:
    path = tmp_path / "o.jsonl"
    rows = [
        {"problem": "1", "method": method, "run": run, "correct": correct}
        for method, runs in (("direct", (False, True)), ("cfr", (True, True)))
        for run, correct in enumerate(runs)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for rule, counts in (("any", ["1", "0", "0", "0"]), ("first", ["0", "1", "0", "0"])):
        done = cfr("audit", "errors", path, "--rule", rule, "--json")
        assert json.loads(done.out)[0]["rows"][0][3:] == counts, rule


def test_the_other_audits(outcomes: Path, tmp_path: Path, cfr: Run) -> None:
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_text('{"problem": "3", "routed": true}\n{"problem": "4", "routed": false}\n')
    router = cfr("audit", "router", outcomes, "--decisions", decisions)
    assert router.code == 0, router.err
    for words in ("8 / 8", "100.00 %", "0.50"):  # it routes both; a person routes one
        assert words in router.out
    stage1 = cfr("audit", "stage1", outcomes, "--json")
    assert stage1.code == 0, stage1.err
    names = [table["name"] for table in json.loads(stage1.out)]
    assert names == ["parsing", "extraction", "categories"]


def test_an_audit_finds_a_family_and_needs_no_baseline(tmp_path: Path, cfr: Run) -> None:
    path = tmp_path / "o.jsonl"
    methods = ("routed-cfr(reply=json)", "llm-router(reply=json)", "routed-cfr(reply=prose)")
    rows = [
        {"problem": "1", "method": method, "run": 0, "correct": True, "problem_text": "How many?"}
        | {"details": {"routed": True}}
        for method in methods
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cfr("audit", "router", path, "--json")
    assert done.code == 0, done.err
    tables = {table["name"]: table for table in json.loads(done.out)}
    assert [line[0] for line in tables["router-ablation"]["rows"]] == [
        "Regex router",
        "LLM router [reply=json]",
    ]
    assert "direct share no judged problem" in tables["cofire"]["notes"][0]
    assert "Routed-CFR is routed-cfr(reply=json) here" in done.err
    assert "(--method chooses)" in done.err
    assert not cfr("audit", "router", path, "--json", "--method", methods[2]).err


NO_REPLIES = "has no replies to requests with gold instructions; run a benchmark"
NO_INTERVENTIONS = "has no interventions on record; run a method that makes them"
MISTAKES = {
    "report empty.jsonl -o out": "no attempts yet",
    "report outcomes.jsonl -o outcomes.jsonl": "cannot be a folder",
    "report outcomes.jsonl --baseline zero": "has no method 'zero'",
    "report outcomes.jsonl --method zero": "has no method 'zero'",
    "report outcomes.jsonl --variant cfr(x=1)": "has no variant 'cfr(x=1)'; it has direct",
    "report outcomes.jsonl --classes bad.jsonl": "line 1",
    "compare outcomes.jsonl --baseline zero": "has no method 'zero'; it has direct, cfr",
    "compare outcomes.jsonl --method C": "has no method 'C'",
    "compare outcomes.jsonl --model x": "has no model 'x'",
    "compare empty.jsonl": "no attempts yet",
    "compare none.db": "there is no such store",
    "compare none.jsonl": "cannot be read",
    "compare outcomes.jsonl --also-p nan": "nan: not a p-value; it must be from 0 to 1",
    "compare outcomes.jsonl --also-p 2": "'--also-p'",
    "compare outcomes.jsonl --resamples 1": "'--resamples'",
    "audit errors empty.jsonl": "no attempts yet",
    "audit stage1 outcomes.jsonl --baseline zero": "has no method 'zero'",
    "audit errors outcomes.jsonl --method direct": "compared with itself",
    "audit router none.db": "there is no such store",
    "audit instructions outcomes.jsonl": NO_REPLIES,
    "audit interventions outcomes.jsonl": NO_INTERVENTIONS,
    "audit report none.jsonl": "none.jsonl: cannot be read",
    "audit report torn.jsonl": "torn.jsonl, line 1: not JSON",
    "audit report begun.jsonl": "begun.jsonl: no attempt is judged yet",
    "audit mark runs.db --labels labels.jsonl": "marked on a page: run 'cfr serve RUNS --labels ",
}


@pytest.mark.usefixtures("outcomes")
@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_is_one_line(command: str, cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "bad.jsonl").write_text('{"problem": "3", "class": "tired"}\n')
    (tmp_path / "torn.jsonl").write_text('{"annotator": "a')
    unmarked = {"constraints": [{"id": "C1", "stage": "raw", "mark": None}]}
    (tmp_path / "begun.jsonl").write_text(json.dumps(json.loads(label("1")) | unmarked) + "\n")
    ran = cfr(*command.split())
    assert ran.code == (5 if "none.db" in command else 2)
    assert MISTAKES[command] in ran.err.splitlines()[-1]
    assert not ran.out
    assert "Traceback" not in ran.err


def test_an_output_that_is_not_utf_8(outcomes: Path) -> None:
    command = [sys.executable, "-m", "constraint_first", "compare", str(outcomes)]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"CFR (always-on) against Direct CoT" in done.stdout


@pytest.fixture
def compare(cfr: Run) -> Run:
    return partial(cfr, "compare")


def compare_outcomes(path: Path, gains: list[int]) -> Path:
    """Write four runs of a problem for each gain in quarter points."""
    with path.open("w", encoding="utf-8") as file:
        for problem, gain in enumerate(gains):
            for method, right in (("A", 2), ("B", 2 + gain) if gain > -3 else ("B", 0)):
                for run in range(4):
                    row = {"problem": problem, "method": method, "run": run, "correct": run < right}
                    file.write(json.dumps(row) + "\n")
    return path


def test_outcomes_of_anyone(tmp_path: Path, compare: Run) -> None:
    path = compare_outcomes(tmp_path / "o.jsonl", [1, 2, 2, 2, 2, 2, -1] + [0] * 23)
    done = compare(path, "--baseline", "A", "--method", "B", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["family"] == 1
    (pair,) = found["pairs"]
    wanted = {"baseline": "A", "method": "B", "n": 30, "improved": 6, "tied": 23, "degraded": 1}
    assert wanted.items() <= pair.items()
    assert round(pair["gain"], 1) == 8.3
    assert pair["test"] == "exact sign-flip"
    assert pair["p"] == pair["p_holm"] < 0.05
    low, high = pair["ci"]
    assert 0 < low < pair["gain"] < high


def test_what_a_person_sees(tmp_path: Path, compare: Run) -> None:
    path = compare_outcomes(tmp_path / "o.jsonl", [1, -1, 0, 0])
    done = compare(path, "--baseline", "A")
    assert done.code == 0, done.err
    for words in ("B against A", "1 / 2 / 1", "family of 1", "interval includes zero"):
        assert words in done.out
    seeded = compare(path, "--baseline", "A", "--resamples", "500", "--seed", "3", "--json")
    assert (
        seeded.out
        == compare(path, "--baseline", "A", "--resamples", "500", "--seed", "3", "--json").out
    )


def test_a_table_says_which_interval_it_shows(tmp_path: Path, compare: Run) -> None:
    path = compare_outcomes(tmp_path / "o.jsonl", [1, 2, 2, -1] + [0] * 6)
    assert "The interval is the BCa interval of" in compare(path, "--baseline", "A").out
    other = compare(path, "--baseline", "A", "--interval", "percentile").out
    assert "The interval is the percentile interval of" in other


def test_a_method_that_is_named_twice_is_tested_once(tmp_path: Path, compare: Run) -> None:
    path = compare_outcomes(tmp_path / "o.jsonl", [1, 0])
    done = compare(path, "--baseline", "A", "--method", "B", "--method", "B", "--json")
    assert json.loads(done.out)["family"] == 1


def costs(path: Path, **voted: int) -> Path:
    direct = {"method": "direct", "input_tokens": 100, "output_tokens": 900}
    rows = [
        {"problem": n, "run": 0, "correct": n < 3} | used
        for n in range(8)
        for used in (direct, {"method": "vote"} | voted)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_three_token_ratios(tmp_path: Path, compare: Run) -> None:
    path = costs(tmp_path / "o.jsonl", input_tokens=600, output_tokens=810, shared_tokens=400)
    shown = compare(path).out
    assert "Tokens relative to Direct CoT" in shown
    ratios = next(line for line in shown.splitlines() if "×" in line)
    assert ratios.split() == ["Checked", "vote", "all", "0.90×", "1.01×", "1.41×"]
    (pair,) = json.loads(compare(path, "--json").out)["pairs"]
    assert pair["token_ratios"] == {"output": 0.9, "shared_once": 1.01, "every_time": 1.41}


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


def test_interventions_are_undone(cfr: Run, tmp_path: Path) -> None:
    intervened_store(str(tmp_path / "runs.db"))
    found = tables(cfr("audit", "interventions", "--json"))
    assert len(found["interventions"]["rows"]) == 2
    assert "intervention-steps" in found
    shown = cfr("audit", "interventions", "runs.db", "--benchmark", "sums").out
    assert "0.0" in shown
    assert "repair" in shown


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
