import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraint_first.constraint.kind import FEATURES
from constraint_first.error import InputError
from constraint_first.method.baselines import CheckAnswer, Direct, Reminder
from constraint_first.method.method import MethodError, models_of
from constraint_first.method.policy import (
    NOT,
    PAPER,
    UNMEASURED,
    Calibrated,
    Chosen,
    Evidence,
    Policy,
    Rule,
    RunsEvidence,
    calibrate_by,
    find_policy,
    in_conversation,
    parse_policy,
    shipped_for,
    shipped_names,
    write_policy,
)
from constraint_first.method.registry import make
from constraint_first.model.local import DEFAULT_MODEL
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Completion, Message, Run
from constraint_first.store.series import fingerprint

EVIDENCE = Evidence(120, 40.0, 55.5, 15.5, (10.0, 21.0), 0.9)
POLICY = Policy(
    "small",
    (Rule(("latex", "not figure"), "reminder", EVIDENCE), Rule((), "check")),
    made="2026-11-15",
    by_problem=EVIDENCE,
)


def test_the_first_rule_counts_whose_conditions_are_all_met() -> None:
    assert [POLICY.choose(one) for one in ({"latex", "cue"}, {"latex", "figure"}, ())] == [0, 1, 1]
    assert replace(POLICY, rules=POLICY.rules[:1]).choose({"cue"}) is None
    words = [rule.words for rule in POLICY.rules]
    assert words == ["with LaTeX and without a figure", "of every kind"]


def test_the_hash_is_of_what_is_decided_and_of_nothing_else() -> None:
    again = replace(POLICY, made="2027-01-01", by_problem=None, command="cfr calibrate")
    assert again.digest == POLICY.digest
    changed = [replace(POLICY, rules=rules) for rules in (POLICY.rules[::-1], ())]
    changed.append(replace(POLICY, otherwise="cfr"))
    assert POLICY.digest not in {one.digest for one in changed}


