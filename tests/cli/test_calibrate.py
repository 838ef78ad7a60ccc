import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from calibration_runs import made_runs

from constraint_first.method.policy import find_policy, shipped_names
from constraint_first.report.study import Study

from .conftest import Run

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
