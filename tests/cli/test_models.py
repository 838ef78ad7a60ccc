"""What comes with the package: models, benchmarks, prompts, a demonstration."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from loopback import Endpoint as Server
from loopback import Reply, completion
from snapshot import Golden
from sums import reply_right, write_sums

from constraint_first.benchmark.constraintbench.family import SHA256, load
from constraint_first.cli import solve as session
from constraint_first.cli.assets import bench_command
from constraint_first.cli.solve import EXAMPLES, demo_command
from constraint_first.constraint.kind import find_features
from constraint_first.constraint.router import route
from constraint_first.constraint.stated.read import read_stated
from constraint_first.constraint.stated.statement import check_stated
from constraint_first.method.registry import original_prompts
from constraint_first.model.resolve import AutoChoice

from .conftest import Ran, Run, played

COMMANDS = """
models
models list --json
models presets
models presets --json
models verify smollm2-135m-instruct
models pull smollm2-135m-instruct
solve 2+2 --model smollm2-135m-instruct
models remove smollm2-135m-instruct
models remove smollm2-135m-instruct
models verify smollm2-135m-instruct
models pull gpt-7
bench generate --seed 7 --n 50 -o fresh.jsonl
bench check fresh.jsonl
bench check tampered.jsonl
bench check
bench check fresh.jsonl --split mini
bench export mine.toml
bench generate --seed 7 --n 5 -o mine.toml
cat mine.toml
bench generate --seed 7 --n 5 -o fresh.jsonl --force
bench generate --seed 1 -o out.jsonl --n 0
bench generate --seed 1 -o out.jsonl --n 5 --family ratio_cod
bench generate --seed 1 -o out.jsonl --n 1999 --family digit_swap --level 1
bench generate --seed 1 -o out.jsonl --n 5 --family minute_display --tier joint
""".strip()
PRESETS = '[mine]\nbase_url = "http://user:hidden@h/v1?token=hidden"\nkey_env = "MINE"\n'


@pytest.mark.slow  # dozens of commands
def test_what_is_typed_and_what_is_said(
    golden: Golden, cfr: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.toml").write_text(PRESETS)
    monkeypatch.setenv("CFR_MODELS", str(tmp_path / "mine.toml"))
    monkeypatch.setenv("MINE", "hidden")
    damaged = tmp_path / "cache" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"GGUF but not really")
    invoke("generate", "--seed", "7", "--n", "6", "-o", tmp_path / "tampered.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "tampered.jsonl").read_text().splitlines()]
    rows[3]["answer"] = "123456"
    (tmp_path / "tampered.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = played(cfr, COMMANDS, tmp_path)
    assert shown.replace(str(tmp_path), "FOLDER") == golden("models-and-benchmarks.txt")
    assert "hidden" not in shown.replace(PRESETS, "")
    assert not damaged.exists()
    assert len((tmp_path / "fresh.jsonl").read_text().splitlines()) == 5
    assert not (tmp_path / "out.jsonl").exists()


ROOT = Path(__file__).parents[2]


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(bench_command, [str(one) for one in arguments], catch_exceptions=True)


def test_export_writes_a_dataset_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dataset"
    assert invoke("export", folder, "--split", "mini").exit_code == 0
    assert (folder / "README.md").read_text(encoding="utf-8").startswith("---\n")
    lines = (folder / "data" / "mini.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [item.id for item in load("mini")]
    assert invoke("export", folder, "--split", "mini").exit_code != 0
    assert invoke("export", folder, "--force").exit_code == 0
    assert {path.name for path in (folder / "data").iterdir()} == {
        "public.jsonl",
        "mini.jsonl",
        "hard.jsonl",
    }


def test_generate_takes_families_tiers_and_levels(tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl"
    wish = ("--tier", "joint", "--level", "3", "--level", "1")
    assert invoke("generate", "--seed", "1", "--n", "16", "-o", path, *wish).exit_code == 0
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {row["tier"] for row in rows} == {"joint"}
    assert {row["level"] for row in rows} == {1, 3}


def test_show_as_json() -> None:
    rows = json.loads(invoke("show", "--tier", "implicit", "--json").output)
    assert len(rows) >= 8
    assert {row["shipped"] for row in rows} == {15}
    assert all(row["example"]["family"] == row["family"] for row in rows)


def test_the_data_card_holds_what_show_and_check_print() -> None:
    card = (ROOT / "docs" / "constraintbench.md").read_text(encoding="utf-8")
    assert invoke("show", "--markdown").output.strip() in card
    for split in ("public", "hard", "public@1"):
        found = invoke("check", "--split", split).output
        assert f"$ cfr bench check --split {split}\n{found}" in card
    assert all(sha256[:16] in card for sha256 in SHA256.values())


POLITE = "Please solve this.\n\n[[problem]]\n"


@pytest.fixture
def served(endpoint: Server, tmp_path: Path) -> Server:
    """An endpoint that adds correctly, a file of two sums, and own words for Direct CoT."""
    endpoint.respond = reply_right
    write_sums(tmp_path / "sums.jsonl", 2)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "direct.txt").write_text(POLITE)
    return endpoint


def evaluate(cfr: Run, server: Server, *options: str) -> Ran:
    given = ("--runs", "1", "--base-url", server.url, "--model", "m", "--quiet")
    return cfr("eval", "sums.jsonl", *given, *options)


def sent(server: Server) -> list[list[tuple[str, str]]]:
    """What was sent in each request: roles and texts."""
    return [[(m["role"], m["content"]) for m in body["messages"]] for body in server.requests]


def methods(cfr: Run) -> list[str]:
    return [one["method"] for one in json.loads(cfr("runs", "--json").out)]


def test_the_list_says_what_each_is_for_and_who_asks_with_it(cfr: Run) -> None:
    ran = cfr("prompts", COLUMNS="80")
    assert ran.code == 0
    assert all(len(line) <= 80 for line in ran.out.splitlines())
    assert "stage1-paper        Stage 1: list the constraints" in ran.out
    listed = json.loads(cfr("prompts", "--json").out)
    assert {one["name"] for one in listed} == {*original_prompts()}
    assert all(one["purpose"] and one["methods"] and one["text"] for one in listed)
    (router,) = [one for one in listed if one["name"] == "router"]
    assert router["methods"] == ["llm-router", "llm-router-brief"]
    assert router["places"] == ["problem"]


def test_one_is_shown_so_that_it_can_be_written_to_a_file(cfr: Run, tmp_path: Path) -> None:
    ran = cfr("prompts", "continue")
    assert ran.out == original_prompts()["continue"].text + "\n"
    assert ran.err.endswith("(extended); places: [[tokens]]\n")
    missed = cfr("prompts", "contnue")
    assert missed.code == 2
    assert "prompt 'contnue': not known; did you mean 'continue'?" in missed.err


def test_a_copy_is_one_to_start_from_and_never_written_over(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    ran = cfr("prompts", "--copy", "copied")
    assert (ran.code, ran.out) == (0, f"copied: {len(original_prompts())} prompt(s)\n")
    assert len(list((tmp_path / "copied").iterdir())) == len(original_prompts())
    # Unchanged, it changes nothing: the series is the one without own prompts.
    assert evaluate(cfr, served, "--method", "direct", "--prompts", "copied").code == 0
    assert methods(cfr) == ["direct"]
    (tmp_path / "copied" / "direct.txt").write_text("Mine: [[problem]]")
    again = cfr("prompts", "--copy", "copied")
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "exists already; name another folder" in again.err
    assert (tmp_path / "copied" / "direct.txt").read_text() == "Mine: [[problem]]"
    assert cfr("prompts", "stage1", "--copy", "one").out == "one: 1 prompt(s)\n"
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["stage1.txt"]
    assert cfr("prompts", "--copy", "sums.jsonl").code == 2


def test_an_evaluation_asks_in_own_words_and_is_stored_under_their_name(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    named = ("--method", "direct", "--method", "reminder", "--method", "checked")
    assert evaluate(cfr, served, *named).code == 0
    before = len(served.requests)
    ran = evaluate(cfr, served, *named, "--prompts", "mine")
    assert ran.code == 0, ran.err
    new = sent(served)[before:]
    assert len(new) == 4  # the reminder's prompt is the same, and so is its series
    assert all(message[0][1].startswith("Please solve this.\n\nWhat is") for message in new)
    assert methods(cfr) == [
        *("direct", "reminder", "checked"),
        *("direct(wording=mine)", "checked(wording=mine)"),
    ]
    assert evaluate(cfr, served, *named, "--prompts", "mine").code == 0
    assert len(served.requests) == before + 4  # all of it is there
    shown = cfr("show", "direct(wording=mine)", "1")
    assert "Own prompt direct.txt\nPlease solve this.\n\n[[problem]]\n" in shown.out
    described = json.loads(cfr("show", "4", "1", "--json").out)
    assert described["series"]["prompts"] == {"direct": POLITE.strip()}
    compared = cfr("compare", COLUMNS="200")
    assert compared.code == 0, compared.err
    assert "wording=mine" in compared.out


def test_a_run_is_not_gone_on_with_in_changed_words(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    given = ("--method", "routed-cfr", "--prompts", "mine")
    assert evaluate(cfr, served, *given).code == 0
    asked = len(served.requests)
    (tmp_path / "mine" / "direct.txt").write_text("Do solve [[problem]]")
    ran = evaluate(cfr, served, *given)
    assert (ran.code, ran.err.count("\n"), len(served.requests)) == (5, 1, asked)
    assert "routed-cfr(wording=mine) on sums was run with other words in direct.txt than" in ran.err
    assert "give the folder another name" in ran.err
    (tmp_path / "mine").rename(tmp_path / "my words, (new)")
    ran = evaluate(cfr, served, "--method", "routed-cfr", "--prompts", "my words, (new)")
    assert ran.code == 0, ran.err
    assert methods(cfr) == ["routed-cfr(wording=mine)", "routed-cfr(wording=my-words-new)"]


def test_a_store_from_before_own_prompts_takes_them(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    assert evaluate(cfr, served, "--method", "direct").code == 0
    with closing(sqlite3.connect(tmp_path / "runs.db")) as store:
        store.execute("DROP TABLE prompts")
    assert json.loads(cfr("show", "1", "1", "--json").out)["series"]["prompts"] == {}
    assert evaluate(cfr, served, "--method", "direct", "--prompts", "mine").code == 0
    assert "Own prompt direct.txt" in cfr("show", "2", "1").out
    assert cfr("merge", "runs.db", "-o", "both.db").code == 0
    assert "Own prompt direct.txt" in cfr("show", "2", "1", "--store", "both.db").out


@pytest.mark.parametrize("command", ["eval", "solve"])
@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--prompts=mine", "direct.txt: lacks [[problem]], where something is filled in; add it"),
        (
            "--system=@none.txt",
            "none.txt: cannot be read (No such file or directory); check the path",
        ),
    ],
)
def test_what_is_wrong_with_a_prompt_is_said_before_anything_is_asked(
    cfr: Run, served: Server, tmp_path: Path, command: str, option: str, said: str
) -> None:
    (tmp_path / "mine" / "direct.txt").write_text("Solve it.")
    given = ("--base-url", served.url, "--model", "m", "--method", "direct", option)
    ran = cfr(command, "sums.jsonl", *given)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert said in ran.err
    assert not served.requests
    assert not (tmp_path / "runs.db").exists()


def test_a_problem_is_solved_in_own_words_under_a_system_message(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    (tmp_path / "system.txt").write_text("You are a careful clerk.\n")
    hostile = "What is 3 + 1? [[problem]] {problem} [[system]]"
    given = ("--base-url", served.url, "--method", "direct", "--quiet", "--prompts", "mine")
    ran = cfr("solve", hostile, *given, "--system", "@system.txt")
    assert (ran.code, ran.out) == (0, "4\n")
    said = ("system", "You are a careful clerk."), ("user", f"Please solve this.\n\n{hostile}")
    assert sent(served) == [[*said]]
    auto = cfr("solve", "What is 3 + 1?", "--base-url", served.url, "--prompts", "mine", "--json")
    assert (auto.code, json.loads(auto.out)["answer"]) == (0, "4")
    assert sent(served)[1] == [("user", "Please solve this.\n\nWhat is 3 + 1?")]
    assert auto.err.endswith("own prompts of mine: direct.txt\n")


def test_a_system_message_goes_ahead_of_every_call_and_names_a_series_of_its_own(
    cfr: Run, served: Server
) -> None:
    given = ("--method", "self-refine")
    assert evaluate(cfr, served, *given, "--system", "Be brief.").code == 0
    assert len(served.requests) == 6
    assert {messages[0] for messages in sent(served)} == {("system", "Be brief.")}
    assert all(len(messages) == 2 for messages in sent(served))
    assert evaluate(cfr, served, *given, "--system", "Be brief.").code == 0
    assert len(served.requests) == 6
    assert evaluate(cfr, served, *given).code == 0
    assert len(served.requests) == 12
    listed: list[Any] = json.loads(cfr("runs", "--json").out)
    assert [one["decoding"].get("system") for one in listed] == ["Be brief.", None]
    shown = cfr("show", "1", "1").out
    assert "System message, ahead of every call\nBe brief.\n" in shown


def test_an_experiment_names_its_prompts_and_system_message(
    cfr: Run, served: Server, tmp_path: Path
) -> None:
    (tmp_path / "system.txt").write_text("Be kind.")
    lines = ['benchmarks = ["sums.jsonl"]', 'methods = ["direct"]', "runs = 1", 'prompts = "mine"']
    file = tmp_path / "grid.toml"
    file.write_text("\n".join([*lines, 'system = "@system.txt"']))
    ran = cfr("eval", "grid.toml", "--base-url", served.url, "--model", "m")
    assert ran.code == 0, ran.err
    (first, _) = sent(served)
    assert first[0] == ("system", "Be kind.")
    assert first[1][1].startswith("Please solve this.")
    assert methods(cfr) == ["direct(wording=mine)"]
    (tmp_path / "mine" / "direct.txt").write_text("nothing to fill")
    ran = cfr("eval", "grid.toml", "--base-url", served.url, "--model", "m")
    assert ran.code == 2
    assert "grid.toml, line 4: mine/direct.txt: lacks [[problem]]" in ran.err
    file.write_text("\n".join([*lines, 'system = "@none.txt"']))
    ran = cfr("eval", "grid.toml", "--base-url", served.url, "--model", "m")
    assert "grid.toml, line 5: none.txt: cannot be read" in ran.err


SPEC = json.dumps(
    {"raw_constraints": [{"id": "C1", "type": "domain", "description": "a whole number"}]}
)
EVERY = range(len(EXAMPLES))
POLICY = """
schema = 1
model = "m"
[[rules]]
when = ["not functions"]
method = "until-agreed(base=program(tokens=200),most=3,agree=1)"
[by_problem]
problems = 1022
before = 44.8
after = 57.8
gain = 13.0
tokens = 0.91
"""


def asked(body: dict[str, Any]) -> tuple[int, str]:
    """Tell a request's problem and stage by its prompt."""
    prompt = body["messages"][-1]["content"]
    problem = next(place for place in EVERY if EXAMPLES[place].text in prompt)
    if "a whole number" in prompt:
        return problem, "stage2"
    if body.get("response_format") is not None:
        return problem, "stage1"
    return problem, "program" if "program" in prompt else "direct"


