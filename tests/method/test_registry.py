import sys
from dataclasses import replace
from pathlib import Path

import pytest

from constraint_first.constraint.stage1 import Limit
from constraint_first.method.baselines import Direct, ExtendedCoT, Reminder, SelfRefine
from constraint_first.method.constraint_first import (
    BRIEF,
    CFR,
    LLMRouted,
    Routed,
    StatedCFR,
    changed_meaning,
    renamed,
    renamed_label,
    spelled,
)
from constraint_first.method.method import Method, MethodError, parameters, read_options
from constraint_first.method.policy import find_policy, parse_policy, shipped_names, write_policy
from constraint_first.method.program import Programmed
from constraint_first.method.registry import METHODS, make, names
from constraint_first.method.sound import Checked
from constraint_first.method.vote import Prove, Search, SelfConsistency, UntilAgreed, Vote


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("direct", Direct()),
        ("cfr", CFR("json", prompts="paper", limit=None, json="object")),
        ("cfr-brief", CFR("prose", prompts="brief", limit=Limit(6, 3), json="schema")),
        (" cfr( reply = prose ) ", CFR(reply="prose")),
        ("cfr()", CFR()),
        ("routed-cfr", Routed()),
        ("routed-cfr-brief", Routed(BRIEF)),
        (
            "routed-cfr(reply=prose,router=printed,convention=aime)",
            Routed(CFR(reply="prose"), profile="printed", convention="aime"),
        ),
        ("extended(tokens=9000,rounds=0)", ExtendedCoT(9_000, 0)),
        ("self-refine(iterations=2)", SelfRefine(2)),
        ("llm-router", LLMRouted()),
        ("llm-router-brief(reply=json)", LLMRouted(replace(BRIEF, reply="json"))),
        ("cfr-brief(constraints=all)", replace(BRIEF, limit=None)),
        ("cfr-brief(constraints=6+3,json=schema,prompts=own)", BRIEF),
        ("cfr(prompts=paper,constraints=6+3)", CFR(limit=Limit(6, 3))),
        ("routed-cfr(prompts=paper)", Routed()),
        ("routed-cfr(json=off)", Routed(CFR(json="off"))),
        ("llm-router(prompts=paper)", LLMRouted()),
        ("self-consistency", SelfConsistency(Direct(), 8)),
        ("cfr(extractor=hbx/JustRL:1.5b@q4_0.gguf)", CFR(extractor="hbx/JustRL:1.5b@q4_0.gguf")),
        ("cfr(extractor=C:\\models\\a=b.gguf)", CFR(extractor="C:\\models\\a=b.gguf")),
        ("cfr(extractor='a, b (c', reply=\"prose\")", CFR(reply="prose", extractor="a, b (c")),
        ("routed-cfr(extractor=~/s.gguf)", Routed(CFR(extractor="~/s.gguf"))),
        (
            "llm-router(model=openai/gpt-4o-mini,extractor=small)",
            LLMRouted(CFR(extractor="small"), model="openai/gpt-4o-mini"),
        ),
        (
            'self-consistency(base=cfr(extractor="a,\'b)"),samples=2)',
            SelfConsistency(CFR(extractor="a,'b)"), 2),
        ),
        ("program(style=thinking,fallback=none,check=off)", Programmed("thinking", None, "off")),
        ("program(fallback=cfr,tell=stated)", Programmed(fallback=CFR(), tell="stated")),
        ("vote(samples=5,check=off,fallback=none)", Vote(samples=5, check="off", fallback=None)),
        (
            "until-agreed(base=program(style=thinking)+cfr(constraints=2+1),most=3)",
            UntilAgreed((Programmed("thinking", None), CFR(limit=Limit(2, 1))), 3),
        ),
        ("checked(base=program)", Checked(Programmed())),
        ("prove(base=reminder,samples=2)", Prove(Reminder(), 2)),
        ("search(width=2)", Search(2)),
        ("stated-cfr(own=join)", StatedCFR("join")),
        ("cfr-brief(budget=cues,question=1)", replace(BRIEF, stage1="cues", questions=1)),
        ("self-consistency(base=routed-cfr,samples=8)", SelfConsistency(Routed(), 8)),
        (
            "self-consistency(samples=3, base=self-consistency(base=cfr-brief,samples=2))",
            SelfConsistency(SelfConsistency(BRIEF, 2), 3),
        ),
    ],
)
def test_methods_by_name(text: str, method: Method) -> None:
    assert make(text) == method
    assert isinstance(make(text), Method)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("routed-cf", r"'routed-cf': not known; did you mean 'routed-cfr'\?"),
        ("xyzzy", "choose from direct, reminder, list-first, "),
        ("self-consistency(samples=0)", "'self-consistency': samples must be at least 1"),
        ("prove(samples=0)", "'prove': samples must be at least 1"),
        ("search(width=0)", "'search': width must be at least 1"),
        ("program(tokens=0)", "'program': tokens must be at least 1"),
        ("checked(base=" * 3_000 + "direct" + ")" * 3_000, "'checked': .* 16 deep at most"),
        ("self-consistency(samples=-1)", "'-1' is not a whole number"),
        ("self-refine(iterations=" + "9" * 5_000 + ")", "is not a whole number of at most nine"),
        ("self-consistency(base=nothing)", "method 'nothing': not known"),
        ("cfr(reply=xml)", "'xml' is not one of prose, json"),
        ("cfr(style=json)", "no option 'style'; choose from reply"),
        ("cfr(prompts=mine)", "'cfr': prompts=mine is not paper, which can be left out"),
        ("cfr(prompts=own)", "'cfr': prompts=own is the method cfr-brief now; name that"),
        ("routed-cfr(prompts=own)", "prompts=own is the method routed-cfr-brief now"),
        ("llm-router(prompts=own)", "prompts=own is the method llm-router-brief now"),
        ("routed-cfr-brief(prompts=paper)", "prompts=paper is the method routed-cfr now"),
        ("cfr(json=on)", "'on' is not one of schema, object, off"),
        ("cfr(constraints=6)", "'cfr': constraints must be 'all' or two numbers such as '6.3'"),
        ("cfr(extractor='small)", "option 'extractor': .* end with the quotation mark"),
        ("cfr(extractor='small' model)", "option 'extractor': .* end with the quotation mark"),
        ("program(fallback=non)", "method 'non': not known"),
        ("cfr(reply=prose,question=4)", "'cfr': there can be at most 3 questions"),
        ("checked(base=none)", "method 'none': not known"),
        ("direct(x=1)", "no option 'x'; it takes none"),
        ("cfr(reply)", "must be written as OPTION=VALUE"),
        ("cfr(reply=json", "write it as NAME"),
        ("", "write it as NAME"),
        ("cfr(reply=json,)extra", "write it as NAME"),
    ],
)
def test_a_wrong_name_says_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        make(text)


