import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from loopback import Endpoint as Server
from loopback import completion, failure
from sums import reply_right, write_sums

from constraint_first.method.rewording import original_prompts

from .conftest import Ran, Run

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


def break_prompts(folder: Path, how: str) -> None:
    file = folder / "direct.txt"
    if how == "unknown":
        file.rename(folder / "dircet.txt")
    elif how == "ending":
        file.rename(folder / "direct.md")
    elif how == "lacks":
        file.write_text("Solve it.")
    elif how == "strange":
        file.write_text("Solve [[problem]] under [[constraints]].")
    elif how == "empty":
        file.write_text(" \n")
    elif how == "bytes":
        file.write_bytes(b"\xff\xfe\x00 [[problem]]")
    elif how == "long":
        file.write_text("[[problem]]" + "x" * 500_000)
    elif how == "nothing":
        file.unlink()
    elif how == "gone":
        file.unlink()
        folder.rmdir()
    else:
        (folder / "stage1.txt").write_text("[[problem]] [[extent]] Reply with JSON.")
        file.unlink()


@pytest.mark.parametrize("command", ["eval", "solve"])
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("unknown", "dircet.txt: there is no prompt 'dircet'; did you mean 'direct'? They are"),
        ("ending", "direct.md: not the name of a prompt; call the file direct.txt"),
        ("lacks", "direct.txt: lacks [[problem]], where something is filled in; add it"),
        (
            "strange",
            "direct.txt: has [[constraints]], which nothing fills in; its places are: [[pr",
        ),
        ("empty", "direct.txt: is empty; write the prompt, or take the file out of the folder"),
        ("bytes", "direct.txt: UTF-16 text; save it as UTF-8 and try again"),
        ("long", "direct.txt: 500,011 bytes are too long; 100,000 characters are most"),
        ("nothing", "mine: has no prompts; 'cfr prompts --copy mine' writes the originals there"),
        ("gone", "mine: cannot be read (No such file or directory); name a folder"),
        (
            "unused",
            "prompts of mine: no method that is to be run asks with stage1.txt; 'cfr prompts",
        ),
    ],
)
def test_what_is_wrong_with_a_prompt_is_said_before_anything_is_asked(
    cfr: Run, served: Server, tmp_path: Path, how: str, said: str, command: str
) -> None:
    break_prompts(tmp_path / "mine", how)
    given = ("--base-url", served.url, "--model", "m", "--method", "direct", "--prompts", "mine")
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


def test_json_is_still_asked_for_under_a_system_message(cfr: Run, endpoint: Server) -> None:
    endpoint.script(completion('{"raw_constraints": []}'), completion(r"\boxed{4}"))
    given = ("--base-url", endpoint.url, "--method", "cfr(json=object)", "--quiet")
    assert cfr("solve", "What is 2 + 2?", *given, "--system", "Be brief.").code == 0
    assert [body.get("response_format") for body in endpoint.requests] == [
        {"type": "json_object"},
        None,
    ]
    assert [messages[0] for messages in sent(endpoint)] == [("system", "Be brief.")] * 2


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


def test_an_endpoint_that_takes_no_system_message_is_quoted(cfr: Run, endpoint: Server) -> None:
    endpoint.script(failure(400, "System role not supported"))
    given = ("--base-url", endpoint.url, "--method", "direct", "--quiet", "--system", "Be brief.")
    ran = cfr("solve", "What is 2 + 2?", *given)
    assert ran.code != 0
    assert "System role not supported" in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("@none.txt", "none.txt: cannot be read (No such file or directory); check the path"),
        ("@empty.txt", "empty.txt: is empty; write the system message, or leave out --system"),
        ("x" * 100_001, "'system' has 100,001 characters; 100,000 are the most"),
    ],
)
def test_a_system_message_that_cannot_be_had_is_said_first(
    cfr: Run, served: Server, tmp_path: Path, given: str, said: str
) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    for command in (("solve", "What is 2 + 2?"), ("eval", "sums.jsonl")):
        ran = cfr(*command, "--base-url", served.url, "--system", given)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert said in ran.err
    assert not served.requests


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
