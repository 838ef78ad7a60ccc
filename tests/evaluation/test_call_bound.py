from typing import ClassVar

import pytest

from constraint_first.method.registry import make
from constraint_first.model.resolve import Price, PriceList
from constraint_first.model.wire import Decoding
from constraint_first.problem import Problem, Solution
from constraint_first.protocol import Call, Message, Steps, ask
from constraint_first.run.forecast import CallSettings, Demand, Span, bound_attempt

PROBLEM = Problem("What is 4 + 1?")
PLAIN = CallSettings()


def bound(method: str, settings: CallSettings = PLAIN) -> Demand:
    return bound_attempt(make(method), PROBLEM, settings)


def test_one_call_is_known_but_for_its_reply() -> None:
    found = bound("direct")
    assert found.calls == Span(1, 1)
    assert found.input.least == found.input.most > 0
    assert found.output == Span(0, 32_768)


@pytest.mark.parametrize(
    ("method", "calls"),
    [
        ("cfr", Span(2, 2)),
        ("self-refine", Span(3, 3)),
        ("until-agreed(most=4)", Span(2, 4)),
        ("llm-router", Span(2, 3)),
    ],
)
def test_what_depends_on_replies_is_a_range(method: str, calls: Span) -> None:
    found = bound(method).calls
    assert found.least == calls.least
    assert found.most >= calls.most


def test_the_longest_reply_is_what_every_limit_allows() -> None:
    lowered = CallSettings(Decoding(max_tokens=500))
    assert bound("direct", lowered).output.most == 500
    small = CallSettings(contexts={None: 4_096})
    assert bound("direct", small).output.most == 4_096


def test_a_system_prompt_is_asked_with_every_call() -> None:
    more = bound("cfr", CallSettings(system="x" * 300)).input.least
    assert more - bound("cfr").input.least == 200


class Quoting:
    """Asks twice; the second prompt repeats the first reply."""

    label: ClassVar[str] = "Quoting"

    def solve(self, problem: Problem) -> Steps[Solution]:
        first = Call((Message("user", "abc"),), "direct", 100)
        reply = yield from ask(first)
        yield from ask(Call((Message("user", reply.text),), "direct", 10, model="small"))
        return Solution(None, "")


def test_a_prompt_may_be_longer_by_the_reply_that_it_quotes() -> None:
    found = bound_attempt(Quoting(), PROBLEM, PLAIN)
    assert found.output == Span(0, 110)
    assert found.input.most > 100


def test_money_is_bounded_by_the_price_of_each_model() -> None:
    prices = PriceList(Price(0, 1), {"small": Price(0, 100)})
    found = bound_attempt(Quoting(), PROBLEM, CallSettings(prices=prices))
    assert found.dollars == Span(0, pytest.approx((100 + 10 * 100) / 1e6))  # pyright: ignore
    assert found.complete
    unknown = CallSettings(prices=PriceList(Price(0, 1)))
    assert not bound_attempt(Quoting(), PROBLEM, unknown).complete


def test_a_method_that_breaks_takes_what_it_took() -> None:
    class Breaking(Quoting):
        def solve(self, problem: Problem) -> Steps[Solution]:
            yield from ask(Call((Message("user", "abc"),), "direct", 100))
            raise ValueError

    assert bound_attempt(Breaking(), PROBLEM, PLAIN).calls == Span(1, 1)


def test_demands_add_up_and_span() -> None:
    one, two = Demand(calls=Span(1, 2)), Demand(calls=Span(3, 4), complete=False)
    assert one.plus(two) == Demand(calls=Span(4, 6), complete=False)
    assert one.around(two) == Demand(calls=Span(1, 4), complete=False)
    assert one.times(3) == Demand(calls=Span(3, 6))
