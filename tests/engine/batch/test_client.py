from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from batch_server import BatchServer, Provider

from constraint_first.model.batch import BatchClient, CannotList
from constraint_first.model.error import BadReply, ModelNotFound, Rejected, Unauthorized
from constraint_first.model.limit import Retry
from constraint_first.model.transport import Bounds, Endpoint

LINE = b'{"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {}}\n'


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer(Provider(lambda _: (200, {"choices": []}))) as running:
        yield running


@pytest.fixture
async def client(server: BatchServer) -> AsyncIterator[BatchClient]:
    endpoint = Endpoint(server.url + "?api-version=1", "m", "sk-0123456789")
    async with BatchClient(endpoint, Bounds(), Retry(first_pause=0.001)) as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "requests.jsonl"
    path.write_bytes(LINE)
    return path


async def test_a_file_goes_up_a_batch_is_made_and_results_come_down(
    server: BatchServer, client: BatchClient, path: Path
) -> None:
    file = await client.upload(path, "cfr-tag.jsonl")
    stored = server.provider.files[file]
    assert (stored.name, stored.purpose, stored.data) == ("cfr-tag.jsonl", "batch", LINE)
    made = await client.create(file, "tag", 0.0, made_before=False)
    assert (made.status, made.tag, made.input_file) == ("validating", "tag", file)
    while not (found := await client.look(made.id)).has_ended:
        pass
    await client.download(found.output_file, path)
    assert b'"custom_id": "a"' in path.read_bytes()
    assert server.asked == ["upload", "create", "look", "look", "look", "download"]
    assert server.keys == {"Bearer sk-0123456789"}


@pytest.mark.parametrize("keeps", [True, False])
async def test_a_batch_whose_reply_was_lost_is_found_and_not_made_again(
    server: BatchServer, client: BatchClient, path: Path, *, keeps: bool
) -> None:
    server.provider.keeps_metadata = keeps
    others = [await client.upload(path, "other") for _ in range(5)]
    for other in others[:2]:
        await client.create(other, "other", 0.0, made_before=False)
    file = await client.upload(path, "ours")
    lost = iter(["cut"])
    server.interrupt = lambda route, moment: (
        next(lost, None) if (route, moment) == ("create", "after") else None
    )
    made = await client.create(file, "ours", 0.0, made_before=False)
    for other in others[2:]:
        await client.create(other, "other", 0.0, made_before=False)
    assert len(server.provider.batches) == 6
    assert (await client.create(file, "ours", 0.0, made_before=True)).id == made.id
    assert len(server.provider.batches) == 6
    assert not server.provider.cancelled


async def test_of_two_batches_of_one_file_the_younger_is_cancelled(
    server: BatchServer, client: BatchClient, path: Path
) -> None:
    file = await client.upload(path, "ours")
    first = server.provider.create(
        {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    )
    await client.create(file, "ours", 0.0, made_before=False)
    found = await client.find(file, "ours", 0.0)
    assert found is not None
    assert found.id == first["id"]
    assert server.provider.cancelled == ["batch_2"]


async def test_one_that_was_never_made_is_not_found(
    server: BatchServer, client: BatchClient, path: Path
) -> None:
    file = await client.upload(path, "ours")
    assert await client.find(file, "ours", 0.0) is None
    made = await client.create(file, "ours", 0.0, made_before=True)
    assert made.id == "batch_1"
    # Those that are far older are not looked through.
    for _ in range(4):
        await client.create(await client.upload(path, "x"), "x", 0.0, made_before=False)
    server.asked.clear()
    assert await client.find("file-x", "tag", 3e9) is None
    assert server.asked == ["list"]


async def test_an_endpoint_that_does_not_list_is_told_apart(
    server: BatchServer, client: BatchClient
) -> None:
    server.provider.lists = False
    with pytest.raises(CannotList, match="HTTP 404"):
        await client.find("file-1", "tag", 0.0)


async def test_a_refusal_is_raised_at_once_and_in_words(
    server: BatchServer, client: BatchClient, path: Path
) -> None:
    server.interrupt = lambda _route, _moment: "401"
    with pytest.raises(Unauthorized, match="HTTP 401"):
        await client.upload(path, "x")
    server.interrupt = lambda _route, _moment: "400"
    with pytest.raises(Rejected, match="HTTP 400"):
        await client.create("file-1", "tag", 0.0, made_before=False)
    assert server.asked == ["upload", "create"]
    server.interrupt = lambda _route, _moment: None
    with pytest.raises(ModelNotFound):
        await client.look("batch_1/../x")


async def test_replies_that_make_no_sense_are_faults(
    server: BatchServer, client: BatchClient, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nameless(*_: object) -> dict[str, str]:
        return {"id": ""}

    def listed(_: str) -> list[str]:
        return ["odd"]

    monkeypatch.setattr(server.provider, "upload", nameless)
    with pytest.raises(BadReply, match="no id"):
        await client.upload(path, "x")
    monkeypatch.setattr(server.provider, "look", listed)
    server.provider.batches["b"] = {}
    with pytest.raises(BadReply, match="not a JSON object"):
        await client.look("b")


async def test_a_download_that_is_cut_begins_anew(
    server: BatchServer, client: BatchClient, path: Path, tmp_path: Path
) -> None:
    file = await client.upload(path, "x")
    faults = iter(["cut", "500", "429"])
    server.interrupt = lambda _route, moment: next(faults, None) if moment == "after" else None
    await client.download(file, tmp_path / "down")
    assert (tmp_path / "down").read_bytes() == LINE
    assert server.asked.count("download") == 4
