"""The result of Stage 1: the constraints that any valid answer must meet.

Paper: Method, "Stage 1"; appendices "Complete Prompt Templates" and "Constraint Extraction
Examples". A spec is parsed leniently, because models vary its keys, as do the paper's own examples
(``desc`` for ``description``, ``from`` for ``derived_from``); it is written in one format only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, cast, get_args

from constraint_first.answer.extract import restore_commands
from constraint_first.pattern import lazy_pattern
from constraint_first.problem import Json, Prompt, load
from constraint_first.protocol import Call
from constraint_first.thinking import without_thinking

Kind: TypeAlias = Literal[
    "domain", "modular", "parity", "bound", "monotonic", "structure", "dimension", "format"
]
"""The eight kinds of the paper's taxonomy."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""All kinds, in the paper's order. Other kinds from a model are stored as written."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint read from the problem itself."""

    id: str
    type: str
    description: str

    @property
    def known(self) -> bool:
        return self.type in KINDS


@dataclass(frozen=True, slots=True)
class Propagated:
    """A consequence of other constraints, whose ids it lists."""

    id: str
    derived_from: tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class ConstraintSpec:
    """The fields of a Stage 1 reply."""

    problem_summary: str = ""
    raw_constraints: tuple[Constraint, ...] = ()
    propagated_constraints: tuple[Propagated, ...] = ()
    likely_answer_range: str = ""
    answer_format: str = ""
    critical_constraints: tuple[str, ...] = ()
    danger_note: str = ""

    @classmethod
    def from_mapping(cls, value: Mapping[str, object]) -> ConstraintSpec:
        """Read a spec from a decoded JSON object; fields that cannot be read stay empty."""
        return cls(
            problem_summary=_text(value.get("problem_summary")),
            raw_constraints=tuple(
                Constraint(name, _kind(_text(_first(fields, "type", "kind"))), description)
                for fields, name, description in _described(value.get("raw_constraints"), "C")
            ),
            propagated_constraints=tuple(
                Propagated(name, _names(_first(fields, "derived_from", "from")), description)
                for fields, name, description in _described(
                    value.get("propagated_constraints"), "P"
                )
            ),
            likely_answer_range=_text(value.get("likely_answer_range")),
            answer_format=_text(value.get("answer_format")),
            critical_constraints=_names(value.get("critical_constraints")),
            danger_note=_text(value.get("danger_note")),
        )

    @property
    def restricting(self) -> tuple[str, ...]:
        """The fields with content that could guide a solver; the summary is not one of them.

        "N/A" does not count, nor a proof as the answer's form (paper: Minimal Constraint Set).
        """
        form = self.answer_format
        said = {
            "raw_constraints": bool(self.raw_constraints),
            "propagated_constraints": bool(self.propagated_constraints),
            "likely_answer_range": not _NOTHING.fullmatch(self.likely_answer_range),
            "answer_format": not _NOTHING.fullmatch(form) and not _PROOF.fullmatch(form),
            "critical_constraints": bool(self.critical_constraints),
            "danger_note": not _NOTHING.fullmatch(self.danger_note),
        }
        return tuple(name for name, says in said.items() if says)

    @property
    def restricts(self) -> bool:
        return bool(self.restricting)

    def to_json(self) -> dict[str, Json]:
        """Write the spec with the paper's field names; empty fields are left out."""
        fields: dict[str, Json] = json.loads(json.dumps(asdict(self)))  # tuples become lists
        return {name: value for name, value in fields.items() if value}

    def to_text(self) -> str:
        return json.dumps(self.to_json(), ensure_ascii=False, indent=1)


def _described(value: object, letter: str) -> Iterator[tuple[Mapping[str, object], str, str]]:
    """Read constraints: the fields of each, its id and its description; a text has only that."""
    for number, item in enumerate(_items(value), start=1):
        fields = cast("Mapping[str, object]", item if isinstance(item, Mapping) else {})
        said = _first(fields, "description", "desc", "constraint", "text")
        if description := _text(said if isinstance(item, Mapping) else item):
            yield fields, _text(fields.get("id")) or f"{letter}{number}", description


def _kind(text: str) -> str:
    """Normalise a kind: "Bounds", "bounds_or_extremal", "Domain (integer)"."""
    written = text.lower()
    words = re.findall(r"[a-z]+", written)
    known = (_KIND_WORDS.get(word) or _KIND_WORDS.get(word.removesuffix("s")) for word in words)
    return next(filter(None, known), written)


def _first(fields: Mapping[str, object], *names: str) -> object:
    return next((fields[name] for name in names if name in fields), None)


