import constraint_first

METHODS = (
    "Call Completion Method Output Problem Program Run Solution Steps ask execute make together"
)
SOLVING = "ConstraintSpec Attempt SolveProgress asolve drive extract grade grade_reply route solve"
ENGINES = "Bounds Client Decoding Endpoint Local ModelRef OpenAI Scripted"
EVALUATION = (
    "Benchmark Evaluated EvaluationProgress Experiment RunOptions aevaluate compare evaluate"
)
PUBLIC = sorted(f"{METHODS} {SOLVING} {ENGINES} {EVALUATION} CfrError".split())


def test_the_public_names_are_these() -> None:
    assert constraint_first.__all__ == PUBLIC


def test_each_public_name_leads_to_what_it_names() -> None:
    for name in constraint_first.__all__:
        assert (
            getattr(constraint_first, name).__module__.startswith("constraint_first.")
            or name == "Steps"
        )
    assert not hasattr(constraint_first, "nonsense")


def test_names_complete() -> None:
    assert set(PUBLIC) <= set(dir(constraint_first))
