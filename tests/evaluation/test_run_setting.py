from collections.abc import Iterator
from dataclasses import replace

import pytest
import sqlalchemy as sa
from postgres import empty_database
from sums import sums

from constraint_first.attempt.drive import Scripted
from constraint_first.method.baselines import Direct
from constraint_first.method.rewording import Wording
from constraint_first.model.client import ServedModel
from constraint_first.model.limit import Limiter
from constraint_first.model.resolve import ModelRef
from constraint_first.model.wire import Decoding
from constraint_first.problem import Prompt
from constraint_first.run.model_pool import (
    PendingSeries,
    SeriesModels,
    Unrunnable,
    pending_series,
    write_settings,
)
from constraint_first.store import schema
from constraint_first.store.series import Series, fingerprint
from constraint_first.store.store import Store

HERE = ModelRef()
REF = ModelRef("m", "http://127.0.0.1:9/v1", "MY_KEY", 4_096, key="sk-very-secret")


@pytest.fixture
def store(postgres: str) -> Iterator[Store]:
    with Store(postgres) as store:
        yield store
    empty_database(postgres)


def served(ref: ModelRef | None, **others: ServedModel) -> ServedModel:
    engine = Scripted([], name=(ref and ref.model) or "m")
    return ServedModel(engine, Limiter(4), None, others=others, ref=ref)


def enter(
    store: Store, series: Series, ref: ModelRef | None = REF, **others: ServedModel
) -> PendingSeries:
    registered = store.register(series, sums(2), 1)
    write_settings(store, [registered.series], served(ref, **others), "grid")
    return next(one for one in pending_series(store) if one.number == registered.series)


def test_a_series_is_made_anew_from_what_the_store_has(store: Store) -> None:
    series = Series("sums", "cfr(reply=json)", "m", Decoding(0.2, None, 7, 99), "Be brief.")
    found = enter(store, series)
    made = found.build()
    assert replace(made, given=None) == series
    assert made.build() == series.build()
    assert found.budget == "grid"


def test_own_prompts_come_with_it(store: Store) -> None:
    prompts = (Prompt("direct", "Solve: [[problem]]", replaced=True),)
    worded = Series("sums", "direct", "m").reworded(Wording("mine", prompts))
    made = enter(store, worded).build()
    assert made.method == "direct(wording=mine)"
    assert fingerprint(made.build()) == fingerprint(worded.build())


def test_models_are_named_as_they_were_and_no_key_is_stored(store: Store) -> None:
    other = served(ModelRef("big", "http://127.0.0.1:8/v1"))
    found = enter(store, Series("sums", "direct", "m"), REF, router=other)
    expected = replace(REF, key="")
    assert found.find_models(HERE) == SeriesModels(
        expected, (("router", ModelRef("big", "http://127.0.0.1:8/v1")),)
    )
    assert "sk-very-secret" not in str(store.read(sa.select(schema.run_settings)))
    elsewhere = ModelRef(base_url="http://node7:8000/v1", key_name="NODE_KEY")
    assert found.find_models(elsewhere).main == replace(
        expected, base_url="http://node7:8000/v1", key_name="NODE_KEY"
    )


def test_an_address_with_a_secret_is_not_stored(store: Store) -> None:
    secret = ModelRef("m", "http://me:hunter22@host/v1?token=abcdefgh")
    found = enter(store, Series("sums", "direct", "m"), secret)
    stored = str(store.read(sa.select(schema.run_settings)))
    assert "hunter22" not in stored
    assert "abcdefgh" not in stored
    with pytest.raises(Unrunnable, match=r"\(http://host/v1\) carries a secret, .* --base-url"):
        found.find_models(HERE)
    given = ModelRef(base_url=secret.base_url)
    assert found.find_models(given).main.base_url == secret.base_url


def test_several_addresses_go_with_a_series(store: Store) -> None:
    several = ModelRef("m", ("http://gpu1:8000/v1", "http://gpu2:8000/v1"))
    found = enter(store, Series("sums", "direct", "m"), several)
    assert found.find_models(HERE).main == several
    here = ModelRef(base_url=("http://a/v1", "http://b/v1"))
    assert found.find_models(here).main.base_url == ("http://a/v1", "http://b/v1")


def test_the_address_of_the_environment_goes_with_the_series(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:7/v1")
    found = enter(store, Series("sums", "direct", "m"), ModelRef("m"))
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert found.find_models(HERE).main.base_url == "http://127.0.0.1:7/v1"


def test_what_was_given_as_an_object_runs_only_where_it_was_made(store: Store) -> None:
    method = Direct(budget=99)
    found = enter(store, Series("sums", repr(method), "m", given=method), None)
    with pytest.raises(Unrunnable, match="as an object runs only where it was made"):
        found.build()
    with pytest.raises(Unrunnable, match="its engine was given as an object"):
        found.find_models(HERE)


def test_a_method_that_asks_otherwise_here_is_not_run(store: Store) -> None:
    found = replace(enter(store, Series("sums", "direct", "m")), fingerprint="another")
    with pytest.raises(Unrunnable, match="install the same version of cfr"):
        found.build()


def test_what_is_made_is_pending_no_longer_and_a_file_keeps_nothing(
    store: Store, tmp_path: object
) -> None:
    enter(store, Series("sums", "direct", "m"))
    with store.database.begin() as connection:
        connection.execute(schema.leases.delete())
    assert not pending_series(store)
    with Store(f"{tmp_path}/runs.db") as file:
        write_settings(file, [1], served(REF), None)