def _items(value: object) -> list[object]:
    """Read a list; a single value is a list of one, an object of objects is its values."""
    if isinstance(value, list):
        return cast("list[object]", value)
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        alone = any(name in fields for name in ("description", "desc"))
        return [fields] if alone else list(fields.values())
    return [value] if isinstance(value, str) else []


def _names(value: object) -> tuple[str, ...]:
    """Read a list of constraint ids; models also write the constraints themselves."""
    said = (
        _first(cast("Mapping[str, object]", item), "id", "description", "desc")
        if isinstance(item, Mapping)
        else item
        for item in _items(value)
    )
    return tuple(filter(None, map(_text, said)))


def _text(value: object) -> str:
    """Read a value as text: numbers, ranges given as lists and small objects are spelled out."""
    if isinstance(value, str):
        return restore_commands(value).strip()
    if value is None or value == [] or value == {}:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


# Contents of a field that mean "nothing", with or without a remark after them.
_NOTHING: Final = lazy_pattern(
    r"\W*|(?:n/?a|none|null|nil|nothing|unknown|unspecified|not (?:applicable|specified|known)"
    r"|no (?:(?:specific|particular) )?(?:constraint|restriction|range|format|answer)s?)"
    r"(?:\s*\(.*\)|\W+(?:proof|for|as|since|because)\b.*)?\W*",
    re.IGNORECASE | re.DOTALL,
)
# Forms without a final answer: "proof/argument" in the paper's example.
_PROOF: Final = lazy_pattern(
    r"(?:(?:an?|the|formal|written|rigorous|complete|mathematical) )*proof"
    r"(?: ?(?:/|,|or) ?(?:argument|explanation|demonstration|reasoning))*(?: ?\(.*\))?\W*",
    re.IGNORECASE,
)

_KIND_WORDS: Final[Mapping[str, str]] = {
    **dict(zip(KINDS, KINDS, strict=True)),
    "parities": "parity",
    "monotone": "monotonic",
    "monotonicity": "monotonic",
    "structural": "structure",
    "dimensional": "dimension",
}


# The JSON Schema of a Stage 1 reply, for engines that can enforce one.


class Limit(NamedTuple):
    """The most constraints that Stage 1 may list: from the problem, and derived from these."""

    raw: int
    propagated: int


FEW: Final = Limit(6, 3)
"""As many as a small model can follow. The paper sets no limit: its strongest model lists 7.74 and
5.12 on average."""


def read_limit(text: str) -> Limit | None:
    """Read a limit as it is written in a method's name: ``6+3``, or ``all`` for none."""
    if text == "all":
        return None
    if not (numbers := re.fullmatch(r"([1-9]\d?)\+(\d\d?)", text)):
        raise ValueError(f"constraints must be 'all' or two numbers such as '6+3', not {text!r}")
    return Limit(int(numbers[1]), int(numbers[2]))


def schema_for(limit: Limit | None, *, danger_note: bool = True) -> str:
    """Write the JSON Schema of a reply, in which ``danger_note`` may be required.

    Every string is bounded, and every list unless there is no limit: without bounds a small model
    under constrained decoding repeats itself until its budget is spent.
    """
    few = 4 if limit else None
    fields: dict[str, Json] = {
        "problem_summary": _line(200),
        "raw_constraints": _list(
            _object({"id": _line(4), "type": {"enum": [*KINDS]}, "description": _line(200)}),
            limit.raw if limit else None,
        ),
        "propagated_constraints": _list(
            _object(
                {"id": _line(4), "derived_from": _list(_line(4), few), "description": _line(200)}
            ),
            limit.propagated if limit else None,
        ),
        "likely_answer_range": _line(100),
        "answer_format": _line(100),
        "critical_constraints": _list(_line(4), few),
        "danger_note": _line(200),
    }
    whole = _object(fields)
    if not danger_note:
        whole["required"] = [name for name in fields if name != "danger_note"]
    return json.dumps(whole)


def _line(limit: int) -> dict[str, Json]:
    return {"type": "string", "maxLength": limit}


def _list(item: dict[str, Json], limit: int | None) -> dict[str, Json]:
    return {"type": "array", "items": item, **({} if limit is None else {"maxItems": limit})}


def _object(fields: dict[str, Json]) -> dict[str, Json]:
    closed: dict[str, Json] = {"required": [*fields], "additionalProperties": False}
    return {"type": "object", "properties": fields, **closed}


