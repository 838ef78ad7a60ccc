"""Section of a report, and what is left out of it because the data have nothing for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby, islice
from pathlib import Path

from constraint_first.error import OutputError
from constraint_first.file.safe import atomic_file, file_stem
from constraint_first.report.canvas import Caption, Estimate, Figure, listed, save
from constraint_first.report.comparison import (
    Comparison,
    ComparisonError,
    Pair,
    Plan,
    compare,
    constrained_method,
    find_baseline,
)
from constraint_first.report.exhibit.cost import (
    FRONTIER,
    FrontierPoint,
    MethodCost,
    draw_frontier,
    frontiers,
    prompting_table,
    ratios_table,
    stages_table,
    tokens_table,
)
from constraint_first.report.exhibit.errors import (
    CaseAttempt,
    CaseStudy,
    cases,
    errors_table,
    fixes_table,
    outcomes_table,
    per_problem_tables,
)
from constraint_first.report.exhibit.gains import (
    APPLICABILITY,
    BY_MODEL,
    ForestRow,
    GainBar,
    benchmarks_table,
    draw_forest,
    draw_gains,
    exploratory_table,
    generalization_table,
    paired_table,
)
from constraint_first.report.exhibit.gold import gold_quality
from constraint_first.report.exhibit.interventions import instruction_tables, intervention_tables
from constraint_first.report.exhibit.marks import (
    DEFAULT_RULE,
    ErrorRule,
    Label,
    annotator_table,
    by_method,
    labels_of,
    manual_audit_table,
)
from constraint_first.report.exhibit.routing import (
    FAMILY_LABELS,
    FRAMEWORK,
    ONE_ROUTER,
    RouterAudit,
    audit_router,
    cofire_table,
    compare_routers,
    convention_table,
    count_flow,
    draw_flow,
    patterns_table,
    phrase_counts,
    rates_table,
    routers_table,
)
from constraint_first.report.exhibit.scores import (
    draw_grid,
    main_table,
    robustness_table,
    routing_table,
    scores_table,
    settings_table,
    solve_rates,
)
from constraint_first.report.exhibit.stage1 import (
    CATEGORIES,
    CategoryBar,
    categories,
    categories_table,
    draw_categories,
    draw_cloud,
    extraction_table,
    parsing_table,
)
from constraint_first.report.notation import interval, p_value, points, several
from constraint_first.report.page import report_html
from constraint_first.report.study import (
    CFR,
    CFR_BRIEF,
    CONSTRAINED,
    ROUTED_CFR,
    ROUTED_CFR_BRIEF,
    Study,
    StudyError,
    benchmark_label,
    check_variants,
    family_of,
    find_variant,
    model_label,
    name_notes,
    variant_notes,
    with_short_names,
)
from constraint_first.report.table import (
    Table,
    absent,
    markdown_text,
    published,
    to_latex,
    to_markdown,
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report."""

    name: str
    title: str
    claims: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    published: tuple[Table, ...] = ()
    """What the paper printed in the place of these."""
    notes: tuple[str, ...] = ()
    """Sentences that belong under the claims."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to see in it."""
        return not (self.figures or any(table.rows for table in self.tables))


def filled(section: Section) -> Section:
    """Keep the tables of a section that have rows."""
    return replace(section, tables=tuple(table for table in section.tables if table.rows))


def left_out(sections: Iterable[Section], keep: str) -> Section:
    """Gather what sections could not show: a sentence for each reason, and the paper's tables.

    The section that is named in ``keep`` stays where it is, even if all it has is a sentence.
    """
    reasons: dict[str, list[str]] = {}
    published: list[Table] = []
    for section in sections:
        for table in section.tables:
            if not table.rows:
                reasons.setdefault(" ".join(table.notes), []).append(table.title)
        if section.empty and section.name != keep:
            published += section.published
            for claim in section.claims:
                reasons.setdefault(claim, []).append(section.title)
    claims = (f"{'; '.join(dict.fromkeys(what))}: {why}" for why, what in reasons.items() if why)
    return Section("left-out", "Not in these data", tuple(claims), published=tuple(published))


# Provenance of a report: its title, and where, when and with what its data were made.


