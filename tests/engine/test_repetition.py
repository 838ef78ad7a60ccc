import pytest

from constraint_first.model.wire import PairedEvents


def doubled(events: str, tokens: int | None) -> bool:
    paired = PairedEvents()
    for event in events:
        paired.add(event.encode())
    return paired.doubled(tokens)


@pytest.mark.parametrize(
    ("events", "tokens"),
    [("aabbcc", 3), ("aabb", 2), ("aabbaabb", 4), ("aabbccddeeffgghh", None)],
)
def test_events_that_all_came_twice(events: str, tokens: int | None) -> None:
    assert doubled(events, tokens)


@pytest.mark.parametrize(
    ("events", "tokens"),
    [
        ("", 0),
        ("abc", 3),
        ("aabbc", 3),
        ("aabcc", 3),
        ("abbcca", 3),
        ("aabbcc", 6),  # as many events as tokens: the model wrote it so
        ("00", 2),
        ("00000000000000000000", None),  # a model that has got stuck
        ("aabbcc", None),  # nothing counted, and too few to be certain
    ],
)
def test_events_that_a_model_may_have_written(events: str, tokens: int | None) -> None:
    assert not doubled(events, tokens)