# Parsing a Stage 1 reply to a spec, however damaged the reply is.
#
# Paper: appendix "JSON Parsing and Error Handling"; "Minimal Constraint Set". The rungs, best
# first:
# 1. ``parsed``: the reply, without its thinking, is a JSON object.
# 2. ``empty``: it is valid JSON too, but has no content that could guide a solver: no constraints,
#    or those of a proof.
# 3. ``repaired``: it becomes an object once fences and stray text are removed and a repair library
#    has corrected the rest (missing braces, bad escapes, a reply cut off by its budget).
# 4. ``fields``: at least two of the three key fields could be extracted from the text.
# 5. ``fallback``: none of these.
#
# A reply that is not valid JSON must yield at least two fields with content, as in the paper; one
# is not a specification. Replies that are ``empty`` or ``fallback`` defer to Direct CoT. The rung
# of a reply is recorded with the solution.

Rung: TypeAlias = Literal["parsed", "empty", "repaired", "fields", "fallback"]
_Object: TypeAlias = dict[str, Json]
RUNGS: Final[tuple[Rung, ...]] = get_args(Rung)
WELL_FORMED: Final[tuple[Rung, ...]] = ("parsed", "empty")
"""The reply was valid JSON; the paper calls all others malformed. Stores from before ``empty`` was
introduced count its replies as ``fallback``."""
DEFERRED: Final[tuple[Rung, ...]] = ("empty", "fallback")
"""There is no Stage 2 for such a reply: the problem is solved by Direct CoT."""

FEWEST_FIELDS: Final = 2
"""The fewest fields that a reply which is not valid JSON must yield to be used."""

# Repair takes quadratic time on some hostile texts. A Stage 1 reply within its 1,024 tokens is far
# below both limits; above them only the other rungs are tried.
_LONGEST_REPAIR: Final = 8_192
_MOST_BRACES: Final = 256


@dataclass(frozen=True, slots=True)
class Recovered:
    """The spec read from a Stage 1 reply, and the rung on which it was read."""

    rung: Rung
    spec: ConstraintSpec

    @property
    def defers(self) -> bool:
        return self.rung in DEFERRED


def read_spec(reply: str) -> Recovered:
    """Read a Stage 1 reply by the first rung that works; the last one always does."""
    said = without_thinking(reply)
    if (value := _parse(reply) or _parse(said)) is not None:
        spec = _best_spec(_objects(value))
        return Recovered("parsed" if spec.restricts else "empty", spec)
    spec = _best_spec(_repair(said))
    if len(spec.restricting) >= FEWEST_FIELDS:
        return Recovered("repaired", spec)
    if spec := _pick_fields(said):
        return Recovered("fields", spec)
    return Recovered("fallback", ConstraintSpec())


def read_object(reply: str) -> _Object | None:
    """Read the JSON object in a reply, repaired if necessary; None where there is none."""
    said = without_thinking(reply)
    return next(iter(_objects(_parse(reply) or _parse(said)) or _repair(said)), None)