def title(study: Study) -> str:
    """Name a study by its methods and models."""
    models = [model_label(name) for name in study.names("model") if name]
    methods = several(len(study.names("method")), "method")
    if not models:
        return f"{methods} compared"
    named = models[0] if len(models) == 1 else several(len(models), "model")
    return f"{methods} with {named}"


def about(study: Study) -> str:
    """Say what a study holds, and when it was made."""
    attempts = list(study.all_attempts())
    times = [attempt.finished_at for attempt in attempts if attempt.finished_at]
    made = ""
    if times:
        first, last = (time.strftime("%Y-%m-%d", time.gmtime(t)) for t in (min(times), max(times)))
        made = f"; attempts made {first if first == last else f'{first} to {last}'}"
    return (
        f"{study.source}: {several(len(study.attempted), 'problem')}, "
        f"{several(len(attempts), 'attempt')}{made}; {_software()}"
    )


def _software() -> str:
    try:
        return f"constraint-first {version('constraint-first')}"
    except PackageNotFoundError:  # run from its source, without being installed
        return "constraint-first"


# Verdict of a report: for each model, whether a method is better, worse or unknown, in a
# sentence.
#
# Several benchmarks are named one by one and never averaged: a mean over sets of different size
# and difficulty would hide what each shows. Only a group that the comparison pools, such as
# AIME's years, stands as one.


def headline_pairs(comparison: Comparison) -> list[Pair]:
    """Choose what to say first: benchmarks taken together, and those that stand alone."""
    within = {
        (pair.method, pair.model, pair.decoding, name)
        for pair in comparison.pairs
        for name in pair.pooled
    }
    return [
        pair
        for pair in comparison.pairs
        if (pair.method, pair.model, pair.decoding, pair.benchmark) not in within
    ]


def best_supported(comparison: Comparison) -> Pair:
    """Find the comparison that the verdict is about.

    It is the gain with the smallest p-value after correction; where no gain is significant, the
    loss; where nothing is, the difference that comes nearest.
    """
    return min(
        headline_pairs(comparison),
        key=lambda pair: (not _better(pair), not pair.significant, pair.p_holm, pair.p, -pair.gain),
    )


def verdict(comparison: Comparison, method: str = "") -> str:
    """Say in one sentence what a model's comparisons show of one method.

    It is the one that is named, or the best supported.
    """
    every = headline_pairs(comparison)
    methods = list(dict.fromkeys(pair.method for pair in every))
    named = method or best_supported(comparison).method
    own = [pair for pair in every if pair.method == named]
    others = 0 if method else len(methods) - 1
    return _on(own[0].model, _found(own, others))


def no_verdict(model: str, why: str) -> str:
    """Say that nothing is known of a model, and why."""
    return _on(model, f"it is unknown whether a method is better: {why}.")


def _on(model: str, said: str) -> str:
    return f"On {model_label(model)}, {said}" if model else said[:1].upper() + said[1:]


def verdict_note(comparisons: Sequence[Comparison]) -> str:
    """Say how a verdict was found."""
    tests = " and ".join(dict.fromkeys(several(one.family, "test") for one in comparisons))
    several_methods = any(len({pair.method for pair in one.pairs}) > 1 for one in comparisons)
    which = (
        "Of several methods, it is about the one whose difference is best supported: the smallest "
        "p-value after correction, a gain before a loss. "
        if several_methods
        else ""
    )
    return (
        f"Better and worse are said only below p = 0.05 after Holm's correction ({tests}"
        f"{' for each model' if len(comparisons) > 1 else ''}); otherwise the verdict is unknown. "
        f"{which}Points are of accuracy, with their 95 % interval. Benchmarks are named one by "
        "one: a mean over sets of different size and difficulty would hide what each shows."
    )


def _better(pair: Pair) -> bool:
    return pair.significant and pair.gain > 0


def _found(own: Sequence[Pair], others: int) -> str:
    """Say what is found of one method; ``others`` were compared beside it."""
    baseline, method = own[0].labels
    ranked = sorted(own, key=lambda pair: (pair.p_holm, pair.p))
    gains = [pair for pair in ranked if _better(pair)]
    losses = [pair for pair in ranked if pair.significant and not _better(pair)]
    open_ones = [pair for pair in ranked if not pair.significant]
    rest = f"; {_open(open_ones)}" if open_ones else ""
    if gains:
        worse = f"; but it is worse there: {_measures(losses)}" if losses else ""
        return f"{method} is better than {baseline}: {_measures(gains)}{worse}{rest}."
    if losses:
        none = f"none of {others + 1} methods is shown to be better than {baseline}"
        lead = f"{none}, and {method} is worse" if others else f"{method} is worse than {baseline}"
        return f"{lead}: {_measures(losses)}{rest}."
    return _unknown(ranked, others)


