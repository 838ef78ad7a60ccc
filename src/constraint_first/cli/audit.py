"""The terminal dialogue of ``cfr audit mark``: what is shown, and what each key does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click
from rich.rule import Rule
from rich.text import Text

from constraint_first.cli import solve as show
from constraint_first.cli.console import SafeConsole, print_json, print_note, print_text
from constraint_first.cli.options import (
    ErrorRuleOptions,
    StudyPart,
    error_rule_options,
    grouped,
    json_option,
    open_part,
    part_options,
    runs_argument,
)
from constraint_first.constraint.router import route
from constraint_first.file.safe import printable
from constraint_first.report.exhibit.marks import Mark, MarkingTask, append_label

if TYPE_CHECKING:
    from constraint_first.report.study import Study
    from constraint_first.report.table import Table

_MARKS: Final[dict[str, Mark]] = {"e": "entailed", "n": "not_entailed", "v": "vague"}
_HELP: Final = """\
e  entailed: the problem's text says it, or it follows from the text
n  not entailed: it does not follow, or it is wrong
v  vague: it says too little to be true or false
b  back to the constraint before
s  skip this attempt for now
m  add a constraint that the problem entails and the list lacks
t  write a note on this attempt
g  show the gold answer
q  save and quit
Enter keeps a mark, and saves an attempt when all is marked."""


class Keys:
    """Keys as they are pressed on a terminal; from anything else, a line for each."""

    def __init__(self) -> None:
        self._ahead: list[str] = []
        if sys.stdin:
            cast("TextIOWrapper", sys.stdin).reconfigure(errors="replace")

    def press(self) -> str:
        """Wait for a key, in lower case; an empty text is Enter."""
        if not _from_terminal():
            return self.line("").lower()
        if not self._ahead:
            got = click.getchar()
            # Keys that are typed faster than they are read come together; an arrow is one key.
            self._ahead = [got] if got.startswith("\x1b") else list(got)
        if not self._ahead or self._ahead[0] == "\x04":
            raise EOFError
        if self._ahead[0] == "\x03":
            raise KeyboardInterrupt
        return self._ahead.pop(0).strip().lower()

    def line(self, prompt: str) -> str:
        """Wait for a line of text."""
        self._ahead.clear()
        if not sys.stdin:
            raise EOFError
        return input(prompt).strip()


def _from_terminal() -> bool:
    return bool(sys.stdin) and sys.stdin.isatty()


class _Quit(Exception):
    """The annotator quits."""


class Marking:
    """The dialogue with an annotator, attempt by attempt."""

    def __init__(self, tasks: Sequence[MarkingTask], size: int, path: Path) -> None:
        self.console = SafeConsole()
        self._tasks = tasks
        self._size = size
        self._path = path
        self._keys = Keys()

    def run(self) -> None:
        """Judge until all is judged, or the annotator quits; either way nothing is lost."""
        at, interrupted = 0, False
        try:
            while at < len(self._tasks):
                at += self._judge(self._tasks[at], first=at == 0)
        except (_Quit, EOFError):
            self.console.print()
        except KeyboardInterrupt:
            self.console.print()
            interrupted = True
        finally:
            for task in self._tasks:
                self._save(task)
        self._conclude()
        if interrupted:
            raise click.Abort

    def _judge(self, task: MarkingTask, *, first: bool) -> int:
        """Judge an attempt; return where to go from it: one on, or one back."""
        self._show_problem(task)
        while True:
            self._show_turn(task)
            key = self._keys.press()
            if key == "q":
                raise _Quit
            if key == "s":
                self._save(task)
                self._say("skipped for now")
                return 1
            if key == "" and task.finished:
                self._save(task)
                self._say("saved")
                return 1
            if key == "b" and task.at == 0 and not first:
                self._save(task)
                self._say("back to the attempt before")
                return -1
            self._do(task, key)

    def _do(self, task: MarkingTask, key: str) -> None:
        if key in _MARKS and not task.finished:
            task.mark(_MARKS[key])
            self._say(_words(_MARKS[key]))
        elif key == "" and task.current:
            self._say(f"still {_words(task.current)}")
            task.at += 1
        elif key == "b" and task.at:
            self._say("back")
            task.at -= 1
        elif key in _ASIDE:
            self._aside(task, key)
        elif key == "b":
            self._say("this is the first one")
        else:
            named = repr(printable(key)[:20]) if key else "Enter"
            self._say(f"{named} does nothing here; ? shows the keys")

    def _aside(self, task: MarkingTask, key: str) -> None:
        if key == "m":
            self._say("missing")
            self._add_missing(task, self._keys.line("  what is missing (- takes the last back): "))
        elif key == "t":
            self._say("note")
            task.label = replace(task.label, note=self._keys.line("  note: "))
        elif key == "g":
            gold = task.asked.gold_shown
            said = f"{task.asked.gold_name} {gold}"
            self._say("no gold answer is known" if gold is None else said)
        else:
            self._say("help")
            self.console.print(Text(_HELP, style="dim"))

    def _add_missing(self, task: MarkingTask, text: str) -> None:
        missing = task.label.missing
        if text:
            missing = missing[:-1] if text == "-" else (*missing, text)
        task.label = replace(task.label, missing=missing)
        for one in missing:
            self.console.print(Text(f"  missing: {printable(one)}", style="dim"))

    def _save(self, task: MarkingTask) -> None:
        if task.label != task.saved:
            append_label(self._path, task.label)
            task.saved = task.label

    def _show_problem(self, task: MarkingTask) -> None:
        benchmark, *_, problem, _ = task.label.key
        name = printable(f"{benchmark} {problem}".strip())
        title = Text.assemble((f"{task.number} of {self._size}", "bold"), f"  {name}")
        self.console.print()
        self.console.print(Rule(title, align="left", style="dim"))
        text = task.asked.text
        self.console.print(show.highlighted(text, route(text)))
        self.console.print()

    def _show_turn(self, task: MarkingTask) -> None:
        for line in _turn(task):
            self.console.print(line)
        self.console.print("> ", end="")

    def _say(self, what: str) -> None:
        self.console.print(Text(printable(what), style="dim"))

    def _conclude(self) -> None:
        left = sum(not task.saved.complete for task in self._tasks)
        drafts = sum(task.saved.begun and not task.saved.complete for task in self._tasks)
        begun = f", {drafts} begun" if drafts else ""
        said = f"{self._size - left} of {self._size} judged{begun}; kept in {self._path}."
        report = f"'cfr audit report {self._path}' adds up what was found."
        way = "The same command goes on here." if left else report
        self.console.print(Text(f"{said} {way}"), soft_wrap=True)


_ASIDE: Final = ("m", "t", "g", "?")


def _turn(task: MarkingTask) -> Iterator[Text]:
    if task.finished:
        yield Text("All marked. m: something is missing; b: back; Enter: save and go on.")
        return
    name, kind, description = map(printable, task.constraint())
    count = f"{task.at + 1}/{len(task.label.constraints)}"
    yield Text.assemble((f"{count}  ", "dim"), (name, "bold"), (f" {kind}  ", "dim"), description)
    now = f", Enter: still {_words(task.current)}" if task.current else ""
    yield Text(f"e entailed, n not entailed, v vague, ? more keys{now}", style="dim")


def _words(mark: Mark) -> str:
    return mark.replace("_", " ")


# ``cfr audit mark`` and ``cfr audit report``: constraints that people mark, and their rates.


@click.command("mark")
@runs_argument
@click.option(
    "--labels",
    "path",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE.jsonl",
    help="The file of labels; an existing one is added to.",
)
@click.option("--annotator", required=True, metavar="NAME", help="The annotator's name.")
@click.option(
    "--size", type=click.IntRange(min=1), default=50, show_default=True, help="How many attempts."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the sample.")
@click.option("--benchmark", help="Only attempts on this benchmark.")
@click.option("--model", help="Only attempts with this model.")
@click.option("--method", help="Only attempts by this method.")
def mark_command(
    runs: tuple[str, ...],
    path: Path,
    annotator: str,
    size: int,
    seed: int,
    benchmark: str | None,
    model: str | None,
    method: str | None,
) -> None:
    """Mark a sample of Stage 1 constraints as entailed, not entailed or vague, one by one.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'. Each
    constraint is marked as entailed by the problem's text, not entailed, or too vague to tell; '?'
    shows all keys. What is judged is on the disk at once, and the same command goes on where it
    stopped. Two people who name the same seed and size judge the same attempts. Input that is not
    a terminal is read line by line, a key on each.

    \b
    cfr audit mark runs.db --labels labels.jsonl --annotator ada
    cfr audit mark attempts.jsonl --labels labels.jsonl --annotator ben --size 20 --model m
    """
    from constraint_first.report.exhibit.marks import (
        begin_labels,
        check_annotator,
        draw,
        lay_out,
        resume,
    )

    check_annotator(annotator)
    study = open_part(runs, StudyPart())
    sample = draw(
        study,
        size=size,
        seed=seed,
        benchmark=benchmark,
        model=model,
        method=method,
    )
    labels = begin_labels(path)
    tasks = lay_out(study, sample, labels, annotator, resume(sample, labels, annotator))
    marking = Marking(tasks, len(sample.keys), path)
    drawn = f"{len(sample.keys):,} of {sample.eligible:,} attempts, one a problem and model"
    without = f"; {sample.without:,} more have no constraint" if sample.without else ""
    marking.console.print(f"{drawn}, drawn with seed {seed}{without}")
    marking.run()


@click.command("report")
@click.argument(
    "paths", metavar="LABELS.jsonl...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@json_option
def report_command(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """Summarize the marks of annotators, and the agreement between them.

    Validity, hallucination and completeness are given with 95 % intervals, for each model.
    Several files are read as one.

    \b
    cfr audit report labels.jsonl
    cfr audit report ada.jsonl ben.jsonl --json
    """
    from constraint_first.error import InputError
    from constraint_first.report.exhibit.marks import accords, rates, read_labels

    labels = read_labels(paths)
    if not (found := rates(labels)):
        names = ", ".join(map(str, paths))
        raise InputError(f"{names}: no attempt is judged yet; 'cfr audit mark' is for that")
    if as_json:
        pairs = [accord.to_json() for accord in accords(labels)]
        drafts = sum(not label.complete for label in labels)
        models = [one.to_json() for one in found]
        print_json({"models": models, "annotators": pairs, "drafts": drafts})
        return
    from constraint_first.cli import solve as show
    from constraint_first.report.exhibit.marks import annotator_table, manual_audit_table

    show.print_table(manual_audit_table(labels))
    print_text()
    show.print_table(annotator_table(labels))


# ``cfr audit``: the router, Stage 1, errors, and marks made by people.


@click.group("audit")
def audit_command() -> None:
    """Audit stored runs: the router, Stage 1, errors, and constraints that people marked."""


@dataclass(frozen=True, slots=True)
class _Methods:
    """The two methods that an audit compares, as they were named."""

    baseline: str
    method: str

    def find(self, study: Study) -> tuple[str, str]:
        """Find the method to look at, and what it is measured against."""
        from constraint_first.report.comparison import constrained_method, find_baseline
        from constraint_first.report.study import variant_notes

        baseline = find_baseline(study, self.baseline)
        method = constrained_method(study, baseline, self.method)
        for note in variant_notes(study, {method} - {self.method}, "--method"):
            print_note(note)
        return method, baseline


_method_options: Final = grouped(
    "methods",
    lambda: _Methods,
    click.option(
        "--baseline",
        default="",
        help="The method that gains are measured against.  [direct]",
    ),
    click.option(
        "--method",
        default="",
        help="The method whose gains are measured.  [routed-cfr, else cfr, else their -brief]",
    ),
)


@audit_command.command("router")
@runs_argument
@part_options
@_method_options
@json_option
@click.option(
    "--decisions",
    type=click.Path(path_type=Path),
    help='Reference decisions of a person: {"problem", "routed"} lines.',
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    multiple=True,
    help="A file of labels from 'cfr audit mark'; repeatable.",
)
def router_command(
    runs: tuple[str, ...],
    part: StudyPart,
    methods: _Methods,
    decisions: Path | None,
    labels: tuple[Path, ...],
    *,
    as_json: bool,
) -> None:
    """Audit the router: activation, cue families, gain by number of cues, agreement.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit router runs.db
    cfr audit router runs.db --decisions mine.jsonl --json
    cfr audit router runs.db --labels labels.jsonl
    """
    from constraint_first.report.exhibit.marks import labels_of, read_labels
    from constraint_first.report.exhibit.routing import (
        audit_router,
        cofire_table,
        convention_table,
        patterns_table,
        rates_table,
        read_decisions,
        routers_table,
    )

    study = _study(runs, part, as_json=as_json)
    audit = audit_router(study)
    decided, strangers = read_decisions(decisions, study) if decisions else (None, 0)
    if strangers:
        print_note(f"{decisions}: lines about problems not in these runs: {strangers}")
    marks, elsewhere = labels_of(read_labels(labels), study)
    if elsewhere:
        print_note(f"Marks on attempts that are not in these runs: {elsewhere}")
    tables = [
        rates_table(audit),
        patterns_table(audit),
        convention_table(audit),
        cofire_table(study, audit, *methods.find(study), marks),
        routers_table(study, audit, decided),
    ]
    _print(tables, study, as_json=as_json)


@audit_command.command("stage1")
@runs_argument
@part_options
@_method_options
@json_option
def stage1_command(
    runs: tuple[str, ...], part: StudyPart, methods: _Methods, *, as_json: bool
) -> None:
    """Audit Stage 1: how replies parsed, counts and kinds of constraints, soundness against gold.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit stage1 runs.db
    cfr audit stage1 runs.db --method cfr --json
    """
    from constraint_first.report.exhibit.gold import gold_quality
    from constraint_first.report.exhibit.stage1 import (
        categories_table,
        extraction_table,
        parsing_table,
    )

    study = _study(runs, part, as_json=as_json)
    tables = [
        parsing_table(study),
        extraction_table(study, gold_quality(study)),
        categories_table(study, *methods.find(study)),
    ]
    _print(tables, study, as_json=as_json)


@audit_command.command("errors")
@runs_argument
@part_options
@_method_options
@error_rule_options
@json_option
def errors_command(
    runs: tuple[str, ...],
    part: StudyPart,
    methods: _Methods,
    error_rule: ErrorRuleOptions,
    *,
    as_json: bool,
) -> None:
    """Audit errors: which a method fixes and which it introduces, problem by problem.

    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit errors runs.db --method cfr
    cfr audit errors runs.db --classes mine.jsonl --json
    """
    from constraint_first.report.exhibit.errors import error_tables

    study = _study(runs, part, as_json=as_json)
    method, baseline = methods.find(study)
    tables = [*error_tables(study, method, baseline, error_rule.read(study))]
    _print(tables, study, as_json=as_json)


@audit_command.command("instructions")
@runs_argument
@part_options
@json_option
def instructions_command(runs: tuple[str, ...], part: StudyPart, *, as_json: bool) -> None:
    """Audit instructions: how many are followed, strictly and loosely, and by kind.

    For benchmarks with gold instructions, such as ifeval: IFEval's four numbers for each method.
    RUNS are stores (runs.db unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit instructions runs.db
    cfr audit instructions runs.db --benchmark ifeval --json
    """
    from constraint_first.report.exhibit.interventions import instruction_tables

    study = _study(runs, part, as_json=as_json)
    missing = (
        "has no replies to requests with gold instructions; run a benchmark that has them ('cfr "
        "eval ifeval …'), or name the store or an export with its texts"
    )
    _print(instruction_tables(study), study, missing, as_json=as_json)


@audit_command.command("interventions")
@runs_argument
@part_options
@json_option
def interventions_command(runs: tuple[str, ...], part: StudyPart, *, as_json: bool) -> None:
    """Audit interventions: undo what checks changed, and judge the answers from before.

    For methods that change an answer or a reply: sound, checked, auto. RUNS are stores (runs.db
    unless named) and files of attempts, as for 'cfr compare'.

    \b
    cfr audit interventions runs.db
    cfr audit interventions runs.db --benchmark ifeval --json
    """
    from constraint_first.report.exhibit.interventions import intervention_tables

    study = _study(runs, part, as_json=as_json)
    missing = (
        "has no interventions on record; run a method that makes them (sound, checked), or name "
        "the store or an export with its details"
    )
    _print(intervention_tables(study), study, missing, as_json=as_json)


def _study(runs: tuple[str, ...], part: StudyPart, *, as_json: bool) -> Study:
    """Open a study; people get names that have room in a table."""
    from constraint_first.report.study import with_short_names

    study = open_part(runs, part)
    return study if as_json else with_short_names(study)


def _print(tables: Sequence[Table], study: Study, missing: str = "", *, as_json: bool) -> None:
    """Print tables; where there are none, say what is missing."""
    if not tables:
        from constraint_first.report.study import StudyError

        raise StudyError(f"{study.source}: {missing}")
    if as_json:
        print_json([table.to_json() for table in tables])
        return
    from constraint_first.cli import solve as show
    from constraint_first.report.study import name_notes

    for number, table in enumerate(tables):
        if number:
            print_text()
        show.print_table(table)
    show.print_notes(name_notes(study))


audit_command.add_command(mark_command)
audit_command.add_command(report_command)
