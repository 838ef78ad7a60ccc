"""Runs of made-up methods whose best policy is known beforehand."""

import random
from collections.abc import Mapping, Sequence

from constraint_first.report.study import Arm, Outcome, ProblemText, Study

STORY = "Ann has {n} apples and buys 3 more. How many apples does she have?"
LATEX = "Let $x^2 = {n}x + 3$. Find the larger value of $x$ as an exact value."


def made_runs(
    gains: Mapping[str, tuple[float, float]],
    seed: int = 0,
    *,
    size: int = 200,
    runs: int = 2,
    tokens: Mapping[str, int] | None = None,
    model: str = "model",
    texts: Sequence[str] = (STORY, LATEX),
) -> Study:
    """Make runs: for each method its gain on stories and on problems in LaTeX, as shares of one.

    Each kind of problem is a benchmark. Direct CoT takes 300 output tokens, as others do unless
    ``tokens`` says how many.
    """
    dice = random.Random(seed)
    arms: list[Arm] = []
    problems: dict[tuple[str, str], ProblemText] = {}
    for kind, (benchmark, text) in enumerate(zip(("stories", "algebra"), texts, strict=True)):
        names = [f"{benchmark}-{n}" for n in range(size)]
        chances = [dice.choice((0.1, 0.3, 0.6)) for _ in names]
        problems |= {
            (benchmark, name): ProblemText(text.format(n=n)) for n, name in enumerate(names)
        }
        for method in ("direct", *gains):
            gain = gains[method][kind] if method in gains else 0.0
            used = (tokens or {}).get(method, 300)
            attempts = {
                name: [
                    Outcome(run, "ok", dice.random() < chance + gain, output_tokens=used)
                    for run in range(runs)
                ]
                for name, chance in zip(names, chances, strict=True)
            }
            arms.append(Arm(benchmark, method, method, model, attempts=attempts))
    return Study("made up", tuple(arms), problems, lambda _: {})