def test_json_leaves_out_what_is_not_known() -> None:
    known = {"problems": 120, "before": 40.0, "after": 55.5, "gain": 15.5}
    assert replace(EVIDENCE, interval=None, tokens=None).to_json() == known
    assert EVIDENCE.to_json() == known | {"interval": [10.0, 21.0], "tokens": 0.9}
    written = POLICY.to_json()
    assert written["schema"] == 2
    assert written["rules"] == [
        {"when": ["latex", "not figure"], "method": "reminder", **EVIDENCE.to_json()},
        {"when": [], "method": "check"},
    ]
    assert "by_family" not in written


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
    assert (policy.model, policy.otherwise) == ("small", "direct")
    evidence = Evidence(10, 10.0, 20.0, 10.0, (1.0, 20.0), 0.9)
    held_out = Evidence(10, 10, 19, 9)
    checked = Rule(("not latex", "stated"), "check", evidence, held_out)
    assert policy.rules == (Rule(("latex",), "reminder"), checked)


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[by_family]\nproblems = 1.5\n", "p, line 4: by_family: 'problems' must be a whole num"),
        ('[[runs]]\nbenchmark = "b"\n', "p, line 3: runs 1: needs 'problems'"),
        ("[" * 100_000, "p: not TOML"),
        ("a = " + "9" * 10_000, "p: not TOML"),
        ("\0", "p: not TOML"),
        ("{", "p: not TOML"),
        ("rules = 1", "p, line 3: 'rules' must be a list of tables"),
    ],
)
def test_evidence_of_the_whole_and_hostile_texts_are_read_as_strictly(
    text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_policy("p", f'schema = 1\nmodel = "m"\n{text}')
    assert "\n" not in str(caught.value)


def test_a_method_that_cannot_be_made_is_named_with_its_policy(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    deep = "self-consistency(base=" * 2_000 + "direct" + ")" * 2_000
    for method, said in (
        ("chekc", r"p\.toml: method 'chekc': not known; did you mean 'ch"),
        (deep, "16 deep at most"),
    ):
        path.write_text(SMALL.replace('"check"', f'"{method}"'))
        with pytest.raises(MethodError, match=said):
            make(f"calibrated(policy={path})")
    with pytest.raises(MethodError, match=r"none\.toml: cannot be read"):
        make("calibrated(policy=none.toml)")
    with pytest.raises(InputError, match=r"'gpt-7': no \.toml file, and none .*cfr calibrate"):
        find_policy("gpt-7")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
NAMES = TEXTS.filter(lambda text: text.strip() != "" and "calibrated" not in text)
SHARES = st.floats(0, 100)
AMOUNTS = st.floats(0, 1e300)
POINTS = st.floats(-100, 100)
INTERVALS = st.tuples(POINTS, POINTS).map(lambda ends: (min(ends), max(ends)))
COUNTS = st.integers(0, 10**9)
EVIDENCES = st.builds(
    Evidence, COUNTS, SHARES, SHARES, POINTS, st.none() | INTERVALS, st.none() | AMOUNTS
)
SOME = st.none() | EVIDENCES
CONDITIONS = st.sampled_from([*FEATURES, *(NOT + feature for feature in FEATURES)])
RULES = st.builds(Rule, st.lists(CONDITIONS, max_size=3).map(tuple), NAMES, SOME, SOME)
RUNS = st.builds(RunsEvidence, TEXTS, COUNTS, COUNTS, st.lists(NAMES, max_size=3).map(tuple), TEXTS)
POLICIES = st.builds(
    Policy,
    NAMES,
    st.lists(RULES, max_size=3).map(tuple),
    NAMES,
    *(TEXTS, TEXTS, TEXTS),
    *(AMOUNTS, st.none() | AMOUNTS),
    *(SOME, SOME),
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
    assert policy.answer
    if name in (PAPER, UNMEASURED):
        assert (policy.rules, shipped_for(name)) == ((), "")
        return
    assert shipped_for(policy.model) == name
    assert policy.runs
    assert policy.answer.startswith("Yes" if policy.rules else "No")
    assert all(math.isfinite(one.evidence.gain) for one in policy.rules if one.evidence)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (
            [
                DEFAULT_MODEL,
                "Qwen/Qwen2.5-Coder-1.5B-Instruct",
                "~/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                "C:\\models\\qwen2.5-coder-1.5b-instruct.Q8_0.gguf",
                "qwen2.5-coder-1.5b-instruct-awq",
                "Qwen/Qwen2.5-Coder-1.5B-Instruct-GPTQ-Int4",
                "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:Q4_K_M",
            ],
            DEFAULT_MODEL,
        ),
        (["", *"qwen2.5-coder-7b-instruct qwen2.5-coder-1.5b ../policies".split()], ""),
        (["_q1" * 99 + "!"], ""),
    ],
)
def test_a_models_policy_is_found_by_any_of_its_names(names: list[str], found: str) -> None:
    assert {shipped_for(name) for name in names} == {found}


MEASURED = replace(EVIDENCE, problems=1_234)
LEARNT = Policy(
    "m", (Rule(("latex",), "reminder", MEASURED), Rule(("cue.modular_remainder",), "check"))
)
LEARNS = calibrate_by(LEARNT, make)
TEA, POEM = (
    Problem(text)
    for text in ("Write about tea. Do not use any commas.", "Write me a poem about tea.")
)
LATEX, CUED, PLAIN = (
    Problem(text)
    for text in ("What is $2 + 2$?", "Find the remainder of 7 by 3.", "What is two plus two?")
)


def solved(method: Calibrated, problem: Problem) -> Solution:
    run = Run(method.solve(problem))
    while run.calls:
        run.advance(tuple(Completion(r"\boxed{4}") for _ in run.calls))
    return run.result


def test_each_problem_goes_to_the_method_of_its_rule() -> None:
    for problem, chosen, why in (
        (LATEX, Chosen(Reminder(), 1), "reminder on problems with LaTeX (+15.5 points on 1,234 of"),
        (CUED, Chosen(CheckAnswer(), 2), "check on problems with a cue of modular remainder"),
        (PLAIN, Chosen(Direct(), 0), "no rule fits; direct"),
        # Neither the benchmark nor the id decides.
        (replace(PLAIN, id="latex", benchmark="math500"), Chosen(Direct(), 0), "no rule fits; "),
    ):
        assert LEARNS.choose(problem) == chosen
        assert LEARNS.explain(problem).startswith(why)
    for text in ("\ud800", "", "$" * 1_000):
        assert LEARNS.choose(Problem(text)).rule in (0, 1, 2)


def test_the_rule_and_its_evidence_are_noted() -> None:
    noted = solved(LEARNS, LATEX).details["policy"]
    assert noted == {"rule": 1, "when": ["latex"], "method": "reminder", **MEASURED.to_json()}
    assert solved(LEARNS, PLAIN).details["policy"] == {"rule": 0, "method": "direct"}
    assert solved(LEARNS, PLAIN).answer == "4"


def test_the_fingerprint_is_that_of_what_is_decided() -> None:
    first, second = LEARNT.rules
    policies = [
        LEARNT,
        replace(LEARNT, rules=(second,)),
        replace(LEARNT, rules=(replace(first, when=("not latex",)), second)),
    ]
    assert len({fingerprint(calibrate_by(one, make)) for one in policies}) == 3
    later = calibrate_by(replace(LEARNT, made="later", answer="Yes"), make)
    assert fingerprint(later) == fingerprint(LEARNS)
    assert "cue" not in repr(later)  # the hash stands for the conditions
    assert LEARNT.digest in repr(later)
    other = replace(LEARNT, rules=(Rule((), "cfr(extractor=small)"),))
    assert models_of(calibrate_by(other, make)) == ("small",)


def test_requests_are_left_to_sound_and_plain_replies() -> None:
    assert LEARNS.choose(TEA) == Chosen(make("sound(add=off,then=off)"), 0)
    assert LEARNS.choose(POEM).method == make("plain")
    assert LEARNS.leaves_alone(POEM)
    said = "a request that demands something of its reply; the reply is checked"
    assert LEARNS.explain(TEA) == said
    why = "it asks for a text (“Write me a poem”)"
    assert LEARNS.explain(POEM) == f"passed to the model untouched, because {why}"
    noted = {"rule": 0, "method": "plain", "why": why}
    assert solved(LEARNS, POEM).details["policy"] == noted
    noted = {"rule": 0, "method": "sound(add=off,then=off)"}
    assert solved(LEARNS, TEA).details["policy"] == noted


@pytest.mark.parametrize(
    ("rule", "counts"),
    [
        (Rule(("demand",), "sound(most=4)"), True),
        (Rule((), "sound(then=turn)"), True),  # for everything, where it leads to whole replies
        (Rule((), "program"), False),
    ],
)
def test_a_policy_that_knows_requests_decides_about_them(rule: Rule, *, counts: bool) -> None:
    method = calibrate_by(replace(LEARNT, rules=(rule, *LEARNT.rules)), make)
    wanted = Chosen(make(rule.method), 1) if counts else LEARNS.choose(TEA)
    assert method.choose(TEA) == wanted
    assert method.leaves_alone(POEM)


PROGRAMS = Policy("m", (Rule(("not functions",), "program"),))
COMPUTES = calibrate_by(PROGRAMS, make)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Which of the following is prime? (A) 21 (B) 27 (C) 31 (D) 33", "one of several options"),
        ("What is 3 + 4?\nAnswer Choices: (A)5 (B)6 (C)7", "one of several options"),
        (
            "What is $2+2$? $\\textbf{(A)}\\ 3 \\textbf{(B)}\\ 4 \\textbf{(C)}\\ 5$",
            "one of several",
        ),
        ("Solve the equation: $x^2 = 9$", "several values"),
        (
            "Find all positive integers $n$ such that $n^2 < 10$. List all solutions.",
            "several values",
        ),
        ("Find the coordinates of the midpoint of $(1,2)$ and $(3,4)$.", "several values"),
        ("The sum of two numbers is 35 and their difference is 13. Find the numbers.", "several"),
        ("Simplify: $3(8v + 9)$", "an expression"),
        ("Factor $7x^3 - 21x^2 + 14x$.", "an expression"),
        ("Find the derivative of $x^3$.", "an expression"),
        ("Find the range of values of $x$ for which $x + 4 > 0$.", "an expression"),
        ("Tom hat 5 Äpfel und kauft 3 dazu. Wie viele Äpfel hat er jetzt?", "English"),
        ("If 3 pens cost $p$ dollars, find the cost of 7 pens in terms of $p$.", "an expression"),
    ],
)
def test_programs_are_for_problems_that_ask_for_a_number(text: str, form: str) -> None:
    why = COMPUTES.explain(Problem(text))
    assert COMPUTES.choose(Problem(text)).method == Direct()
    assert form in why
    assert why.startswith("direct: programs print numbers") or "English" in why