def _unknown(ranked: Sequence[Pair], others: int) -> str:
    nearest = ranked[0]
    baseline, method = nearest.labels
    whose = f"any of {others + 1} methods" if others else method
    lead = f"it is unknown whether {whose} is better than {baseline}"
    if not any(pair.changed for pair in ranked):
        places = " and ".join(map(_place, ranked))
        name = f"{method} and {baseline}" if others else "the two"
        return f"{lead}: {name} do not differ on any problem of {places}."
    if others:
        lead += f"; the clearest difference is that of {method}"
    chance = f"p = {p_value(nearest.p_holm)} after correction, so it may be chance"
    rest = f"; {_open(ranked[1:])}" if ranked[1:] else ""
    return f"{lead}: {_measures([nearest])} ({chance}){rest}."


def _open(pairs: Sequence[Pair]) -> str:
    """Name the benchmarks on which nothing is shown, with what was measured there."""
    places = (f"{_place(pair)} ({points(pair.gain)}{interval(pair.interval)})" for pair in pairs)
    return f"no difference is shown on {_listed(list(places))}"


def _measures(pairs: Sequence[Pair]) -> str:
    return _listed(list(_measure(pairs)))


def _measure(pairs: Sequence[Pair]) -> Iterator[str]:
    for pair in pairs:
        ratio = pair.tokens.output
        cost = f"at {ratio:,.2f} times the output tokens" if ratio else "output tokens not recorded"
        size = f"{several(pair.n, 'problem')} of {_place(pair)}"
        yield f"{points(pair.gain)} points{interval(pair.interval)} on {size}, {cost}"


def _listed(texts: Sequence[str]) -> str:
    *first, last = texts
    return f"{', '.join(first)}, and {last}" if first else last


def _place(pair: Pair) -> str:
    if pair.pooled:
        *first, last = map(benchmark_label, pair.pooled)
        return f"{', '.join(first)} and {last} together"
    return benchmark_label(pair.benchmark) or "this set"


# Options of a report, and the results that several of its sections share, computed once.


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report: which methods, how many cases, which files beside the study."""

    baseline: str = ""
    """The method that gains are measured against; Direct CoT where it is empty."""
    method: str = ""
    """The method whose gains, errors and cases are shown; found by itself where it is empty."""
    cases: int = 12
    figures: bool = True
    plan: Plan = field(default_factory=Plan)
    labels: tuple[Label, ...] = ()
    """What people marked of Stage 1's constraints."""
    error_rule: ErrorRule = DEFAULT_RULE
    variants: tuple[str, ...] = ()
    """The variants that stand for their families; found by themselves where none is named."""


