import pytest

from constraint_first.error import CfrError
from constraint_first.model import error
from constraint_first.model.error import (
    BadReply,
    EngineError,
    JournalMismatch,
    ModelFileError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    Rejected,
    ServerFault,
    StaleReply,
    StreamCut,
    TimedOut,
    TooExpensive,
    TookTooLong,
    Transient,
    Unauthorized,
    Unreachable,
)

PASSING = {Unreachable, TimedOut, RateLimited, ServerFault, BadReply, StaleReply, StreamCut}
FINAL = {
    Rejected,
    Unauthorized,
    ModelNotFound,
    PromptTooLong,
    ModelFileError,
    JournalMismatch,
    TooExpensive,
    TookTooLong,
}


ERRORS = [
    kind
    for kind in vars(error).values()
    if isinstance(kind, type) and issubclass(kind, EngineError)
]


def test_every_error_is_either_asked_again_or_final() -> None:
    assert set(ERRORS) == PASSING | FINAL | {EngineError, Transient}
    assert all(issubclass(kind, Transient) for kind in PASSING)
    assert not any(issubclass(kind, Transient) for kind in FINAL)


@pytest.mark.parametrize("kind", ERRORS)
def test_a_person_can_read_every_error(kind: type[EngineError]) -> None:
    raised = kind("http://h/v1: no luck")
    assert isinstance(raised, CfrError)
    assert str(raised) == "http://h/v1: no luck"
    assert raised.exit_code == 3


def test_what_a_refusal_of_a_key_a_model_or_a_length_is() -> None:
    assert all(issubclass(kind, Rejected) for kind in (Unauthorized, ModelNotFound, PromptTooLong))


def test_what_the_endpoint_said_comes_along() -> None:
    assert RateLimited("slow", 7.5).retry_after == 7.5
    assert RateLimited("slow").retry_after is None
    assert PromptTooLong("long", 2_048).limit == 2_048
    assert PromptTooLong("long").limit is None
