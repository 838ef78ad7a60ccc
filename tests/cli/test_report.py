import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Run


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


def test_the_page_opens_with_the_verdict(tmp_path: Path, cfr: Run) -> None:
    path, four = tmp_path / "o.jsonl", "until-agreed(base=program(tokens=200),most=3,agree=1)"
    rights = {"direct": 4, "until-agreed": 18, four: 12, "until-agreed(most=5)": 4}
    rows = [
        {"problem": str(n), "method": method, "run": 0, "correct": n < right}
        | {"benchmark": "gsm8k", "model": "m", "output_tokens": 100 if right == 4 else 150}
        for method, right in rights.items()
        for n in range(20)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cfr("report", path, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    opening = page.partition("<section")[2].partition("</section>")[0]
    said = (
        r"On m, Until two agree is better than direct: \+70.0 points \[[\d.]+,\s[\d.]+\] on 20 "
        r"problems of GSM8K, at 1.50 times the output tokens."
    )
    assert re.search(said.replace("direct", "Direct CoT"), opening)
    assert "<svg" in opening
    for name in ("Until two agree", "Until two agree [most=3]", "Until two agree [most=5]"):
        assert f">{name}</td>" in page
        assert f"{name}, GSM8K" in opening  # the figure tells them apart, too
    assert f"Until two agree [most=3] is {four}." in page
    chosen = cfr("report", path, "-o", tmp_path / "out", "--method", "until-agreed(most=5)")
    assert chosen.code == 0, chosen.err
    markdown = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "it is unknown whether Until two agree [most=5] is better than Direct CoT" in markdown


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


def test_errors_are_one_line(outcomes: Path, tmp_path: Path, cfr: Run) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"problem": "3", "class": "tired"}\n')
    for arguments, said in (
        (("report", empty, "-o", tmp_path / "out"), "no attempts yet"),
        (("report", outcomes, "-o", outcomes), "cannot be a folder"),
        (("report", outcomes, "--baseline", "zero"), "has no method 'zero'"),
        (("report", outcomes, "--method", "zero"), "has no method 'zero'"),
        (("report", outcomes, "--variant", "cfr(x=1)"), "has no variant 'cfr(x=1)'; it has direct"),
        (("report", outcomes, "--classes", bad), "line 1"),
        (("audit", "errors", empty), "no attempts yet"),
        (("audit", "stage1", outcomes, "--baseline", "zero"), "has no method 'zero'"),
        (("audit", "errors", outcomes, "--method", "direct"), "compared with itself"),
        (("audit", "router", tmp_path / "none.db"), "there is no such store"),
    ):
        done = cfr(*arguments)
        assert done.code != 0
        *_, last = done.err.splitlines()
        assert said in last, (arguments, done.err)
        assert "Traceback" not in done.err


def test_lines_about_other_problems_are_counted_aloud(
    outcomes: Path, tmp_path: Path, cfr: Run
) -> None:
    decisions = tmp_path / "decisions.jsonl"
    decisions.write_text('{"problem": "3", "routed": true}\n{"problem": "zzz", "routed": true}\n')
    done = cfr("audit", "router", outcomes, "--decisions", decisions)
    assert done.code == 0
    assert "not in these runs: 1" in done.err


def test_an_output_that_is_not_utf_8(outcomes: Path) -> None:
    command = [sys.executable, "-m", "constraint_first", "compare", str(outcomes)]
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"CFR (always-on) against Direct CoT" in done.stdout


def test_messages_obey_no_control_codes(tmp_path: Path, cfr: Run) -> None:
    path = tmp_path / "evil.jsonl"
    row = json.dumps({"problem": "\x1b[2J\u202e", "method": "a", "run": 0, "correct": True})
    path.write_text(f"{row}\n{row}\n")
    done = cfr("compare", path)
    assert "is there twice" in done.err
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err
