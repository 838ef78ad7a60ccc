"""Report of a study: every table and figure of the paper, with the study's own rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from constraint_first.analysis.audit.case import CaseStudy, cases
from constraint_first.analysis.audit.manual.annotation import by_method, labels_of
from constraint_first.analysis.audit.router_agreement import compare_routers
from constraint_first.analysis.audit.stage1.gold import gold_quality
from constraint_first.analysis.figure import illustration
from constraint_first.analysis.figure.figure import Caption, Figure
from constraint_first.analysis.report.context import ReportContext, ReportOptions
from constraint_first.analysis.report.provenance import about, title
from constraint_first.analysis.report.section import Section, filled, left_out
from constraint_first.analysis.report.verdict import (
    best_supported,
    no_verdict,
    verdict,
    verdict_note,
)
from constraint_first.analysis.statistics.comparison import Comparison
from constraint_first.analysis.study.family import (
    CFR,
    CFR_BRIEF,
    CONSTRAINED,
    ROUTED_CFR,
    ROUTED_CFR_BRIEF,
    name_notes,
    variant_notes,
    with_short_names,
)
from constraint_first.analysis.study.study import Study, StudyError
from constraint_first.analysis.table.accuracy import main_table, routing_table, scores_table
from constraint_first.analysis.table.categories import categories_table
from constraint_first.analysis.table.cost import prompting_table, stages_table, tokens_table
from constraint_first.analysis.table.errors import errors_table, fixes_table
from constraint_first.analysis.table.extraction import extraction_table, parsing_table
from constraint_first.analysis.table.gain import absent
from constraint_first.analysis.table.generalization import (
    benchmarks_table,
    exploratory_table,
    generalization_table,
)
from constraint_first.analysis.table.instructions import instruction_tables
from constraint_first.analysis.table.interventions import intervention_tables
from constraint_first.analysis.table.manual_audit import annotator_table, manual_audit_table
from constraint_first.analysis.table.outcomes import outcomes_table
from constraint_first.analysis.table.paired_comparison import paired_table
from constraint_first.analysis.table.per_problem import per_problem_tables
from constraint_first.analysis.table.published import published
from constraint_first.analysis.table.robustness import robustness_table
from constraint_first.analysis.table.router_agreement import ONE_ROUTER, routers_table
from constraint_first.analysis.table.routing import (
    cofire_table,
    convention_table,
    patterns_table,
    rates_table,
)
from constraint_first.analysis.table.settings import settings_table
from constraint_first.analysis.table.table import Table
from constraint_first.analysis.table.token_ratio import ratios_table

__all__ = ["PARTS", "Report", "assemble"]

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
        partial(illustration.forest_figure, one, Caption(table.name, table.title))
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
    by_model, by_benchmark = illustration.gains_figure, illustration.applicability_figure
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
    figures = context.draw_all(lambda: illustration.frontier_figures(study))
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
    flow = partial(illustration.flow_figure, study, context.method)
    cloud = partial(illustration.cloud_figure, audit)
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
    figures = context.draw_all(
        lambda: illustration.category_figures(study, context.method, context.baseline)
    )
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
    figures = context.draw_all(lambda: islice(illustration.grid_figures(study), _MOST_OF_A_KIND))
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
