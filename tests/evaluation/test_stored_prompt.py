"""Own prompts are kept with their series, in stores of any age."""

import pytest
from sums import sums
from sums_run import SERIES, evaluate

from constraint_first.method.rewording import Wording
from constraint_first.problem import Prompt
from constraint_first.store import schema
from constraint_first.store.database import StoreError
from constraint_first.store.series import Series, read_prompts
from constraint_first.store.store import Store


def worded(text: str = "Please: [[problem]]", name: str = "mine") -> Series:
    return SERIES.reworded(Wording(name, (Prompt("direct", text, replaced=True),)))


def kept(store: Store, number: int) -> dict[str, str]:
    with store.database.connect() as connection:
        return read_prompts(connection, number)


async def test_they_are_kept_and_a_change_of_them_is_refused(url: str) -> None:
    with Store(url) as store:
        await evaluate(store)
        assert len((await evaluate(store, worded())).asked) == 10
        assert (await evaluate(store, worded())).asked == []
        assert kept(store, 1) == {}
        assert kept(store, 2) == {"direct": "Please: [[problem]]"}
        with pytest.raises(StoreError, match=r"direct\(wording=mine\) on .* words in direct\.txt"):
            await evaluate(store, worded("Now: [[problem]]"))
        assert len((await evaluate(store, worded("Now: [[problem]]", "other"))).asked) == 10


def test_a_series_that_is_withdrawn_takes_its_prompts_along(url: str) -> None:
    with Store(url) as store:
        number = store.register(worded(), sums(1)).series
        store.withdraw([number])
        assert kept(store, number) == {}
        again = store.register(worded("Now: [[problem]]"), sums(1)).series
        assert kept(store, again) == {"direct": "Now: [[problem]]"}


async def test_a_store_without_room_for_them_is_read_as_it_is_and_written_when_needed(
    url: str,
) -> None:
    with Store(url) as store:
        await evaluate(store)
        schema.prompts.drop(store.database)
    with Store(url, existing=True) as store:
        assert kept(store, 1) == {}
    with Store(url) as store:
        store.withdraw([1])
        assert len((await evaluate(store, worded())).asked) == 10
        assert kept(store, 2) == {"direct": "Please: [[problem]]"}