def test_every_method_is_listed_and_describes_itself() -> None:
    assert names() == tuple(METHODS)
    for name, factory in METHODS.items():
        assert factory.__doc__, name
        assert repr(factory()) == repr(make(name))


def factory(
    one: Method | None = None, many: tuple[Method, ...] = (), word: str | None = None
) -> None:
    del one, many, word


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("many=a+b", {"many": ("<a>", "<b>")}),
        ("many=cfr(constraints=6+3) + b", {"many": ("<cfr(constraints=6+3)>", "<b>")}),
        ("many=cfr(extractor='a+(b'),one=c", {"many": ("<cfr(extractor='a+(b')>",), "one": "<c>"}),
        ("one=none,word=none", {"one": None, "word": "none"}),  # no method, and a word
    ],
)
def test_several_methods_are_joined_by_plus(options: str, found: dict[str, object]) -> None:
    kinds = parameters(factory)
    assert dict(read_options("name", kinds, options, lambda text: f"<{text.strip()}>")) == found


MODULE = """
from dataclasses import dataclass
from typing import ClassVar
import constraint_first

@dataclass(frozen=True)
class Echo:
    label: ClassVar[str] = "Echo"
    times: int = 1
    word: str = "echo"
    base: constraint_first.Method = constraint_first.make("direct")

    def solve(self, problem):
        return (yield from self.base.solve(problem))

NOTHING = 3

def useless() -> str:
    return "not a method"

def picky(size: int = 1) -> Echo:
    raise ValueError("size must be even")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    (tmp_path / "echo_method_for_tests.py").write_text(MODULE)
    places = {"gone": "gone", "nothing": "NOTHING", "useless": "useless", "picky": "picky"}
    places |= dict.fromkeys(("echo", "direct", "twice"), "Echo")
    points = {name: f"echo_method_for_tests:{place}" for name, place in places.items()}
    register(tmp_path, "echo-method", points | {"missing": "no_such_module_for_tests:Echo"})
    return tmp_path


def register(folder: Path, package: str, points: dict[str, str]) -> None:
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = "".join(f"{name} = {value}\n" for name, value in points.items())
    (info / "entry_points.txt").write_text(f"[cfr.methods]\n{lines}")


@pytest.mark.usefixtures("install")
def test_a_method_of_another_package_is_made_by_name() -> None:
    method = make("echo(times=3,word=hello,base=cfr(reply=json))")
    assert repr(method).startswith("Echo(times=3, word='hello', base=CFR(reply='json'")
    assert (method.label, make("direct").label) == ("Echo", "Direct CoT")  # which is built in
    assert "base=Echo(" in repr(make("self-consistency(base=echo,samples=2)"))
    # They are listed without being imported.
    assert names()[-7:] == ("echo", "gone", "missing", "nothing", "picky", "twice", "useless")


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", r"no_such_module_for_tests:Echo of the package echo-method cannot be loaded"),
        ("gone", r"echo-method cannot be loaded \(AttributeError"),
        ("nothing", "echo-method is no factory"),
        ("useless", "'useless': its plugin made a str, which has no label"),
        ("picky", "'picky': size must be even"),
        ("ecko", r"'ecko': not known; did you mean 'echo'\?"),
        ("echo(loud=1)", "'echo': no option 'loud'; choose from times, word, base"),
    ],
)
def test_a_broken_plugin_is_named(name: str, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        make(name)


def test_two_packages_with_the_same_method(install: Path) -> None:
    register(install, "other-method", {"twice": "elsewhere:Method"})
    with pytest.raises(MethodError, match=r"several packages \(echo-method, other-method\)"):
        make("twice")


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


@pytest.mark.parametrize(("before", "today"), [*BEFORE.items(), *((name, name) for name in SAME)])
def test_what_a_name_meant(before: str, today: str) -> None:
    assert renamed(before) == today
    assert changed_meaning(before) == (before != today)
    assert before not in SAME or spelled(before) == before


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
    assert parse_policy("p", text) == parse_policy("p", OLD_POLICY)
    before, papers = (
        parse_policy("p", f'schema = {schema}\nmodel = "m"\notherwise = "routed-cfr"\n')
        for schema in (1, 2)
    )
    assert (make(before.otherwise), make(papers.otherwise)) == (Routed(BRIEF), Routed())
    assert papers.digest != before.digest


@pytest.mark.parametrize("name", shipped_names())
def test_a_policy_of_the_package_has_one_digest_in_every_schema(name: str) -> None:
    policy = find_policy(name)
    assert parse_policy("p", write_policy(policy)).digest == policy.digest
