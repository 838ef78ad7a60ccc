from constraint_first.attempt.drive import Scripted, digest, drive, put_ahead
from constraint_first.method.registry import make
from constraint_first.model.batch import Place, PlacedCall
from constraint_first.problem import Problem
from constraint_first.protocol import Message
from constraint_first.run.batch import placed


async def test_every_call_has_its_place_and_is_a_request_of_its_own() -> None:
    engine = Scripted(lambda _: r"\boxed{2}")
    as_sent = placed((1, 1, 2), put_ahead((Message("system", "be brief"),), 2_000))
    steps = make("self-consistency(samples=2)").solve(Problem("What is 1 + 1?"))
    run = await drive(steps, engine, as_sent=as_sent)
    for ordinal, (sent, exchange) in enumerate(zip(engine.asked, run.exchanges, strict=True)):
        assert isinstance(sent, PlacedCall)
        assert sent.place == Place(1, 1, 2, ordinal)
        assert sent.asked == digest(exchange.call)
        assert (sent.sample, sent.messages[0].content) == (2_000 + ordinal, "be brief")