class ReportContext:
    """A study, the options of its report, and what several sections need, computed once."""

    def __init__(self, study: Study, options: ReportOptions) -> None:
        self.study = study
        self.options = options
        self._chosen = check_variants(study, options.variants)
        # A study without Direct CoT still has much to show; each comparison says what it lacks.
        self.baseline = find_baseline(study, options.baseline, self._chosen)
        self.method = self._closer_look()

    def _closer_look(self) -> str:
        """Find the method to look at closely: as named, a kind of CFR, or the best supported."""
        wanted = self.options.method
        found = constrained_method(self.study, self.baseline, wanted, self._chosen)
        families = {arm.method: family_of(arm) for arm in self.study.arms}
        best = [best_supported(comparison) for comparison in self.compared[0]]
        if wanted or families.get(found) in CONSTRAINED or not best:
            return found
        return min(best, key=lambda pair: pair.p_holm).method

    @cached_property
    def compared(self) -> tuple[tuple[Comparison, ...], str]:
        """All methods against the baseline, a family of tests for each model; or why there is none.

        The paper has a table of its own for each model, too.
        """
        return self._by_model[0], "".join([*self.uncompared.values()][-1:])

    @property
    def uncompared(self) -> Mapping[str, str]:
        """The models with which nothing can be compared, and why."""
        return self._by_model[1]

    @cached_property
    def _by_model(self) -> tuple[tuple[Comparison, ...], Mapping[str, str]]:
        main, found, reasons = self.study.primary_only(), list[Comparison](), dict[str, str]()
        for model in main.names("model"):
            try:
                here = main.only(model=[model])
                found.append(compare(here, self.baseline, (), self.options.plan))
            except ComparisonError as error:
                reasons[model] = str(error)
        return tuple(found), reasons

    def variant(self, family: str) -> str | None:
        """Find the method that stands for a family: one that was named, or else by rule."""
        return find_variant(self.study, family, (*self._chosen, self.method, self.baseline))

    @property
    def pairs(self) -> list[Pair]:
        """The comparisons of the method that is looked at closely."""
        every = (pair for comparison in self.compared[0] for pair in comparison.pairs)
        return [pair for pair in every if pair.method == self.method]

    @cached_property
    def router(self) -> RouterAudit:
        """The audit of the router on the study's problems."""
        return audit_router(self.study)

    def draw(self, *figures: Callable[[], Figure | None]) -> tuple[Figure, ...]:
        """Draw figures; those that have nothing to show are left out."""
        if not self.options.figures:
            return ()
        return tuple(figure for make in figures if (figure := make()))

    def draw_all(self, figures: Callable[[], Iterator[Figure]]) -> tuple[Figure, ...]:
        """Draw several figures of a kind."""
        return tuple(figures()) if self.options.figures else ()


# Figures of a study: which audited numbers go into which drawing.


def gains_figure(pairs: Sequence[Pair]) -> Figure | None:
    """Draw the gain of a method by model, a bar for each benchmark or group of benchmarks."""
    shown = _grouped(pairs)
    bars = [
        GainBar(model_label(pair.model), _place_illustration(pair), _gain(pair, pairs), pair.n)
        for pair in shown
    ]
    return draw_gains(bars, _titled(BY_MODEL, pairs, "by model"), _group_notes(shown))


def applicability_figure(pairs: Sequence[Pair]) -> Figure | None:
    """Draw the gain of a method by benchmark or group of benchmarks, a bar for each model."""
    shown = _grouped(pairs)
    bars = [
        GainBar(_place_illustration(pair), model_label(pair.model), _gain(pair, pairs), pair.n)
        for pair in shown
    ]
    return draw_gains(bars, _titled(APPLICABILITY, pairs, "by benchmark"), _group_notes(shown))


def _grouped(pairs: Sequence[Pair]) -> list[Pair]:
    """Put a group in the place of its benchmarks, as the paper has AIME in its figures."""
    groups = {
        (pair.model, pair.decoding, name): pair
        for pair in pairs
        if pair.group
        for name in pair.pooled
    }
    single = (pair for pair in pairs if not pair.pooled)
    return [*dict.fromkeys(groups.get((p.model, p.decoding, p.benchmark), p) for p in single)]


def _gain(pair: Pair, pairs: Sequence[Pair]) -> Estimate:
    """Give a gain; that of a group is the mean of its benchmarks' gains, each counted alike.

    For sets of one size this is the gain on all their problems, whose interval is then its own.
    """
    if not pair.group:
        return Estimate(pair.gain, pair.interval)
    place = (pair.model, pair.decoding)
    members = [p for p in pairs if (p.model, p.decoding) == place and p.benchmark in pair.pooled]
    alike = len({one.n for one in members}) == 1
    mean = sum(one.gain for one in members) / len(members)
    return Estimate(mean, pair.interval if alike else None)


def _group_notes(pairs: Sequence[Pair]) -> tuple[str, ...]:
    places = dict.fromkeys((_place_illustration(pair), pair.pooled) for pair in pairs if pair.group)
    return tuple(
        f"{name}: the mean of the gains on {listed(map(benchmark_label, members), len(members))}."
        for name, members in places
    )


def _place_illustration(pair: Pair) -> str:
    return f"{pair.group} Avg." if pair.group else pair.where or "all"


def _titled(caption: Caption, pairs: Sequence[Pair], how: str) -> Caption:
    """Name what gains over what: neither need be the one that the paper has."""
    if not pairs:
        return caption
    baseline, method = pairs[0].labels
    return replace(caption, title=f"Gain of {method} over {baseline} {how}")


