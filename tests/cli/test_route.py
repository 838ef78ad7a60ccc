import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run


def test_a_problem_is_shown_with_its_cues(cfr: Run) -> None:
    ran = cfr("route", "Find the remainder when [bold]n[/bold] is divided by 7.")
    assert ran.code == 0
    assert "[bold]n[/bold]" in ran.out
    assert "modular_remainder" in ran.out
    assert "routed to CFR" in ran.out
    assert "Direct CoT" in cfr("route", "Compute 2 + 2.").out


def test_everyday_words_are_no_cues(cfr: Run) -> None:
    for text in ("Prove that the earth is round", "A round table"):
        ran = cfr("route", text)
        assert (ran.code, "Direct CoT" in ran.out) == (0, True)


def test_a_problem_as_json(cfr: Run) -> None:
    ran = cfr("route", "How many?", "--json")
    assert json.loads(ran.out) == {
        "kind": "other",
        "why": "asks (“How many”) but gives too little to compute from",
        "routed": True,
        "cues": [{"family": "final_integer_or_count", "spans": [[0, 8]], "phrases": ["How many"]}],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello", "auto passes it to the model untouched: it has no question or order for a value"),
        ("What is 2 + 2?", "auto solves it as a problem: it asks for a value (“What is 2”)"),
        ("Write of tea without commas.", "auto checks the reply: it demands something of its"),
    ],
)
def test_what_auto_does_with_a_text_is_said(cfr: Run, text: str, said: str) -> None:
    for command in ("route", "constraints"):
        assert said in " ".join(cfr(command, text).out.split())


def test_a_file_is_audited(cfr: Run, tmp_path: Path) -> None:
    path = tmp_path / "aime_like.jsonl"
    texts = ["How many?", "Compute 2 + 2.", "How many are at least 3, modulo 5, in degrees?"]
    path.write_text("".join(json.dumps({"problem": text}) + "\n" for text in texts))
    audit = json.loads(cfr("route", str(path), "--json").out)
    assert audit["total"] == 3
    assert audit["routed"] == 2
    assert audit["families"]["final_integer_or_count"] == 2
    assert audit["families"]["floor_or_rounding"] == 0
    assert audit["cofire"] == {"0": 1, "1": 1, "2": 0, "3": 0, "4+": 1}
    assert "2 / 3 routed" in cfr("route", str(path)).out
    ablation = cfr("route", str(path), "--convention", "aime", "--json")
    assert json.loads(ablation.out)["routed"] == 3


def test_the_counts_of_a_real_benchmark(cfr: Run, benchmark_file: Callable[[str], Path]) -> None:
    path = str(benchmark_file("aime26"))
    assert json.loads(cfr("route", path, "--json").out)["routed"] == 27
    printed = cfr("route", path, "--profile", "printed", "--json")
    assert json.loads(printed.out)["families"]["adversarial_or_game"] == 0


def test_bad_files_are_named(cfr: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"problem": "x"}\n{oops\n')
    (tmp_path / "latin.jsonl").write_bytes(b'{"problem": "\xe9"}')
    for name, message in (
        ("bad.jsonl", "bad.jsonl, line 2: not JSON"),
        ("latin.jsonl", "not UTF-8"),
        ("none.jsonl", "cannot be read (No such file or directory)"),
    ):
        ran = cfr("route", name)
        assert ran.code == 2
        assert message in ran.err
        assert ran.err.count("\n") == 1
        assert ran.out == ""
