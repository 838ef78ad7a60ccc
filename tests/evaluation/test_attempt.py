from dataclasses import replace

from loopback import Endpoint as Server
from sums import reply_right, right, sums

from cfr.engine.engine import Decoded, Decoding
from cfr.engine.openai import Endpoint, OpenAI
from cfr.engine.scripted import Scripted
from cfr.evaluation.runner import prepare, run
from cfr.evaluation.series import Series
from cfr.evaluation.store import Store

SERIES = Series("sums", "direct", "model-a")


async def test_runs_and_samples_have_seeds_of_their_own(url: str, endpoint: Server) -> None:
    endpoint.respond = reply_right
    seeded = Decoding(seed=7)
    series = Series("sums", "self-consistency(samples=3)", "model-a", seeded)
    with Store(url) as store:
        async with OpenAI(Endpoint(endpoint.url, "model-a")) as served:
            job = prepare(store, series, sums(1), 2, Decoded(served, seeded))
            await run(store, [job], width=1)
    seeds = [body["seed"] for body in endpoint.requests]
    assert len(set(seeds)) == 6
    assert min(seeds) == 7


async def test_a_system_prompt_goes_ahead_of_every_call_and_makes_another_series(url: str) -> None:
    engine = Scripted(lambda call: right(call))
    told = replace(SERIES, method="cfr", system="Answer in English.")
    with Store(url) as store:
        for series in (replace(told, system=""), told):
            await run(store, [prepare(store, series, sums(1), 1, engine)], width=1)
    first = [call.messages[0] for call in engine.asked]
    assert [message.role for message in first] == ["user", "user", "system", "system"]
    assert {message.content for message in first[2:]} == {"Answer in English."}