def forest_figure(comparison: Comparison, caption: Caption) -> Figure | None:
    """Draw all paired comparisons of a family."""
    rows = [
        ForestRow(
            label=f"{pair.labels[1]}, {_row_label(pair)}",
            gain=Estimate(pair.gain, pair.interval),
            n=pair.n,
            p_holm=pair.p_holm,
            significant=pair.significant,
        )
        for pair in comparison.pairs
    ]
    return draw_forest(rows, caption)


def _row_label(pair: Pair) -> str:
    """Name a comparison in little room; the table beside the figure names what it pools."""
    return f"{pair.group or 'all'} pooled" if pair.pooled else pair.where or "all"


def frontier_figures(study: Study) -> Iterator[Figure]:
    """Draw accuracy against tokens, one figure for each model, on what all its methods share."""
    found = list(frontiers(study))
    for one in found:
        points = [_point(method) for method in one.methods]
        where = ", ".join(map(benchmark_label, one.benchmarks))
        name = FRONTIER.name if len(found) == 1 else file_stem(FRONTIER.name, one.model)
        title = f"{FRONTIER.title}: {_model_title(one.model)}" + (f" on {where}" if where else "")
        if len(points) > 1 and (figure := draw_frontier(points, Caption(name, title))):
            yield figure


def _point(method: MethodCost) -> FrontierPoint:
    accuracy = Estimate(method.score.accuracy, method.score.interval)
    return FrontierPoint(method.name, method.tokens, accuracy, method.on_frontier)


def _model_title(model: str) -> str:
    return model_label(model) or "All attempts"


def grid_figures(study: Study) -> Iterator[Figure]:
    """Draw which methods solve which problems, a figure for each benchmark and model."""
    for one in solve_rates(study):
        title = ", ".join(filter(None, (benchmark_label(one.benchmark), _model_title(one.model))))
        figure = draw_grid(title, one.problems, one.methods, one.shares)
        if figure:
            yield replace(figure, long=True)


def category_figures(study: Study, method: str, baseline: str) -> Iterator[Figure]:
    """Draw how common each kind of constraint is and what a method gains there, by model."""
    found = categories(study, method, baseline)
    for model in dict.fromkeys(one.model for one in found):
        rows = [
            CategoryBar(
                one.kind,
                one.frequency,
                Estimate(one.gain.points, one.gain.interval) if one.gain else None,
                one.gain.n if one.gain else None,
            )
            for one in found
            if one.model == model
        ]
        caption = CATEGORIES
        name = file_stem(caption.name, model) if model else caption.name
        title = f"{caption.title}: {model_label(model)}" if model else caption.title
        figure = draw_categories(rows, Caption(name, title, caption.paper))
        yield from filter(None, [figure])


def cloud_figure(audit: RouterAudit) -> Figure | None:
    """Draw the phrases that routed problems."""
    found = phrase_counts(audit)
    return draw_cloud(
        {one.phrase: one.problems for one in found},
        {one.phrase: FAMILY_LABELS[one.family] for one in found},
    )


def flow_figure(study: Study, method: str) -> Figure:
    """Draw the protocol with the way that each problem took in its first run."""
    counts = count_flow(study, method)
    if not counts.known:
        return draw_flow(counts)
    title = f"{study.method_name(method)}: the ways that problems take through the protocol"
    return draw_flow(counts, replace(FRAMEWORK, title=title))


# Report of a study: every table and figure of the paper, with the study's own rows.

_VERDICT = "verdict"
_CASES = "Cases"
_MOST_OF_A_KIND = 8
_OF_ONE_METHOD = (
    *("main", "generalization", "tokens-by-model", "cofire", "categories", "outcomes", "errors"),
    *("fixes", "robustness"),
)
"""The tables about the method that is looked at closely."""
_OF_FAMILIES = ("prompting", "routing-ablation")
"""The tables in which one variant stands for each kind of CFR."""
_LEFT_OUT = (
    f"Problem by problem, only the first {_MOST_OF_A_KIND} benchmarks and models are shown here; "
    "'cfr audit errors' has them all, and --benchmark and --model choose."
)
_NO_TEXTS = (
    "The audit of the router needs the problems' texts, which these data do not have: give the "
    "store itself, or an export of it without --outcomes."
)