def _parse(text: str) -> object | None:
    """Parse a text that is an object or a list; None for all others."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("object", value) if isinstance(value, dict | list) else None


def _repair(text: str) -> list[_Object]:
    """Repair the text from the first brace on; it may contain several objects."""
    start = text.find("{")
    candidate = text[start : start + _LONGEST_REPAIR]
    if start < 0 or candidate.count("{") > _MOST_BRACES:
        return []
    import json_repair

    try:
        return _objects(json_repair.loads(candidate, skip_json_loads=True))
    except (ValueError, RecursionError):
        return []


def _objects(value: object) -> list[_Object]:
    """List the JSON objects in a decoded value: itself, or its members if it is a list."""
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return [cast("_Object", item) for item in values if isinstance(item, dict)]


def _best_spec(objects: list[_Object]) -> ConstraintSpec:
    """Return the spec with the most content; an empty one where there are no objects."""
    specs = (spec for fields in objects for spec in _specs(fields))
    best = max(specs, key=lambda spec: (len(spec.restricting), len(spec.to_json())), default=None)
    return best or ConstraintSpec()


def _specs(fields: _Object) -> Iterator[ConstraintSpec]:
    yield ConstraintSpec.from_mapping(fields)
    if len(fields) == 1:  # some models wrap the object in another: {"constraints": {…}}
        yield _best_spec(_objects(next(iter(fields.values()))))


def _pick_fields(text: str) -> ConstraintSpec | None:
    """Extract the three key fields from a text that could not be repaired to an object."""
    found: _Object = {}
    for name, value in _FIELD.findall(text):
        cleaned = value.strip().strip("\"'`*,").strip()
        if cleaned and cleaned.lower() not in ("null", "none", "[]", "{}"):
            found.setdefault(re.sub(r"[\s_]+", "_", name.lower()), cleaned)
    if "critical_constraints" in found:
        names = re.split(r"[,;]", str(found["critical_constraints"]).strip("[]"))
        found["critical_constraints"] = [name.strip(" \"'`") for name in names]
    spec = ConstraintSpec.from_mapping(found)
    return spec if len(spec.restricting) >= FEWEST_FIELDS else None


_FIELD: Final = lazy_pattern(
    r"\b(answer[ _]format|likely[ _]answer[ _]range|critical[ _]constraints)\b[\"'`*]{0,4}"
    r"\s{0,4}[:=]\s{0,4}(\[[^\]\n]*\]?|\"(?:[^\"\\\n]|\\.)*\"?|[^\n]+)",
    re.IGNORECASE,
)


# The calls of the two stages, and the parsing of their replies.
#
# Paper: Method, "Stage 1" and "Stage 2"; appendix "Complete Prompt Templates". A benchmark's answer
# convention never enters a prompt: both stages see the problem's text and nothing else about it.

ReplyStyle: TypeAlias = Literal["prose", "json"]
"""``json`` is the paper's reply. ``prose`` puts the reasoning before the answer, which helps
models that do not think beforehand (docs/design/0002-reply-style.md)."""

PromptSet: TypeAlias = Literal["paper", "brief"]
"""``paper`` has exactly the demands of the paper's templates, in our words. ``brief`` is our
variant for small models: it asks for brevity and a danger note in Stage 1, and presents the list
as less certain in Stage 2."""

JsonMode: TypeAlias = Literal["schema", "object", "off"]
"""How JSON is requested in addition to the prompt: by a schema where the engine can enforce one
and by JSON mode elsewhere; by JSON mode, as in the paper; or not at all."""

REPLY_FIELDS: Final = (
    *("certificate_type", "strategy_tag", "dangerous_step", "final_answer", "confidence"),
    "solution",
)

_NUMBERS: Final = "no one two three four five six seven eight nine ten eleven twelve".split()


@dataclass(frozen=True, slots=True)
class StagePrompts:
    brief_stage1: Prompt = load("constraint_first.constraint", "stage1")
    brief_prose: Prompt = load("constraint_first.constraint", "stage2-prose")
    brief_json: Prompt = load("constraint_first.constraint", "stage2-json")
    paper_stage1: Prompt = load("constraint_first.constraint", "stage1-paper")
    paper_prose: Prompt = load("constraint_first.constraint", "stage2-paper-prose")
    paper_json: Prompt = load("constraint_first.constraint", "stage2-paper-json")

    def stage1(self, prompts: PromptSet) -> Prompt:
        return self.paper_stage1 if prompts == "paper" else self.brief_stage1

    def stage2(self, prompts: PromptSet, style: ReplyStyle) -> Prompt:
        if prompts == "paper":
            return self.paper_json if style == "json" else self.paper_prose
        return self.brief_json if style == "json" else self.brief_prose


_TEMPLATES: Final = StagePrompts()


def extract_constraints(
    problem: str,
    budget: int,
    *,
    prompts: PromptSet = "paper",
    limit: Limit | None = None,
    json: JsonMode = "object",
    templates: StagePrompts = _TEMPLATES,
) -> Call:
    """Build the Stage 1 call, which asks for constraints on any valid answer."""
    extent = _extent(prompts, limit)
    prompt = templates.stage1(prompts).fill(problem=problem, extent=extent)
    schema = schema_for(limit, danger_note=prompts == "brief") if json == "schema" else ""
    return Call.user(prompt, stage="stage1", max_tokens=budget, json=json != "off", schema=schema)


def _extent(prompts: PromptSet, limit: Limit | None) -> str:
    if limit is None:
        brief = ", each in fewer than twenty words" if prompts == "brief" else ""
        return f"Leave out none that you find{brief}."
    raw, propagated = (_NUMBERS[n] if n < len(_NUMBERS) else str(n) for n in limit)
    most = f"at most {raw} constraints and {propagated} combinations"
    brief = f"Be brief: {most}, each in fewer than twenty words."
    return brief if prompts == "brief" else f"List {most}."


def solve_under(
    problem: str,
    spec: ConstraintSpec,
    style: ReplyStyle,
    budget: int,
    *,
    prompts: PromptSet = "paper",
    json: JsonMode = "object",
    templates: StagePrompts = _TEMPLATES,
) -> Call:
    """Build the Stage 2 call, which asks for a solution that is checked by the constraints."""
    prompt = templates.stage2(prompts, style).fill(problem=problem, constraints=spec.to_text())
    wanted = style == "json" and json != "off"
    return Call.user(prompt, stage="stage2", max_tokens=budget, json=wanted, final=True)


def read_reply(text: str) -> dict[str, Json]:
    """Return the fields of a Stage 2 JSON reply that can be parsed or repaired."""
    reply: Mapping[str, Json] = read_object(text) or {}
    return {name: reply[name] for name in REPLY_FIELDS if name in reply}
