"""The instructions of IFEval as predicates, and its lenient way to judge.

IFEval (Zhou et al., 2023, Instruction-Following Evaluation for Large Language Models) names 25
kinds of instructions, each with arguments. A predicate made here means what its public checkers
check; docs/demands.md says where the two differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

from constraint_first.constraint.predicate import Predicate, PredicateError, Truth, all_of, truth_of
from constraint_first.constraint.reply.check import BLANK_LINE
from constraint_first.problem import Json

_Args: TypeAlias = Mapping[str, Json]

_OPTIONS: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _related(op: str, args: _Args, relation: str, number: str, **more: Json) -> Predicate:
    """A count with one end: IFEval knows *less than* and *at least*."""
    count = cast("int", args[number])
    least = {"at least": True, "less than": False}[str(args[relation])]
    return {"op": op, **more, **({"low": count} if least else {"high": count - 1})}


def _words(args: _Args) -> Predicate:
    return _related("words", args, "relation", "num_words")


def _first_word(args: _Args) -> Predicate:
    count = args["num_paragraphs"]
    return all_of(
        {"op": "paragraphs", "separator": BLANK_LINE, "low": count, "high": count},
        {"op": "paragraph_begins", "nth": args["nth_paragraph"], "word": args["first_word"]},
    )


def _exactly(op: str, count: Json, **more: Json) -> Predicate:
    return {"op": op, **more, "low": count, "high": count}


INSTRUCTIONS: Final[Mapping[str, Callable[[_Args], Predicate]]] = {
    "keywords:existence": lambda a: {"op": "contains", "words": a["keywords"]},
    "keywords:frequency": lambda a: _related(
        "occurrences", a, "relation", "frequency", word=a["keyword"]
    ),
    "keywords:forbidden_words": lambda a: {"op": "lacks", "words": a["forbidden_words"]},
    "keywords:letter_frequency": lambda a: _related(
        "letters", a, "let_relation", "let_frequency", letter=a["letter"]
    ),
    "language:response_language": lambda a: {"op": "language", "language": a["language"]},
    "length_constraints:number_sentences": lambda a: _related(
        "sentences", a, "relation", "num_sentences"
    ),
    "length_constraints:number_paragraphs": lambda a: _exactly(
        "paragraphs", a["num_paragraphs"], separator="***"
    ),
    "length_constraints:number_words": _words,
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": lambda a: {
        "op": "placeholders",
        "low": a["num_placeholders"],
    },
    "detectable_content:postscript": lambda a: {"op": "postscript", "mark": a["postscript_marker"]},
    "detectable_format:number_bullet_lists": lambda a: _exactly("bullets", a["num_bullets"]),
    "detectable_format:constrained_response": lambda _: {
        "op": "contains_any",
        "texts": [*_OPTIONS],
    },
    "detectable_format:number_highlighted_sections": lambda a: {
        "op": "highlights",
        "low": a["num_highlights"],
    },
    "detectable_format:multiple_sections": lambda a: {
        "op": "sections",
        "mark": a["section_spliter"],
        "low": a["num_sections"],
    },
    "detectable_format:json_format": lambda _: {"op": "json"},
    "detectable_format:title": lambda _: {"op": "title"},
    "combination:two_responses": lambda _: _exactly("responses", 2, separator="******"),
    "combination:repeat_prompt": lambda a: {"op": "repeats", "text": a["prompt_to_repeat"]},
    "startend:end_checker": lambda a: {"op": "ends", "text": a["end_phrase"]},
    "startend:quotation": lambda _: {"op": "quoted"},
    "change_case:capital_word_frequency": lambda a: _related(
        "capital_words", a, "capital_relation", "capital_frequency"
    ),
    "change_case:english_capital": lambda _: {"op": "case", "case": "upper", "language": "en"},
    "change_case:english_lowercase": lambda _: {"op": "case", "case": "lower", "language": "en"},
    "punctuation:no_comma": lambda _: {"op": "without", "marks": [","]},
}
"""How each kind of instruction becomes a predicate."""


def instruction_predicate(name: str, arguments: Mapping[str, Json]) -> Predicate | None:
    """Turn an instruction into a predicate; None where its kind or its arguments are not known."""
    make = INSTRUCTIONS.get(name)
    if make is None:
        return None
    try:
        predicate = make(arguments)
        truth_of(predicate, "a")  # an argument that cannot be used shows itself here
    except (KeyError, TypeError, PredicateError):
        return None
    return predicate


def is_followed(predicate: Predicate, reply: str, *, loose: bool = False) -> bool | None:
    """Whether a reply does what a predicate demands, strictly or loosely; None where undecided."""
    truth = loose_truth(predicate, reply) if loose else truth_of(predicate, reply)
    return None if truth == "undecided" else truth == "holds"


def loose_truth(predicate: Predicate, reply: str) -> Truth:
    """Judge a reply as IFEval does where it is lenient.

    What a model puts around its reply is forgiven: the demand may also be met without the first
    line, the last line or both, and in each case without the asterisks of Markdown.
    """
    lines = reply.split("\n")
    cut = ("\n".join(one).strip() for one in (lines[1:], lines[:-1], lines[1:-1]))
    texts = (reply, *cut)
    variants = dict.fromkeys((*texts, *(text.replace("*", "") for text in texts)))
    truths = {truth_of(predicate, one) for one in variants}
    if "holds" in truths:
        return "holds"
    return "undecided" if "undecided" in truths else "violated"
