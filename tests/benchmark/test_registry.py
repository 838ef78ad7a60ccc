import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instructed import FEW_WORDS, NO_COMMA, requests, write_requests

from constraint_first.benchmark.registry import (
    BUILT_IN,
    INSTRUCTION_MARK,
    Benchmark,
    Entry,
    check,
    entries,
    fetch,
    load,
    names,
    write_instructions,
)
from constraint_first.error import InputError
from constraint_first.method.registry import make
from constraint_first.problem import Json, Problem
from constraint_first.protocol import Run

# --- registry


LOCAL = {
    "aime24": 30,
    "aime25": 30,
    "aime26": 30,
    "cmimc25": 40,
    "brumo25": 30,
    "aimo_amc": 43,
    "olympiadbench": 674,
    "math500": 500,
    "gsm8k": 1319,
    "ifeval": 541,
}


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch, benchmark_file: Callable[[str], Path]) -> None:
    """Where the files are is remembered; the tests themselves say when CFR_DATA is set."""
    monkeypatch.delenv("CFR_DATA", raising=False)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Stand in for the library: answers with ``rows``, or raises ``error``."""
    played: dict[str, Any] = {"rows": [], "error": None, "asked": []}

    def load_dataset(path: str, name: str | None, *, split: str) -> list[dict[str, Any]]:
        played["asked"].append((path, name, split))
        if played["error"]:
            raise played["error"]
        return played["rows"]

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    return played


@pytest.mark.parametrize(("name", "count"), LOCAL.items())
def test_local_files_are_whole(
    name: str, count: int, benchmark_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFR_DATA", str(benchmark_file(name).parent))
    benchmark = load(name)
    assert len(benchmark.problems) == count
    assert benchmark.label == entries()[name].label
    assert {problem.benchmark for problem in benchmark.problems} == {name}
    assert benchmark.system_prompt == ""


@pytest.mark.parametrize("source", ["aime24", "AIME24", "Aime24"])
def test_a_name_or_a_label_will_do(source: str, tmp_path: Path, hub: dict[str, Any]) -> None:
    url = "https://a.org/2024_AIME_{}_Problems/Problem_{}"
    hub["rows"] = [
        {"problem": f" P{n}{part} ", "answer": "025", "url": url.format(part, n)}
        for part in ("I", "II")
        for n in range(1, 16)
    ]
    benchmark = load(source)
    assert hub["asked"] == [("HuggingFaceH4/aime_2024", None, "train")]
    assert benchmark.problems[0] == Problem("P1I", "aime24-I-1", "25", "aime24")
    assert benchmark.problems[-1].id == "aime24-II-15"


def test_config_field_names_and_answers_in_a_list(hub: dict[str, Any]) -> None:
    hub["rows"] = [
        {"id": n, "question": f"Q{n}", "final_answer": ["$1$", "$2$"]} for n in range(674)
    ]
    benchmark = load("olympiadbench")
    assert hub["asked"] == [("Hothan/OlympiadBench", "OE_TO_maths_en_COMP", "train")]
    assert benchmark.problems[3] == Problem("Q3", "olympiadbench-3", "$1$, $2$", "olympiadbench")


def test_gsm8k_answers_stand_after_hashes(hub: dict[str, Any]) -> None:
    hub["rows"] = [{"question": f"Q{n}", "answer": "so\n#### 1,234"} for n in range(1319)]
    first = load("gsm8k").problems[0]
    assert (first.id, first.answer) == ("gsm8k-test-0", "1234")


def test_ids_that_repeat_upstream_lose_no_problem(hub: dict[str, Any]) -> None:
    hub["rows"] = [{"id": n % 49, "problem": f"P{n}", "answer": float(n)} for n in range(83)]
    problems = load("aimo_amc").problems
    assert len({problem.id for problem in problems}) == 83
    assert (problems[50].id, problems[50].answer) == ("aimo_amc-train-50", "50")
    url = "https://a.org/2022_AMC_12A_Problems/Problem_{}"
    for n, row in enumerate(hub["rows"]):
        row["url"] = url.format(n)
    assert load("aimo_amc").problems[7].id == "aimo_amc-2022-12A-7"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"problem": "P", "answer": "1"}], "has 1 problems where a complete copy has 30"),
        ([{"question": "P", "answer": "1"}], r"row 1 of .* has no field problem \(it has question"),
        (
            [{"problem": "P", "answer": None}] * 30,
            "no gold answer in row 1, 2, 3, 4, 5 and 25 more",
        ),
        ([{"problem": None, "answer": "1"}], "no text in row 1"),
        ([{"problem": "P\0", "answer": "1"}], "row 1 of .*: 'problem' has a NUL character"),
        (
            [{"problem": "P  Q", "answer": "1"}] * 30,
            r"the same problem text \('P Q'\) in rows 1, 2",
        ),
        ([], "has no problems"),
    ],
)
def test_what_comes_from_afar_is_checked(
    rows: list[dict[str, Any]], message: str, hub: dict[str, Any]
) -> None:
    hub["rows"] = rows
    with pytest.raises(InputError, match=message):
        load("brumo25")


def test_the_library_itself_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("datasets", reason="the extra `datasets` is not installed")
    rows = [{"problem_idx": n, "problem": f"P{n}", "answer": str(n)} for n in range(1, 31)]
    write(tmp_path, "train.jsonl", "\n".join(map(json.dumps, rows)))
    monkeypatch.setitem(entries(), "brumo25", replace(entries()["brumo25"], dataset=str(tmp_path)))
    problems = load("brumo25").problems
    assert (len(problems), problems[6]) == (30, Problem("P7", "brumo25-7", "7", "brumo25"))


def test_without_the_library_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"constraint-first\[datasets\].*hmmt25\.jsonl.*CFR_DATA"):
        load("hmmt25")


def test_a_name_nobody_knows() -> None:
    with pytest.raises(InputError, match=r"'aime2': not known; did you mean 'aime2\d'\? Known are"):
        load("aime2")
    with pytest.raises(InputError, match=r"choose from .*gsm8k, ifeval, or name a file: .jsonl, "):
        load("zzzzzz")


def write(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_users_json_lines(tmp_path: Path) -> None:
    source = write(
        tmp_path, "mine.jsonl", '{"problem": "P", "answer": 7}\n{"text": "Q", "answer": "8"}'
    )
    problems = (Problem("P", "1", "7", "mine"), Problem("Q", "2", "8", "mine"))
    assert load(source) == Benchmark("mine", "mine", problems)
    assert load(source, system_prompt="Be brief.").system_prompt == "Be brief."


def test_a_users_gold_may_be_a_list(tmp_path: Path) -> None:
    lines = '{"problem": "P", "answer": ["12"]}\n{"problem": "Q", "answer": ["1", 2]}\n'
    problems = load(write(tmp_path, "mine.jsonl", lines)).problems
    assert [problem.answer for problem in problems] == ["12", "1, 2"]


def test_a_folder_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"~nobody-here/x.jsonl: cannot be read"):
        load("~nobody-here/x.jsonl")
    monkeypatch.setenv("CFR_DATA", "~nobody-here")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"~nobody-here/hmmt25.jsonl is not there"):
        load("hmmt25")


def test_a_users_table(tmp_path: Path) -> None:
    text = '\ufeffID,Question,Answer\na,"What, exactly,\nis 2+2?",4\n\nb,Is it?,yes\n'
    problems = load(write(tmp_path, "mine.csv", text)).problems
    assert problems == (
        Problem("What, exactly,\nis 2+2?", "a", "4", "mine"),
        Problem("Is it?", "b", "yes", "mine"),
    )


def test_an_incomplete_copy_in_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "aime24.jsonl", '{"problem": "P", "answer": "7"}')
    monkeypatch.setenv("CFR_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"aime24\.jsonl: has 1 problems where .* has 30"):
        load("aime24")
    assert len(load(str(tmp_path / "aime24.jsonl")).problems) == 1


def test_a_benchmark_of_the_package_is_registered_by_a_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built_in = Benchmark("built-in", "Built in", (Problem("P", "1", "2", "built-in"),))
    monkeypatch.setitem(BUILT_IN, "built-in", lambda: built_in)
    assert load("built-in") == built_in
    assert "built-in" in names()


def test_nothing_about_a_benchmark_reaches_a_prompt(
    benchmark_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFR_DATA", str(benchmark_file("aime24").parent))
    for problem in load("aime24").problems:
        (call,) = Run(make("direct").solve(problem)).calls
        assert "AIME" not in call.messages[0].content.replace(problem.text, "")
        assert "999" not in call.messages[0].content.replace(problem.text, "")


def test_gold_instructions_never_reach_a_prompt(
    benchmark_file: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFR_DATA", str(benchmark_file("ifeval").parent))
    ours = load("ifeval")
    assert ours.taken == ""
    for problem in ours.problems:
        assert INSTRUCTION_MARK in (problem.answer or "")
        (call,) = Run(make("direct").solve(problem)).calls
        said = call.messages[0].content.replace(problem.text, "")
        assert not re.search(r"instructions|kwargs|num_|no_comma|IFEval", said)


def test_a_users_own_requests(tmp_path: Path) -> None:
    path = write_requests(tmp_path / "mine.jsonl", 3)
    benchmark = load(str(path))
    assert [(p.id, p.text, p.answer) for p in benchmark.problems] == [
        (p.id, p.text, p.answer) for p in requests(3)
    ]
    assert benchmark.taken == (
        f"{path}: 3 problems; problem from 'problem', instructions from 'instructions', id from "
        "'id'"
    )


def test_kinds_that_are_not_known_are_kept_and_said_once(
    tmp_path: Path, hub: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        {"problem": f"P{n}", "instructions": [{"id": "emoji:count", "kwargs": {"n": n}}]}
        for n in range(9)
    )
    own = load(write(tmp_path, "mine.jsonl", "\n".join(map(json.dumps, rows))))
    told = "instructions of a kind that is not known are left undecided: 'emoji:count'"
    assert own.taken.endswith(f"'instructions'; {told}")
    assert '"emoji:count","kwargs":{"n":8}' in (own.problems[8].answer or "")
    hub["rows"] = [
        {"key": n, "prompt": f"P{n}", "instruction_id_list": ["emoji:count"], "kwargs": [{}]}
        for n in range(541)
    ]
    assert load("IFEval").taken == f"ifeval: {told}"


# --- hugging face


ENTRY = Entry("gsm8k", "GSM8K", "openai/gsm8k", "test", "main", "question", "answer", "n")
HINT = "put gsm8k.jsonl into a folder"


def test_problems_come_with_the_numbers_of_their_rows(hub: dict[str, Any]) -> None:
    hub["rows"] = [
        {"question": " Q1 ", "answer": " 4", "n": 7, "other": object()},
        {"question": "Q2", "answer": 5, "n": 8},
    ]
    assert fetch(ENTRY, HINT) == [
        (1, Problem("Q1", "gsm8k-7", "4", "gsm8k")),
        (2, Problem("Q2", "gsm8k-8", "5", "gsm8k")),
    ]
    assert hub["asked"] == [("openai/gsm8k", "main", "test")]


def test_no_configuration_is_none(hub: dict[str, Any]) -> None:
    assert fetch(Entry("x", "X", "a/b", "train"), HINT) == []
    assert hub["asked"] == [("a/b", None, "train")]


def test_gaps_are_left_for_the_check_and_lose_no_row(hub: dict[str, Any]) -> None:
    hub["rows"] = [{"question": None, "answer": None}] * 2
    assert fetch(ENTRY, HINT) == [
        (1, Problem("", "gsm8k-test-0", "", "gsm8k")),
        (2, Problem("", "gsm8k-test-1", "", "gsm8k")),
    ]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("no route\nto host"), "ConnectionError: no route"),
        (ValueError("x" * 10_000), "ValueError: " + "x" * 188),
        (RuntimeError(), "RuntimeError: "),
    ],
)
def test_whatever_the_library_raises_is_one_line(
    hub: dict[str, Any], error: Exception, said: str
) -> None:
    hub["error"] = error
    with pytest.raises(InputError) as caught:
        fetch(ENTRY, HINT)
    assert str(caught.value) == (
        f"benchmark 'gsm8k': openai/gsm8k could not be fetched from Hugging Face ({said}); "
        f"check the network, or {HINT}"
    )
    assert caught.value.__cause__ is error


IFEVAL = Entry(
    *("ifeval", "IFEval", "google/IFEval", "train"),
    problem="prompt",
    id="key",
    instructions="instruction_id_list",
    arguments="kwargs",
)


def test_instructions_take_the_place_of_an_answer(hub: dict[str, Any]) -> None:
    """Upstream each object of arguments has all names there are; those not used are null."""
    none = {"num_words": None, "relation": None, "keywords": None}
    row = {"key": 1000, "prompt": "Write.", "instruction_id_list": [NO_COMMA.kind, FEW_WORDS.kind]}
    hub["rows"] = [row | {"kwargs": [none, none | dict(FEW_WORDS.arguments)]}]
    gold = write_instructions([NO_COMMA, FEW_WORDS])
    assert fetch(IFEVAL, HINT) == [(1, Problem("Write.", "ifeval-1000", gold, "ifeval"))]
    hub["rows"] = [row | {"kwargs": [none]}]
    with pytest.raises(InputError, match=r"'ifeval': row 1 of google/IFEval: 'kwargs' must be a"):
        fetch(IFEVAL, HINT)
    hub["rows"] = [row]
    with pytest.raises(InputError, match=r"row 1 of google/IFEval has no field kwargs \(it has"):
        fetch(IFEVAL, HINT)


# --- entry


WHOLE = Entry("x", "X", "d", "s", answer_rule="integer")
HASHES = Entry("x", "X", "d", "s", answer_rule="after-hashes")
ALL = {
    "aime24", "aime25", "aime26", "cmimc25", "brumo25", "aimo_amc", "olympiadbench", "math500",
    "gsm8k", "hmmt25", "amc23", "ifeval",
}  # fmt: skip


@given(st.integers(), st.integers(0, 5), st.integers(0, 3))
def test_padding_changes_no_whole_number(value: int, zeros: int, decimals: int) -> None:
    sign = "-" if value < 0 else ""
    padded = f"{sign}{'0' * zeros}{abs(value)}" + ("." + "0" * decimals if decimals else "")
    assert WHOLE.read_answer(padded) == str(value)


def test_gold_is_an_answer_or_instructions() -> None:
    assert HASHES.read_gold({"answer": "so #### 4"}) == "4"
    entry = Entry("x", "X", "d", "s", instructions="kinds", arguments="given")
    row: dict[str, Json] = {"kinds": [NO_COMMA.kind], "given": [{"n": None}], "answer": "7"}
    assert entry.gold_fields == ("kinds", "given")
    assert entry.read_gold(row) == write_instructions([NO_COMMA])
    assert entry.read_gold(row | {"kinds": None}) == ""


def test_ids_come_from_a_field() -> None:
    entry = Entry("aime24", "", "", "train", id="url", id_pattern=r"AIME_(I+)_.*Problem_(\d+)")
    urls: list[Json] = [f"a.org/2024_AIME_{part}_Problems/Problem_3" for part in ("I", "II")]
    assert entry.make_ids(urls) == ["aime24-I-3", "aime24-II-3"]
    assert entry.make_ids(["other", urls[0]]) == ["aime24-other", "aime24-I-3"]


def test_ids_are_places_where_there_is_no_field_or_it_repeats() -> None:
    numbered = ["x-test-0", "x-test-1", "x-test-2"]
    assert Entry("x", "", "", "test").make_ids([None] * 3) == numbered
    assert Entry("x", "", "", "test", id="n").make_ids([1, 2, 1]) == numbered
    cut = Entry("x", "", "", "test", id="n", id_pattern=r"(\d+)")
    assert cut.make_ids(["a1", "b1", "c2"]) == numbered
    assert cut.make_ids([]) == []


@given(st.lists(st.integers() | st.text() | st.none(), max_size=6), st.sampled_from(["", "n"]))
def test_no_two_problems_share_an_id(values: list[Json], field: str) -> None:
    ids = Entry("x", "", "", "s", id=field).make_ids(values)
    assert len(set(ids)) == len(values)


def test_the_public_benchmarks() -> None:
    known = entries()
    assert set(known) == ALL
    assert {entry.name for entry in known.values()} == ALL
    assert len({entry.label for entry in known.values()}) == len(ALL)
    assert known["aimo_amc"].counts == [83, 43]
    assert known["olympiadbench"].strength == "Weak"


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_can_be_fetched_read_and_checked(name: str) -> None:
    entry = entries()[name]
    assert re.fullmatch(r"[\w-]+/[\w-]+", entry.dataset)
    assert entry.split in ("train", "test")
    assert re.compile(entry.id_pattern).groups >= 1
    assert "?" not in entry.id_pattern, "a group that may be absent has no text to join"
    assert entry.counts
    assert entry.file == f"{name}.jsonl"
    assert entry.system_prompt == "", "what goes ahead of a prompt is the user's to set"


def placed(*problems: tuple[str, str | None, str]) -> list[tuple[int, Problem]]:
    """Number problems (text, gold answer, id) by even lines."""
    return [(2 * n, Problem(text, name, gold)) for n, (text, gold, name) in enumerate(problems, 1)]


@pytest.mark.parametrize("counts", [(), (2,), (83, 2)])
def test_a_whole_set_passes(counts: tuple[int, ...]) -> None:
    check("x.jsonl", placed(("P is Q", "1", "a"), ("P is q", "1", "b")), counts)