def last_lines(shown: str) -> str:
    """Find what stands below all problems."""
    return shown[shown.index("right answer") :]


@pytest.mark.parametrize("example", EXAMPLES, ids=[one.id for one in EXAMPLES])
def test_every_example_has_something_to_show(example: Any) -> None:
    assert route(example.text), "the demonstration shows both stages of Routed-CFR on each"
    checks = check_stated(read_stated(example.text), example.answer)
    assert {truth for _, truth in checks} == {"holds"}
    assert "functions" not in find_features(example.text), "the embedded model's policy has a rule"


def test_both_methods_solve_each_problem(cfr: Run, endpoint: Server) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        problem, stage = asked(body)
        if stage == "stage1":
            return completion(SPEC)
        # Direct CoT errs on the first problem; CFR answers all of them.
        if stage == "stage2":
            return completion(json.dumps({"final_answer": EXAMPLES[problem].answer}))
        return completion(rf"\boxed{{{EXAMPLES[problem].answer if problem else 1395}}}")

    endpoint.respond = respond
    ran = cfr("demo", "--base-url", endpoint.url, "--temperature", "0")
    assert ran.code == 0, ran.err
    assert [asked(body) for body in endpoint.requests] == [
        (problem, stage) for problem in EVERY for stage in ("direct", "stage1", "stage2")
    ]
    assert {body["temperature"] for body in endpoint.requests} == {0}
    assert ran.err.startswith(
        "auto is calibrated(policy=unmeasured): no policy comes with the package"
    )
    assert ran.out.count("a whole number") == len(EXAMPLES)
    assert "✓  The answer is a multiple of 5." in ran.out
    table = last_lines(ran.out)
    assert table.index("Direct CoT") < table.index("Routed-CFR")
    assert table.count("✗ 1395") == 1
    assert [table.count(f"✓ {one.answer} ") for one in EXAMPLES] == [1, 2, 2, 2]
    said = " ".join(table.split())
    assert "Direct CoT got 3 of 4 right with 28 output tokens" in said
    assert "Routed-CFR got 4 of 4 right with 56: 2.00 times as many, and 2.00 times with" in said
    assert "4 examples measure nothing" in said
    assert [one in said for one in ("cfr eval", "cfr calibrate", "cfr solve")] == [True] * 3


