"""A series: one method on one benchmark with one model and one decoding, over several runs.

A stored fingerprint is followed by the interpreter of the series' programs, if it runs any. One
that ends with a mark belongs to a row with current method names. Only names whose meaning has
changed need the mark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import repeat
from typing import Any, Final, NamedTuple, cast

import orjson
import sqlalchemy as sa

from constraint_first.attempt.drive import digest
from constraint_first.benchmark.constraintbench.family import find_item, is_constraintbench
from constraint_first.error import InputError
from constraint_first.file.safe import storable_json, storable_text
from constraint_first.method.constraint_first import (
    NAMES,
    changed_meaning,
    renamed,
    renamed_label,
    spelled,
)
from constraint_first.method.method import Method, prompts_of
from constraint_first.method.policy import Calibrated, runs_programs
from constraint_first.method.registry import Wording, make, reword, worded_name
from constraint_first.model.wire import Decoding
from constraint_first.problem import Json, Problem
from constraint_first.protocol import Call, Completion, Output, Run, Usage
from constraint_first.sandbox.interpreter import interpreter
from constraint_first.store import database as schema
from constraint_first.store.database import StoreError

SERVED: Final = "served"
"""The benchmark of requests to ``cfr serve``."""
_DECODING: Final = tuple(one.name for one in fields(Decoding))


@dataclass(frozen=True, slots=True)
class Series:
    benchmark: str
    method: str
    """As written on the command line: ``routed-cfr(reply=json)``."""
    model: str
    decoding: Decoding = field(default_factory=Decoding)
    system: str = ""
    """A system prompt before the messages of every call; the paper's main runs have none."""
    given: Method | None = field(default=None, compare=False)
    """The method itself, if it was given as an object and cannot be built from its name."""
    number: int = field(default=0, compare=False)
    """Its key in the store; this and the following fields are empty unless read from a store."""
    label: str = field(default="", compare=False)
    fingerprint: str = field(default="", compare=False)
    interpreter: str = field(default="", compare=False)
    """The one of its programs; empty if it runs none, or if the store is older than this field."""
    stored: str = field(default="", compare=False)
    """The settings as stored, perhaps by another version."""

    def __post_init__(self) -> None:
        if not self.stored:
            object.__setattr__(self, "method", spelled(self.method))

    @classmethod
    def read(cls, row: Mapping[Any, Any]) -> Series:
        method, label, found = names_today(row["method"], row["label"], row["fingerprint"])
        asked, _, ran_in = found.partition(" ")
        settings = orjson.loads(row["decoding"])
        return cls(
            row["benchmark"],
            method,
            row["model"],
            Decoding(**{name: settings[name] for name in _DECODING if name in settings}),
            settings.get("system", ""),
            number=row["id"],
            label=label,
            fingerprint=asked,
            interpreter=ran_in,
            stored=row["decoding"],
        )

    @property
    def settings(self) -> dict[str, Json]:
        """Its decoding, in a form that can be stored and compared."""
        if self.stored:
            return orjson.loads(self.stored)
        decoding = asdict(self.decoding)
        for name in ("max_tokens", "extra"):
            if not decoding[name]:  # as in stores that are older than the field
                del decoding[name]
        return decoding | ({"system": self.system} if self.system else {})

    def build(self) -> Method:
        return self.given or make(self.method)

    def reworded(self, wording: Wording) -> Series:
        """Return the series with own prompts, named in its method; itself without own prompts."""
        method = self.build()
        own = reword(method, wording)
        if own is method:
            return self
        return replace(self, method=worded_name(self.method, wording), given=own)


# The fingerprint of a method: a hash of all its calls for small problems.