@dataclass(frozen=True, slots=True)
class Report:
    """A study in sections, and its cases."""

    title: str
    about: str
    sections: tuple[Section, ...]
    cases: tuple[CaseStudy, ...]
    cases_note: str

    @property
    def tables(self) -> Iterator[Table]:
        """All tables that come from the study."""
        return (table for section in self.sections for table in section.tables)

    @property
    def figures(self) -> Iterator[Figure]:
        """All figures."""
        return (figure for section in self.sections for figure in section.figures)


def assemble(
    study: Study, options: ReportOptions, progress: Callable[[str], None] = lambda _: None
) -> Report:
    """Make a report; ``progress`` hears the title of each part before it is made."""
    if not any(arm.scores for arm in study.arms):
        raise StudyError(f"{study.source}: no judged attempts yet; run 'cfr eval' first")
    study = with_short_names(study)
    context = ReportContext(study, options)
    made: list[Section] = []
    for heading, build in _SECTIONS.items():
        progress(heading)
        made.append(build(context, heading))
    missing = left_out(made, keep=_VERDICT)
    shown = [
        _naming_variants(context, filled(s)) for s in made if s.name == _VERDICT or not s.empty
    ]
    sections = (*shown, *([missing] if missing.claims or missing.published else []))
    progress(_CASES)
    chosen = cases(study, context.baseline, context.method, options.cases)
    return Report(title(study), about(study), sections, tuple(chosen), _cases_note(context))


def _verdict(context: ReportContext, title: str) -> Section:
    """Say first what is found: a sentence for each model, and every comparison drawn."""
    comparisons, _ = context.compared
    said = [claim for one in comparisons for claim in _verdicts(context, one)]
    said += [no_verdict(model, why) for model, why in context.uncompared.items()]
    drawings = [
        partial(forest_figure, one, Caption(table.name, table.title))
        for one, table in zip(comparisons, _paired_tables(context), strict=True)
    ]
    notes = (verdict_note(comparisons),) if comparisons else ()
    return Section(_VERDICT, title, tuple(said), figures=context.draw(*drawings), notes=notes)


def _verdicts(context: ReportContext, comparison: Comparison) -> Iterator[str]:
    """Give a model's verdict, and that on the method that the report looks at if it is another."""
    named = context.method if context.options.method else ""
    compared = {pair.method for pair in comparison.pairs}
    yield verdict(comparison, named if named in compared else "")
    if best_supported(comparison).method != context.method in compared and not named:
        yield verdict(comparison, context.method)


def _overview(context: ReportContext, title: str) -> Section:
    study = context.study
    scores = scores_table(study)
    scores = replace(scores, notes=(*scores.notes, *name_notes(study)))
    tables = (scores, benchmarks_table(study), settings_table(study))
    return Section("overview", title, (), tables, published=_paper("benchmarks", "api-settings"))


def _main(context: ReportContext, title: str) -> Section:
    study, baseline, method = context.study, context.baseline, context.method
    by_model, by_benchmark = gains_figure, applicability_figure
    one_model = len({pair.model for pair in context.pairs}) < 2  # the two would show the same
    drawings = [by_benchmark] if one_model else [by_model, by_benchmark]
    figures = context.draw(*(partial(draw, context.pairs) for draw in drawings))
    tables = (main_table(study, baseline, method), generalization_table(study, baseline, method))
    names = ("main", "additional", "olympiadbench", "gains-by-model", "applicability")
    said = () if context.pairs else (f"No gain to draw: {absent(method, baseline)}",)
    return Section("main", title, said, tables, figures, _paper(*names))


def _prompting(context: ReportContext, title: str) -> Section:
    study, baseline = context.study, context.baseline
    papers = [context.variant(family) for family in (CFR, ROUTED_CFR)]
    brief = [context.variant(family) for family in (CFR_BRIEF, ROUTED_CFR_BRIEF)]
    # Our variant is no substitute for the paper's protocol: where there is nothing else, by name.
    stands = any(brief) and not any(papers)
    references, named = (brief, "CFR-brief") if stands else (papers, "CFR")
    tables = (
        prompting_table(study, baseline, references, named),
        exploratory_table(study, baseline),
        stages_table(study),
        tokens_table(study, baseline, context.method),
    )
    comparisons, _ = context.compared
    more = [*(ratios_table(one, named=len(comparisons) > 1) for one in comparisons)]
    more += (*instruction_tables(study), *intervention_tables(study))
    figures = context.draw_all(lambda: frontier_figures(study))
    names = ("prompting", "prompting-comparison", "tokens-by-model")
    return Section("prompting", title, (), (*tables, *more), figures, _paper(*names))


