import pytest

from constraint_first.model.error import (
    EngineError,
    ModelNotFound,
    PromptTooLong,
    RateLimited,
    ServerFault,
    StreamCut,
    Unreachable,
)
from constraint_first.model.replicas import Replica, is_its_own
from constraint_first.model.transport import Bounds, Endpoint, refusal

ENDPOINT = Endpoint("http://me:password@h/v1", "m")


@pytest.fixture
def replica() -> Replica:
    return Replica(ENDPOINT, Bounds(), 4)


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_what_an_endpoint_says_to_all_calls_is_its_own(status: int) -> None:
    assert is_its_own(refusal(ENDPOINT, status, {}, b""))
    assert is_its_own(refusal(ENDPOINT, 429, {}, b'{"error": "quota exceeded"}'))


def test_what_is_wrong_with_a_call_is_wrong_everywhere() -> None:
    assert not is_its_own(refusal(ENDPOINT, 400, {}, b'{"error": "odd"}'))
    assert not is_its_own(PromptTooLong("too long"))
    assert not is_its_own(ModelNotFound("a call for another engine"))


@pytest.mark.parametrize("fault", [Unreachable("gone"), RateLimited("slow"), ModelNotFound("m")])
def test_some_faults_are_no_accident_even_while_others_get_through(
    replica: Replica, fault: EngineError
) -> None:
    visit, other = replica.visit(1), replica.visit(1)
    replica.answer(other)
    assert replica.must_rest(visit, fault)


@pytest.mark.parametrize("fault", [ServerFault("500"), StreamCut("cut")])
def test_a_fault_while_others_get_through_is_the_calls_own(
    replica: Replica, fault: EngineError
) -> None:
    visit, other = replica.visit(1), replica.visit(1)
    assert replica.must_rest(visit, fault)
    replica.answer(other)
    assert not replica.must_rest(visit, fault)


def test_calls_from_before_a_rest_tell_nothing_new(replica: Replica) -> None:
    visit, other = replica.visit(1), replica.visit(1)
    replica.begin_rest(Unreachable("gone"))
    assert not replica.must_rest(visit, Unreachable("gone"))
    replica.answer(other)
    assert replica.in_a_row == 1
    assert str(replica.fault) == "gone"
    replica.answer(replica.visit(1))
    assert (replica.in_a_row, replica.fault) == (0, None)


def test_its_address_is_shown_without_a_password(replica: Replica) -> None:
    assert replica.shown == "http://h/v1"
