import pytest

from constraint_first.protocol import Call, Completion, Output, Usage
from constraint_first.serve import context as metric
from constraint_first.serve.context import Metrics

CALL = Call.user("?", stage="stage1", max_tokens=9)
REPLY = Completion("4", usage=Usage(10, 5, 2))


def _missing(name: str) -> None:
    """Find no library of any name."""


def test_what_is_counted() -> None:
    metrics = Metrics()
    metrics.answered("direct", 200, 0.3, 0.1)
    metrics.answered("direct", 429, 0.3, None)
    metrics.watch(lambda: 3, lambda: 1)
    metrics.called(CALL, REPLY, 0.2)
    metrics.executed(Output("1"))
    metrics.executed(Output("", "ValueError"))
    shown = metrics.exposed().decode()
    for line in (
        'cfr_requests_total{method="direct",status="200"} 1.0',
        'cfr_requests_total{method="direct",status="429"} 1.0',
        'cfr_request_seconds_count{method="direct"} 2.0',
        'cfr_first_token_seconds_count{method="direct"} 1.0',
        "cfr_requests_under_way 3.0",
        "cfr_requests_waiting 1.0",
        'cfr_stage_calls_total{stage="stage1"} 1.0',
        'cfr_stage_seconds_sum{stage="stage1"} 0.2',
        'cfr_tokens_total{direction="input",stage="stage1"} 10.0',
        'cfr_tokens_total{direction="output",stage="stage1"} 5.0',
        'cfr_tokens_total{direction="reasoning",stage="stage1"} 2.0',
        'cfr_programs_total{outcome="error"} 1.0',
        "process_resident_memory_bytes",
    ):
        assert line in shown, line


def test_stages_that_are_made_up_are_one() -> None:
    metrics = Metrics()
    for number in range(300):
        metrics.called(Call.user("?", stage=f"stage-{number}", max_tokens=9), REPLY, 0.1)
    shown = metrics.exposed().decode()
    assert 'cfr_stage_calls_total{stage="other"} 200.0' in shown
    assert shown.count("cfr_stage_calls_total{") == 101


def test_without_the_library_nothing_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric, "find_spec", _missing)
    metrics = Metrics()
    assert not metrics.is_on
    metrics.answered("direct", 200, 0.3, 0.1)
    metrics.watch(lambda: 3, lambda: 1)
    metrics.called(CALL, REPLY, 0.2)
    metrics.executed(Output("1"))
