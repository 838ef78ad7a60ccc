from dataclasses import replace

import pytest

from constraint_first.constraint.stage1 import Limit
from constraint_first.method.baselines import Direct, ExtendedCoT, Reminder, SelfRefine
from constraint_first.method.checked import Checked
from constraint_first.method.constraint_first import BRIEF, CFR, LLMRouted, Routed
from constraint_first.method.method import Method, MethodError
from constraint_first.method.program import Programmed
from constraint_first.method.registry import METHODS, make, names
from constraint_first.method.vote import Prove, SelfConsistency, UntilAgreed, Vote


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
        (
            "cfr(extractor='a, b (c', reply=\"prose\")",
            CFR(reply="prose", extractor="a, b (c"),
        ),
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


def test_every_method_describes_itself() -> None:
    for name, factory in METHODS.items():
        assert factory.__doc__, name
        assert repr(factory()) == repr(make(name))


def test_all_methods_are_listed() -> None:
    assert names() == tuple(METHODS)