@pytest.mark.parametrize(
    "text",
    [
        "Ann has 5 apples and buys 3 more. How many apples does she have?",
        "A farmer wants to expand his 3 fields by 2 each. How many fields has he then?",
        "Tom solved 4 puzzles on each of 3 days. How many puzzles did he solve?",
        "A factory makes 20 toys in each of 5 hours. How many toys is that?",
        "For how many ordered pairs of positive integers $(x,y)$ is $x+2y = 100$?",
        "What is the sum of all possible values of $n$ if $n^2 = 9$?",
        "Find the remainder when $7^{100}$ is divided by 13.",
        "What is the probability of two sixes with 2 fair dice? Express your answer as a fraction.",
    ],
)
def test_a_number_is_still_left_to_programs(text: str) -> None:
    assert COMPUTES.choose(Problem(text)).rule == 1
    # A rule that was learnt for a form counts for it.
    learnt = replace(PROGRAMS, rules=(Rule(("asks.expression",), "program"),))
    assert calibrate_by(learnt, make).choose(Problem("Simplify: $3(8v + 9)$")).rule == 1


@pytest.mark.parametrize(
    ("ahead", "alone"),
    [
        ([], True),
        ([Message("system", "You are a helpful assistant.")], True),
        ([Message("system", "You are Qwen, by Alibaba. You are a helpful assistant.")], True),
        ([Message("system", "Answer in JSON.")], False),
        ([Message("system", "You are a poet. Answer in rhyme.")], False),
        ([Message("user", "hi"), Message("assistant", "Hello.")], False),
    ],
)
def test_a_problem_in_a_conversation_is_left_to_the_model(
    ahead: list[Message], *, alone: bool
) -> None:
    method = in_conversation(COMPUTES, ahead)
    assert isinstance(method, Calibrated)
    assert method.leaves_alone(Problem("What is 2 + 2?")) != alone
    assert in_conversation(Direct(), ahead) == Direct()