# One problem with cues and one without, so that both branches of a router are covered.
_PROBES: Final = (
    Problem("Find the remainder when $2^{10}$ is divided by 7.", benchmark="probe"),
    Problem("Compute $1 + 1$.", benchmark="probe"),
)
_REQUEST: Final = Problem(
    "Write about rain in at least 40 words. Do not use any commas. Your entire response should be "
    "in German.",
    benchmark="probe",
)
"""A probe for methods that reply to requests. Older stores have no fingerprints of these
methods."""
_PROBE_REPLY: Final = Completion(
    '{"raw_constraints": [{"id": "C1", "type": "domain", "description": "an integer"}],'
    ' "answer_format": "integer", "final_answer": "2"}\n\\boxed{2}',
    usage=Usage(10, 10),
)
_CONSTRAINTS: Final = (
    '{"restrictive": "yes", "raw_constraints": [{"id": "C1", "type": "domain", "description": '
    '"an integer"}], "answer_format": "integer", "final_answer": "2"}'
)
# The stages that a method calls depend on the replies. The first reply is an answer, a list of
# constraints and a router's yes in one; the second is empty, which a router reads as a no and
# which sends a method with two stages to its fallback; the third is an answer that breaks a
# constraint; the fourth is a question.
_REPLIES: Final = tuple(
    Completion(text, usage=Usage(10, 10))
    for text in (
        f"{_CONSTRAINTS}\n\\boxed{{2}}",
        "",
        r"\boxed{-1/2}",
        f"QUESTION: Of what?\n{_CONSTRAINTS}",
    )
)
_LATER_STAGES: Final = frozenset({"program", "translate", "correct", "clarify", "explore"})
"""Stages of the methods whose fingerprint covers the calls after every reply. The fingerprints of
older methods are in stores already; they cover the calls after one reply."""
_PROBE_OUTPUT: Final = Output("2")
_MOST_ROUNDS: Final = 64


def fingerprint(method: Method) -> str:
    """Hash a method's configuration and its calls: prompts, budgets, formats."""
    seen = hashlib.sha256(repr(method).encode("utf-8", "surrogatepass"))
    for own in own_prompts(method).items():  # also prompts that the probes below do not reach
        seen.update(repr(own).encode("utf-8", "surrogatepass"))
    calls, more = [*probe_calls(method)], [*all_probe_calls(method)]
    if any(call.stage in _LATER_STAGES for call in more):
        calls += more
    if any(call.stage == "reply" for call in more):
        calls += probe_calls(method, problems=(_REQUEST,))
    for call in calls:
        seen.update(digest(call).encode("utf-8", "surrogatepass"))
    return seen.hexdigest()[:16]


def own_prompts(method: Method) -> dict[str, str]:
    return {prompt.name: prompt.text for prompt in prompts_of(method) if prompt.replaced}


def all_probe_calls(method: Method) -> Iterator[Call]:
    """List a method's calls for two small problems after replies of several kinds.

    For a policy these are the calls of each of its methods: its rules may not match the probes.
    """
    made = (*method.methods, method.otherwise) if isinstance(method, Calibrated) else (method,)
    for one in made:
        for reply in _REPLIES:
            yield from probe_calls(one, reply)


def probe_calls(
    method: Method, reply: Completion = _PROBE_REPLY, problems: tuple[Problem, ...] = _PROBES
) -> Iterator[Call]:
    """List a method's calls for two small problems if every reply is the same."""
    for problem in problems:
        yield from play(method, problem, lambda _call: reply, _PROBE_OUTPUT)


def play(
    method: Method,
    problem: Problem,
    answer: Callable[[Call], Completion],
    output: Output,
    rounds: int | None = _MOST_ROUNDS,
) -> Iterator[Call]:
    """Run a method on made-up replies and yield its calls, until it ends or raises."""
    with suppress(Exception):
        run = Run(method.solve(problem))
        for _ in repeat(None) if rounds is None else range(rounds):
            if run.done:
                break
            answers: list[Completion | Output] = []
            for step in cast("tuple[object, ...]", run.round):  # a plugin may yield anything
                if isinstance(step, Call):
                    yield step
                answers.append(answer(step) if isinstance(step, Call) else output)
            run.advance(tuple(answers))


# Own prompts of a series, stored with it, so that its prompts can be read later.


def write_prompts(connection: sa.Connection, series: int, texts: Mapping[str, str]) -> None:
    """Store the prompts of a new series, also in an older store that lacks their table."""
    if texts:
        schema.prompts.create(connection, checkfirst=True)
        rows = [{"series": series, "name": name, "text": text} for name, text in texts.items()]
        connection.execute(schema.prompts.insert(), rows)


def read_prompts(connection: sa.Connection, series: int) -> dict[str, str]:
    """Return the own prompts of a series by name; empty if it uses the originals."""
    if not sa.inspect(connection).has_table(schema.prompts.name):
        return {}
    c = schema.prompts.c
    query = sa.select(c.name, c.text).where(c.series == series).order_by(c.name)
    return {row.name: row.text for row in connection.execute(query)}


# The names of series, also in stores that are older than the name CFR-brief.

_MARK: Final = f"@{NAMES}"


def marked(method: str, fingerprint: str) -> str:
    """Mark the fingerprint of a method whose name has changed its meaning."""
    return f"{fingerprint}{_MARK}" if changed_meaning(method) else fingerprint


