from typing import Any

import pytest

from constraint_first.model.batch import BatchStatus, read_status
from constraint_first.model.error import BadReply, Redaction

DOCUMENTED: dict[str, Any] = {
    "id": "batch_abc123",
    "object": "batch",
    "endpoint": "/v1/chat/completions",
    "errors": None,
    "input_file_id": "file-abc123",
    "completion_window": "24h",
    "status": "completed",
    "output_file_id": "file-cvaTdG",
    "error_file_id": "file-HOWS94",
    "created_at": 1711471533,
    "request_counts": {"total": 100, "completed": 95, "failed": 5},
    "metadata": {"cfr": "tag"},
}


def documented(**changes: Any) -> Any:
    return DOCUMENTED | changes


def test_a_batch_is_read_as_documented() -> None:
    assert read_status(DOCUMENTED, "cfr") == BatchStatus(
        "batch_abc123", "completed", "file-abc123", "file-cvaTdG", "file-HOWS94", 95, 5,
        1711471533.0, "tag",
    )  # fmt: skip


@pytest.mark.parametrize("status", ["validating", "in_progress", "finalizing", "cancelling"])
def test_some_statuses_are_waited_through(status: str) -> None:
    assert not read_status(documented(status=status), "cfr").has_ended


@pytest.mark.parametrize("status", ["completed", "failed", "expired", "cancelled"])
def test_others_are_the_end(status: str) -> None:
    assert read_status(documented(status=status), "cfr").has_ended


def test_a_batch_that_failed_says_why_without_the_key() -> None:
    error = {"code": "invalid_model", "message": "no model for sk-0123456789", "line": 3}
    found = read_status(
        documented(errors={"object": "list", "data": [error]}),
        "cfr",
        Redaction(("sk-0123456789",)),
    )
    assert found.reason == "invalid_model: no model for [key]"
    assert read_status(documented(errors=["odd"]), "cfr").reason == "odd"


def test_what_makes_no_sense_is_left_out() -> None:
    odd: dict[str, Any] = {
        "output_file_id": 3,
        "error_file_id": "a\nb",
        "request_counts": [],
        "metadata": "x",
    }
    odd |= {"created_at": "now", "errors": 7}
    found = read_status(documented(**odd), "cfr")
    assert found == BatchStatus("batch_abc123", "completed", "file-abc123")


@pytest.mark.parametrize("value", [None, [], {}, {"id": "a"}, {"id": "", "status": "completed"}])
def test_what_is_no_batch_is_a_fault(value: Any) -> None:
    with pytest.raises(BadReply, match="not a batch"):
        read_status(value, "cfr")