def test_a_policy_s_programs_are_shown(
    endpoint: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        problem, stage = asked(body)
        if stage == "direct":
            return completion(r"\boxed{1395}")
        crash = problem == 1
        source = "1 // 0" if crash else f"int('{EXAMPLES[problem].answer}')"
        return completion(f"So:\n```python\nprint({source})\n```")

    endpoint.respond = respond
    (tmp_path / "p.toml").write_text(POLICY)
    choice = AutoChoice(f"calibrated(policy={tmp_path / 'p.toml'})", "a test says so")

    def choose(*_: object) -> AutoChoice:
        return choice

    monkeypatch.setattr(session, "choose_for", choose)
    ran = CliRunner().invoke(demo_command, ["--base-url", endpoint.url])
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    for problem, example in enumerate(EXAMPLES):
        shown = f"print(int('{example.answer}'))"
        assert lines.count(shown) == (problem != 1), "two programs agree, and one is shown"
        assert lines.count(f"Output  {example.answer}") == (problem != 1)
    assert "No program of 3 printed this answer." in lines
    said = " ".join(last_lines(ran.output).split())
    assert "Direct CoT got 0 of 4 right with 28 output tokens, Calibrated got 3 of 4 right" in said
    assert "1,022 other problems" in said
    assert "44.8 % right with Direct CoT, 57.8 % with this policy, at 0.91 times the output" in said


def test_replies_without_an_answer(cfr: Run, endpoint: Server) -> None:
    endpoint.script(completion("I give up", finish="length"))
    ran = cfr("demo", "--base-url", endpoint.url)
    assert ran.code == 0, ran.err
    assert last_lines(ran.out).count("✗ no answer") == 2 * len(EXAMPLES)