def names_today(method: str, label: str, fingerprint: str) -> tuple[str, str, str]:
    """Return the current method and label of a stored series, and its unmarked fingerprint."""
    if fingerprint.endswith(_MARK):
        return method, label, fingerprint.removesuffix(_MARK)
    return renamed(method), renamed_label(method, label), fingerprint


def bring_up_to_date(connection: sa.Connection) -> None:
    """Rename the series of an older store to current names; their calls stay unchanged."""
    table = schema.series
    rows = connection.execute(sa.select(table)).mappings().all()
    found = [(row, names_today(row["method"], row["label"], row["fingerprint"])) for row in rows]
    changed = [(row, new) for row, new in found if (row["method"], row["label"]) != new[:2]]
    taken = {_identity(row, row["method"]) for row in rows}
    # Variants first: the paper's protocol is then renamed to names that they no longer use.
    for row, (method, label, own) in sorted(changed, key=lambda one: changed_meaning(one[1][0])):
        before, after = _identity(row, row["method"]), _identity(row, method)
        if after != before and after in taken:  # the same series under two spellings
            continue
        taken = taken - {before} | {after}
        values = {"method": method, "label": label, "fingerprint": marked(method, own)}
        connection.execute(table.update().where(table.c.id == row["id"]).values(values))


def _identity(row: Mapping[Any, Any], method: str) -> tuple[str, ...]:
    return row["benchmark"], method, row["model"], row["decoding"]


# The registration of a series and its problems: their primary keys in a store.
#
# A series or problem that has changed since it was entered is refused: otherwise old attempts
# would be mixed with new ones.

_ODD: Final = "a character that cannot be stored (NUL, or half of a pair)"


class Registered(NamedTuple):
    series: int
    problems: dict[str, int]


def register(
    connection: sa.Connection, url: str, series: Series, problems: Sequence[Problem]
) -> Registered:
    """Insert a series and its problems into the store at ``url``, or find them there."""
    _require_storable(series, problems)
    set_old_version_apart(connection, series.benchmark)
    bring_up_to_date(connection)
    return Registered(
        _enter_series(connection, url, series),
        _enter_problems(connection, url, series.benchmark, problems),
    )


def enter_series(connection: sa.Connection, url: str, series: Series) -> int:
    """Insert or find a series whose problems are not known yet; return its number."""
    _require_storable(series, ())
    bring_up_to_date(connection)
    number = _enter_series(connection, url, series)
    require_interpreter(connection, url, series, number)
    return number


def require_interpreter(connection: sa.Connection, url: str, series: Series, number: int) -> None:
    """Refuse to add attempts to a series whose programs ran in another interpreter."""
    if not runs_programs(series.build()):
        return
    table = schema.series
    stored = connection.execute(sa.select(table).where(table.c.id == number)).mappings().one()
    if why := explain_interpreter(Series.read(stored).interpreter):
        raise StoreError(f"{url}: {series.method} on {series.benchmark}: {why}")


UNKNOWN: Final = "an interpreter that was not noted"


def explain_interpreter(known: str) -> str:
    """Explain why programs of a series cannot be run here; empty if they can."""
    here = interpreter()
    if known == here:
        return ""
    other = f", or install {known} again" if known else ""
    return (
        f"its programs ran in {known or UNKNOWN}, and here they run in {here}; name a new store"
        f"{other}"
    )


def enter_problem(connection: sa.Connection, benchmark: str, problem: Problem) -> int:
    table = schema.problems
    named = (table.c.benchmark == benchmark, table.c.name == problem.id)
    known = connection.scalar(sa.select(table.c.id).where(*named))
    if known is not None:
        return known
    row = {"benchmark": benchmark, "name": problem.id, "text": problem.text}
    return insert(connection, table, row | {"answer": problem.answer})


def find_registered(
    connection: sa.Connection, url: str, series: Series, problems: Sequence[Problem]
) -> Registered | None:
    """Find a series and its stored problems; refuse changed ones."""
    if current_name(connection, series.benchmark) != series.benchmark:
        return None
    number = _find_series(connection, url, series)
    found = _find_problems(connection, url, series.benchmark, problems)
    return None if number is None else Registered(number, found)


def set_old_version_apart(connection: sa.Connection, benchmark: str) -> None:
    """Rename ConstraintBench's first version in a store that is older than the second.

    Its attempts would otherwise be mixed with those on the second, and never be resumed.
    """
    name = benchmark.removesuffix("@1")
    if (today := current_name(connection, name)) != name:
        for one in (schema.problems, schema.series):
            connection.execute(one.update().where(one.c.benchmark == name).values(benchmark=today))