def _paired(context: ReportContext, title: str) -> Section:
    tables, (_, why) = _paired_tables(context), context.compared
    paper = _paper("paired-deepseek", "paired-qwen")
    return Section("paired", title, () if tables else (why,), tables, published=paper)


def _paired_tables(context: ReportContext) -> tuple[Table, ...]:
    comparisons, _ = context.compared
    return tuple(paired_table(one, named=len(comparisons) > 1) for one in comparisons)


def _routing(context: ReportContext, title: str) -> Section:
    study, audit, baseline = context.study, context.router, context.baseline
    constrained = {family: context.variant(family) for family in CONSTRAINED}
    ablation = routing_table(study, baseline, constrained)
    audits = (
        rates_table(audit),
        patterns_table(audit),
        convention_table(audit),
        cofire_table(study, audit, context.method, baseline, context.options.labels),
        _several_routers(routers_table(compare_routers(study, audit))),
    )
    # Without a kind of CFR there is no way through the protocol to draw.
    flow = partial(flow_figure, study, context.method)
    cloud = partial(cloud_figure, audit)
    figures = context.draw(*([flow, cloud] if any(constrained.values()) else [cloud]))
    names = ("routing-ablation", "router-rates", "router-patterns", "router-convention")
    paper = _paper(*names, "cofire", "router-ablation")
    if not audit.families:
        return Section("routing", title, (_NO_TEXTS,), (ablation,), figures, paper)
    return Section("routing", title, (), (ablation, *audits), figures, paper)


def _several_routers(table: Table) -> Table:
    """Empty a table that has the reference alone: it compares nothing."""
    return table if len(table.rows) > 1 else replace(table, rows=(), notes=(ONE_ROUTER,))


def _stage1(context: ReportContext, title: str) -> Section:
    study = context.study
    labels, strangers = labels_of(context.options.labels, study)
    quality = gold_quality(study) | by_method(labels)
    tables = (
        extraction_table(study, quality),
        *((manual_audit_table(labels), annotator_table(labels)) if labels else ()),
        parsing_table(study),
        categories_table(study, context.method, context.baseline),
    )
    figures = context.draw_all(lambda: category_figures(study, context.method, context.baseline))
    paper = _paper("extraction-reliability", "parsing", "categories")
    said = (f"Marks on attempts that are not in these data: {strangers:,}.",) if strangers else ()
    return Section("stage-1", title, said, tables, figures, paper)


def _errors(context: ReportContext, title: str) -> Section:
    study, method, baseline = context.study, context.method, context.baseline
    rule = context.options.error_rule
    tables = (
        outcomes_table(study, method, baseline, rule),
        errors_table(study, method, baseline, rule),
        fixes_table(study, method, baseline, rule),
        *islice(per_problem_tables(study, method, baseline, rule), _MOST_OF_A_KIND),
    )
    figures = context.draw_all(lambda: islice(grid_figures(study), _MOST_OF_A_KIND))
    sets = len({(arm.benchmark, arm.model) for arm in study.main_arms() if arm.scores})
    more = (_LEFT_OUT,) if sets > _MOST_OF_A_KIND else ()
    problems = ("aime24-qwen", "aime25-deepseek", "aime25-qwen", "aime26-deepseek", "aime26-qwen")
    paper = _paper(
        "outcomes", "errors", "fixes", *(f"problems-{name}" for name in problems), "cases"
    )
    return Section("errors", title, more, tables, figures, paper)


def _robustness(context: ReportContext, title: str) -> Section:
    table = robustness_table(context.study, (context.method,), context.baseline)
    return Section("robustness", title, (), (table,), published=_paper("robustness"))


