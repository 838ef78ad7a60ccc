import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.kind import FEATURES
from constraint_first.error import InputError
from constraint_first.method.method import MethodError, models_of
from constraint_first.method.policy import (
    NOT,
    PAPER,
    UNMEASURED,
    Evidence,
    Policy,
    Rule,
    RunsEvidence,
    find_policy,
    parse_policy,
    shipped_for,
    shipped_names,
    write_policy,
)
from constraint_first.method.registry import make
from constraint_first.model.pull import DEFAULT_MODEL

SMALL = """schema = 1
model = "small"

[[rules]]
when = ["latex"]
method = "reminder"

[[rules]]
when = ["not latex", "stated"]
method = "check"
problems = 10
before = 10.0
after = 20.0
gain = 10.0
interval = [1.0, 20.0]
tokens = 0.9
[rules.held_out]
problems = 10
before = 10
after = 19
gain = 9
"""


def test_a_policy_is_read() -> None:
    policy = parse_policy("p.toml", SMALL)
    assert policy.model == "small"
    assert policy.otherwise == "direct"
    assert policy.rules[0] == Rule(("latex",), "reminder")
    evidence = Evidence(10, 10.0, 20.0, 10.0, (1.0, 20.0), 0.9)
    assert policy.rules[1] == Rule(
        ("not latex", "stated"), "check", evidence, Evidence(10, 10, 19, 9)
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "schema = 3", "p.toml, line 1: schema 3 is not from 1 to 2, .* 'cfr cal"),
        ("schema = 1\n", "", "p.toml: needs 'schema', a whole number"),
        ("schema = 1", "schema = 1\nschema = 1", "p.toml: not TOML"),
        ('model = "small"', "model = 3", "p.toml, line 2: 'model' must be a text that is not"),
        ('model = "small"', "", "p.toml: needs 'model'"),
        ('model = "small"', 'modle = "small"', "line 2: there is no 'modle'; did you mean 'model'"),
        ('model = "small"', 'model = "m"\nprice = nan', "line 3: 'price' must be a number from 0"),
        ('model = "small"', 'model = "m"\nprice = -1', "line 3: 'price' must be a number from 0"),
        ('model = "small"', 'model = "m"\nprice = true', "line 3: 'price' must be a number"),
        ('model = "small"', 'model = "m"\notherwise = "calibrated"', "line 3: 'otherwise' may not"),
        ('"reminder"', '"calibrated(policy=p.toml)"', "line 6: rules 1: 'method' may not be anoth"),
        ('"reminder"', "7", "line 6: rules 1: 'method' must be a text"),
        ('method = "reminder"\n', "", "p.toml, line 4: rules 1: needs 'method', a text"),
        ('["latex"]', '["latx"]', "line 5: rules 1: 'when' has no feature 'latx'; did you mean"),
        ('["latex"]', '["zzzzzz"]', "rules 1: 'when' has no feature 'zzzzzz'; choose from cue"),
        ('["latex"]', '"latex"', "line 5: rules 1: 'when' must be a list of texts"),
        ("gain = 10.0", "gain = 101", "line 14: rules 2: 'gain' must be a number from -100 to 100"),
        ("gain = 10.0", "", "rules 2: needs 'gain'"),
        ("[1.0, 20.0]", "[2.0, 1.0]", "line 15: rules 2: 'interval' must be two numbers"),
        ("[1.0, 20.0]", "[2.0]", "line 15: rules 2: 'interval' must be two numbers"),
        ("tokens = 0.9", "tokens = inf", "line 16: rules 2: 'tokens' must be a number from 0 up"),
        ("tokens = 0.9", "token = 1", "line 16: rules 2: there is no 'token'; did you mean"),
        ("gain = 9\n", "gain = 9\nwhy = 1", "rules 2: there is no 'why'"),
        ("[rules.held_out]", "[by_problem]\nproblems = -1\n[x]", "there is no 'x'"),
        ("[[rules]]", "[rules]", "not TOML|'rules' must be a list of tables"),
    ],
)
def test_a_policy_that_is_none(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(InputError, match=message) as caught:
        parse_policy("p.toml", SMALL.replace(old, new, 1))
    assert "\n" not in str(caught.value)


def test_evidence_of_the_whole_and_of_runs_is_read_as_strictly() -> None:
    with pytest.raises(InputError, match=r"p, line 4: by_family: 'problems' must be a whole num"):
        parse_policy("p", 'schema = 1\nmodel = "m"\n[by_family]\nproblems = 1.5\n')
    with pytest.raises(InputError, match=r"p, line 3: runs 1: needs 'problems'"):
        parse_policy("p", 'schema = 1\nmodel = "m"\n[[runs]]\nbenchmark = "b"\n')


@pytest.mark.parametrize("text", ["[" * 100_000, "a = " + "9" * 10_000, "\0", "{", "rules = 1"])
def test_hostile_files_are_refused_in_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        find_policy(str(path))
    assert "\n" not in str(caught.value)


def test_a_method_that_cannot_be_made_is_named_with_its_policy(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(SMALL.replace('"check"', '"chekc"'))
    with pytest.raises(MethodError, match=r"p\.toml: method 'chekc': not known; did you mean 'ch"):
        make(f"calibrated(policy={path})")
    deep = "self-consistency(base=" * 2_000 + "direct" + ")" * 2_000
    path.write_text(SMALL.replace('"check"', f'"{deep}"'))
    with pytest.raises(MethodError, match="16 deep at most"):
        make(f"calibrated(policy={path})")
    with pytest.raises(MethodError, match=r"none\.toml: cannot be read"):
        make("calibrated(policy=none.toml)")


def test_a_policy_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"none\.toml: cannot be read"):
        find_policy("none.toml")
    with pytest.raises(
        InputError, match=r"policy 'gpt-7': no \.toml file, and none .*cfr calibrate"
    ):
        find_policy("gpt-7")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = TEXTS.filter(lambda text: text.strip() != "" and "calibrated" not in text)
SHARES = st.floats(0, 100)
AMOUNTS = st.floats(0, 1e300)
POINTS = st.floats(-100, 100)
INTERVALS = st.tuples(POINTS, POINTS).map(lambda ends: (min(ends), max(ends)))
EVIDENCE = st.builds(
    Evidence,
    st.integers(0, 10**9),
    SHARES,
    SHARES,
    POINTS,
    st.none() | INTERVALS,
    st.none() | AMOUNTS,
)
CONDITIONS = st.sampled_from([*FEATURES, *(NOT + feature for feature in FEATURES)])
RULES = st.builds(
    Rule,
    st.lists(CONDITIONS, max_size=3).map(tuple),
    NAMES,
    st.none() | EVIDENCE,
    st.none() | EVIDENCE,
)
RUNS = st.builds(
    RunsEvidence,
    TEXTS,
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.lists(NAMES, max_size=3).map(tuple),
    TEXTS,
)
POLICIES = st.builds(
    Policy,
    NAMES,
    st.lists(RULES, max_size=3).map(tuple),
    NAMES,
    TEXTS,
    TEXTS,
    TEXTS,
    AMOUNTS,
    st.none() | AMOUNTS,
    st.none() | EVIDENCE,
    st.none() | EVIDENCE,
    st.lists(RUNS, max_size=2).map(tuple),
)


@given(POLICIES)
def test_what_is_written_is_read_back(policy: Policy) -> None:
    assert parse_policy("p", write_policy(policy)) == policy


@given(st.dictionaries(TEXTS, st.none() | st.integers() | TEXTS, max_size=4), st.text())
def test_any_text_is_a_policy_or_an_error_of_one_line(table: dict[str, Any], text: str) -> None:
    lines = "\n".join(f"{name} = {value!r}" for name, value in table.items())
    for given_text in (text, f"schema = 1\n{lines}"):
        try:
            parse_policy("p", given_text)
        except InputError as error:
            assert "\n" not in str(error).replace(given_text, "")  # noqa: PT017


@pytest.mark.parametrize("name", shipped_names())
def test_the_policies_of_the_package_are_whole(name: str) -> None:
    policy = find_policy(name)
    assert models_of(make(f"calibrated(policy={name})")) == ()  # ``auto`` relies on it
    if name in (PAPER, UNMEASURED):
        assert not policy.rules
        assert policy.answer
        assert shipped_for(name) == ""
        return
    assert shipped_for(policy.model) == name
    assert policy.runs
    assert policy.answer.startswith(("Yes", "No"))
    assert bool(policy.rules) == policy.answer.startswith("Yes")
    assert all(math.isfinite(one.evidence.gain) for one in policy.rules if one.evidence)


def test_a_models_policy_is_found_by_any_of_its_names() -> None:
    for name in (
        DEFAULT_MODEL,
        "Qwen/Qwen2.5-Coder-1.5B-Instruct",
        "~/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        "C:\\models\\qwen2.5-coder-1.5b-instruct.Q8_0.gguf",
        "qwen2.5-coder-1.5b-instruct-awq",
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GPTQ-Int4",
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q4_K_M",
    ):
        assert shipped_for(name) == DEFAULT_MODEL, name
    for name in (
        "",
        "qwen2.5-coder-7b-instruct",
        "qwen2.5-coder-1.5b",
        "../policies",
        "_q1" * 99 + "!",
    ):
        assert shipped_for(name) == "", name
