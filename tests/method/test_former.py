"""Names from before CFR-brief had one of its own, read as what they meant."""

import pytest

from constraint_first.method.constraint_first import BRIEF, CFR, LLMRouted, Routed
from constraint_first.method.former import changed_meaning, renamed, renamed_label, spelled
from constraint_first.method.policy import find_policy, parse_policy, shipped_names, write_policy
from constraint_first.method.registry import make

BEFORE = {
    "cfr": "cfr-brief",
    "cfr()": "cfr-brief()",
    "cfr(reply=json)": "cfr-brief(reply=json)",
    "cfr( reply = json )": "cfr-brief( reply = json )",
    "cfr(prompts=own)": "cfr-brief(prompts=own)",
    "cfr(prompts=paper)": "cfr",
    "cfr( prompts = 'paper' )": "cfr",
    "cfr(reply=prose,prompts=paper)": "cfr(reply=prose)",
    "cfr(prompts=paper,wording=mine)": "cfr(wording=mine)",
    "cfr(wording=mine)": "cfr-brief(wording=mine)",
    "cfr(extractor='a, (b',prompts=paper)": "cfr(extractor='a, (b')",
    "routed-cfr": "routed-cfr-brief",
    "routed-cfr(prompts=paper,convention=aime)": "routed-cfr(convention=aime)",
    "llm-router(model=cfr)": "llm-router-brief(model=cfr)",
    "llm-router(prompts=paper)": "llm-router",
    "self-consistency(base=cfr)": "self-consistency(base=cfr-brief)",
    "self-consistency(base='cfr',samples=2)": "self-consistency(base='cfr-brief',samples=2)",
    "self-consistency(base=cfr(prompts=paper))": "self-consistency(base=cfr)",
    "vote(base=program+cfr+direct,fallback=routed-cfr)": (
        "vote(base=program+cfr-brief+direct,fallback=routed-cfr-brief)"
    ),
    "checked(base=self-consistency(base=cfr(prompts=paper,reply=prose)))": (
        "checked(base=self-consistency(base=cfr(reply=prose)))"
    ),
}
SAME = [
    *("direct", "stated-cfr", "cfr-brief", "routed-cfr-brief(reply=json)", "list-first", "search"),
    *("calibrated(policy=cfr)", "direct(wording=cfr)", "my-cfr", "cfr brief", "Routed-CFR", ""),
    "checked(base=" * 40 + "cfr" + ")" * 40,
    repr(CFR()),
    repr(Routed(BRIEF)),
]


@pytest.mark.parametrize(("before", "today"), BEFORE.items())
def test_what_a_name_meant(before: str, today: str) -> None:
    assert renamed(before) == today
    assert changed_meaning(before)


@pytest.mark.parametrize("name", SAME)
def test_other_names_are_left_alone(name: str) -> None:
    assert renamed(name) == spelled(name) == name


def test_no_two_names_become_one() -> None:
    spelled_twice = {"cfr( prompts = 'paper' )"}
    names = BEFORE.keys() - spelled_twice
    assert len({renamed(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        ("cfr(prompts=paper)", "cfr"),
        ("cfr(prompts=own)", "cfr(prompts=own)"),  # which is refused
        ("routed-cfr-brief(prompts=own,reply=json)", "routed-cfr-brief(reply=json)"),
        ("self-consistency(base=cfr(prompts=paper,reply=prose))", None),
    ],
)
def test_an_old_spelling_of_today_says_nothing_more(given: str, plain: str | None) -> None:
    assert spelled(given) == (plain or "self-consistency(base=cfr(reply=prose))")


@pytest.mark.parametrize(
    ("method", "label", "today"),
    [
        ("cfr", "CFR (always-on)", "CFR-brief (always-on)"),
        ("cfr(prompts=paper)", "CFR (always-on)", "CFR (always-on)"),
        ("routed-cfr(reply=json)", "Routed-CFR", "Routed-CFR-brief"),
        ("llm-router", "LLM router", "LLM router (CFR-brief)"),
        ("self-consistency(base=cfr)", "Self-Consistency", "Self-Consistency"),
        (repr(BRIEF), "CFR (always-on)", "CFR-brief (always-on)"),
        (repr(Routed(BRIEF)), "Routed-CFR", "Routed-CFR-brief"),
        (repr(LLMRouted(BRIEF)), "LLM router", "LLM router (CFR-brief)"),
        (repr(Routed()), "Routed-CFR", "Routed-CFR"),
        ("Routed(constrained=Mine())", "Routed-CFR", "Routed-CFR"),
        ("mine", "CFR (always-on)", "CFR (always-on)"),
    ],
)
def test_what_a_label_meant(method: str, label: str, today: str) -> None:
    assert renamed_label(method, label) == today


OLD_POLICY = """schema = 1
model = "m"
otherwise = "routed-cfr"

[[rules]]
when = ["latex"]
method = "cfr(reply=prose,prompts=paper)"

[[rules]]
when = []
method = "self-consistency(base=cfr)"
"""


def test_a_policy_from_before_decides_what_it_decided() -> None:
    policy = parse_policy("p", OLD_POLICY)
    assert policy.otherwise == "routed-cfr-brief"
    methods = [rule.method for rule in policy.rules]
    assert methods == ["cfr(reply=prose)", "self-consistency(base=cfr-brief)"]
    assert policy.digest == "ddd24dda958dbe9b"  # as the version before wrote it into stores


def test_a_policy_of_today_has_other_names_and_another_digest() -> None:
    text = write_policy(parse_policy("p", OLD_POLICY))
    assert "schema = 2" in text
    again = parse_policy("p", text)
    assert again == parse_policy("p", OLD_POLICY)
    papers = parse_policy("p", 'schema = 2\nmodel = "m"\notherwise = "routed-cfr"\n')
    before = parse_policy("p", 'schema = 1\nmodel = "m"\notherwise = "routed-cfr"\n')
    assert make(papers.otherwise) == Routed()
    assert make(before.otherwise) == Routed(BRIEF)
    assert papers.digest != before.digest


@pytest.mark.parametrize("name", shipped_names())
def test_a_policy_of_the_package_has_one_digest_in_every_schema(name: str) -> None:
    policy = find_policy(name)
    assert parse_policy("p", write_policy(policy)).digest == policy.digest