def current_name(connection: sa.Connection, benchmark: str) -> str:
    """Return the current name of a benchmark of a store of any version."""
    if not is_constraintbench(benchmark) or benchmark.endswith("@1"):
        return benchmark
    table = schema.problems
    names = sa.select(table.c.name).where(table.c.benchmark == benchmark).limit(1)
    name = connection.scalars(names).first()
    item = find_item(name) if name else None
    return f"{benchmark}@1" if item and item.version == 1 else benchmark


def insert(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any]) -> int:
    entered: Any = connection.execute(table.insert().values(dict(row)))
    return entered.inserted_primary_key[0]


def _require_storable(series: Series, problems: Sequence[Problem]) -> None:
    """Refuse text that databases cannot store, since a user's text must not be altered."""
    for name in (series.benchmark, series.method, series.model, series.system):
        if storable_text(name) != name:
            raise InputError(f"{name[:80]!a}: has {_ODD} or is too long; give it another name")
    for name, text in own_prompts(series.build()).items():
        if storable_text(text) != text:
            raise InputError(f"prompt {name}: has {_ODD} or is too long; correct it")
    for problem in problems:
        for text in (problem.id, problem.text, problem.answer or ""):
            if storable_text(text) != text:
                where = f"problem {problem.id[:80]!a} of {series.benchmark}"
                raise InputError(f"{where}: has {_ODD} or is too long; correct it")


def _enter_series(connection: sa.Connection, url: str, series: Series) -> int:
    known = _find_series(connection, url, series)
    if known is not None:
        return known
    method = series.build()
    runs_in = f" {interpreter()}" if runs_programs(method) else ""
    row = {
        "benchmark": series.benchmark,
        "method": series.method,
        "label": storable_text(method.label),
        "model": series.model,
        "decoding": storable_json(series.settings),
        "fingerprint": marked(series.method, fingerprint(method) + runs_in),
    }
    number = insert(connection, schema.series, row)
    write_prompts(connection, number, own_prompts(method))
    return number


def _find_series(connection: sa.Connection, url: str, series: Series) -> int | None:
    c = schema.series.c
    alike = (
        c.benchmark == storable_text(series.benchmark),
        c.model == storable_text(series.model),
        c.decoding == storable_json(series.settings),
    )
    query = sa.select(c.id, c.method, c.label, c.fingerprint).where(*alike).order_by(c.id)
    rows = [(number, *names_today(*names)) for number, *names in connection.execute(query)]
    same = [row for row in rows if row[1] == series.method]
    if not (found := same or [row for row in rows if spelled(row[1]) == series.method]):
        return None
    number, *_, known = found[0]
    method = series.build()
    if known.partition(" ")[0] != fingerprint(method):
        what = f"{url}: {series.method} on {series.benchmark} was run with other"
        raise StoreError(
            f"{what} {_difference(read_prompts(connection, number), own_prompts(method))}"
        )
    return number


def _difference(stored: Mapping[str, str], now: Mapping[str, str]) -> str:
    names = sorted(name for name in {*stored, *now} if stored.get(name) != now.get(name))
    if not names:
        return (
            "prompts or settings than it has now; name a new store, so that the two are not mixed"
        )
    listed = ", ".join(f"{name}.txt" for name in names)
    return (
        f"words in {listed} than there are now; put them back ('cfr show' has them), give the "
        "folder another name, or name a new store"
    )


def _enter_problems(
    connection: sa.Connection, url: str, benchmark: str, problems: Sequence[Problem]
) -> dict[str, int]:
    table, known = schema.problems, _find_problems(connection, url, benchmark, problems)
    new = [
        {"benchmark": benchmark, "name": p.id, "text": p.text, "answer": p.answer}
        for p in problems
        if p.id not in known
    ]
    if not new:
        return known
    connection.execute(table.insert(), new)
    names = sa.select(table.c.name, table.c.id).where(table.c.benchmark == benchmark)
    return {row.name: row.id for row in connection.execute(names)}


def _find_problems(
    connection: sa.Connection, url: str, benchmark: str, problems: Sequence[Problem]
) -> dict[str, int]:
    c = schema.problems.c
    query = sa.select(c.name, c.id, c.text).where(c.benchmark == benchmark)
    known = {name: (number, text) for name, number, text in connection.execute(query)}
    for problem in problems:
        if problem.id in known and known[problem.id][1] != problem.text:
            raise StoreError(
                f"{url}: problem {problem.id} of {benchmark} has another text there; "
                "name a new store for the changed file"
            )
    return {name: number for name, (number, _) in known.items()}