_SECTIONS: dict[str, Callable[[ReportContext, str], Section]] = {
    "What the data show": _verdict,
    "Scores and settings": _overview,
    "Main results": _main,
    "All methods, and what they cost": _prompting,
    "Paired statistics": _paired,
    "Routing": _routing,
    "Stage 1": _stage1,
    "Errors and outcomes": _errors,
    "Robustness": _robustness,
}
PARTS = (*_SECTIONS, _CASES)
"""What ``progress`` hears while a report is made."""


def _paper(*names: str) -> tuple[Table, ...]:
    return tuple(published(name).to_table() for name in names)


def _naming_variants(context: ReportContext, section: Section) -> Section:
    """Say once in a section which variants it is about, where the study has several of a family."""
    said: set[str] = set()
    tables: list[Table] = []
    for table in section.tables:
        methods: tuple[str | None, ...] = ()
        if table.name in _OF_ONE_METHOD:
            methods = (context.baseline, context.method)
        elif table.name in _OF_FAMILIES:
            methods = (context.baseline, *map(context.variant, CONSTRAINED))
        notes = [note for note in variant_notes(context.study, methods) if note not in said]
        tables.append(replace(table, notes=(*table.notes, *notes)))
        said.update(notes)
    return replace(section, tables=tuple(tables))


def _cases_note(context: ReportContext) -> str:
    base, method = (context.study.method_name(name) for name in (context.baseline, context.method))
    return (
        f"Problems on which {method} and {base} differ: those whose share of right runs changed "
        "most, as many fixed as broken where there are enough. Chosen by this rule, not by hand, "
        "and grouped by the kind of constraint that dominates the problem. Problems that a router "
        "left to the baseline are neither fixed nor broken and are not among them."
    )


# Report folder: an HTML page, Markdown, LaTeX tables, figures.


def write(report: Report, folder: Path) -> list[Path]:
    """Write everything into a folder, which is made where it is not there; list the main files."""
    try:
        (folder / "tables").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be a folder ({error.strerror}); name another"
        ) from None
    for figure in report.figures:
        save(figure, folder / "figures")
    for table in report.tables:
        _put(folder / "tables" / f"{table.name}.tex", to_latex(table))
    _put(folder / "report.md", report_markdown(report))
    _put(folder / "report.html", report_html(report))
    made = ("report.html", "report.md", "tables", *(["figures"] if any(report.figures) else []))
    return [folder / name for name in made]


def _put(path: Path, text: str) -> None:
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def report_markdown(report: Report) -> str:
    """Write a report in Markdown; figures are linked, and cases are short."""
    parts = [f"# {markdown_text(report.title)}", markdown_text(report.about)]
    for section in report.sections:
        parts += _section(section)
    if report.cases:
        parts += ["## Cases", markdown_text(report.cases_note)]
        for kind, cases in groupby(report.cases, key=lambda case: case.kind):
            parts += [f"### {markdown_text(kind)}", *map(_case, cases)]
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    claims = "\n".join(f"- {markdown_text(claim)}" for claim in section.claims)
    tables = [to_markdown(table).rstrip() for table in section.tables]
    figures = [
        f"![{markdown_text(figure.alt)}](figures/{figure.name}.svg)\n\n*{markdown_text(figure.title)}*"
        for figure in section.figures
    ]
    paper = [to_markdown(table).rstrip() for table in section.published]
    notes = [markdown_text(note) for note in section.notes]
    return [f"## {section.title}", *filter(None, [claims]), *notes, *tables, *figures, *paper]


def _case(case: CaseStudy) -> str:
    named = f"{case.opening} ({case.title})" if case.opening else case.title
    head = f"#### {markdown_text(named)}: {case.change}"
    gold = f"{case.gold_name.capitalize()}: {markdown_text(case.gold or 'not given')}"
    gold = gold if gold.endswith(".") else f"{gold}."
    return "\n\n".join(
        [head, markdown_text(case.text), gold, _attempt(case.baseline), _attempt(case.method)]
    )


def _attempt(attempt: CaseAttempt) -> str:
    said = attempt.transcript
    verdict = "right" if said.correct else "wrong"
    return (
        f"- **{markdown_text(attempt.name)}**: {markdown_text(attempt.said)} ({verdict}; right in "
        f"{attempt.right} of {several(attempt.runs, 'run')}; {said.tokens:,} tokens)"
    )
