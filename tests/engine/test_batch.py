"""Batches: files, places, statuses, the client and the model."""

import json
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import orjson
import pytest
from batch_server import BatchServer, Provider

from constraint_first.error import InputError, OutputError
from constraint_first.model.batch import (
    NOT_PERFORMED,
    BadResult,
    BatchClient,
    BatchModel,
    BatchStatus,
    CannotList,
    Deferred,
    FileLimits,
    Place,
    PlacedCall,
    Request,
    RequestFile,
    RequestId,
    Result,
    ResultIndex,
    parse_request_id,
    read_result,
    read_status,
    request_line,
    short_digest,
)
from constraint_first.model.error import (
    BadReply,
    ModelNotFound,
    Redaction,
    Rejected,
    Transient,
    Unauthorized,
)
from constraint_first.model.limit import Retry
from constraint_first.model.transport import Bounds, DecodingRefused, Endpoint
from constraint_first.model.wire import Decoding
from constraint_first.protocol import Message, Usage

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
    body = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
    first = server.provider.create(body | {"input_file_id": file})
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
    assert (await client.create(file, "ours", 0.0, made_before=True)).id == "batch_1"
    # Those that are far older are not looked through.
    for _ in range(4):
        await client.create(await client.upload(path, "x"), "x", 0.0, made_before=False)
    server.asked.clear()
    assert await client.find("file-x", "tag", 3e9) is None
    assert server.asked == ["list"]
    server.provider.lists = False
    with pytest.raises(CannotList, match="HTTP 404"):
        await client.find("file-1", "tag", 0.0)


async def test_a_refusal_is_raised_at_once_and_in_words(
    server: BatchServer, client: BatchClient, path: Path
) -> None:
    server.interrupt = lambda route, _moment: {"upload": "401", "create": "400"}.get(route)
    with pytest.raises(Unauthorized, match="HTTP 401"):
        await client.upload(path, "x")
    with pytest.raises(Rejected, match="HTTP 400"):
        await client.create("file-1", "tag", 0.0, made_before=False)
    assert server.asked == ["upload", "create"]
    with pytest.raises(ModelNotFound):
        await client.look("batch_1/../x")


async def test_replies_that_make_no_sense_are_faults(
    server: BatchServer, client: BatchClient, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.provider, "upload", Mock(return_value={"id": ""}))
    monkeypatch.setattr(server.provider, "look", Mock(return_value=["odd"]))
    with pytest.raises(BadReply, match="no id"):
        await client.upload(path, "x")
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


# --- Lines of batch files against the documented formats of OpenAI's batch API and vLLM.


BODY = {"model": "m", "messages": [{"role": "user", "content": "1 + 1 = \n ü?"}], "max_tokens": 9}


def test_a_request_is_one_line_with_the_four_documented_fields() -> None:
    line = request_line("s1-p1-r0-c0", orjson.dumps(BODY))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "custom_id": "s1-p1-r0-c0",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": BODY,
    }


def written(**fields: Any) -> bytes:
    return json.dumps({"id": "batch_req_1", "custom_id": "a", **fields}).encode()


@pytest.mark.parametrize(
    ("status", "body", "error", "said"),
    [
        (200, {"choices": []}, None, b'{"choices":[]}'),
        (400, {"error": {"message": "no"}}, None, b'{"error":{"message":"no"}}'),
        (502, "<html>", None, b"<html>"),
        # vLLM refuses with a status and an error beside the response.
        (400, None, {"error": {"message": "too long"}}, b'{"error":{"message":"too long"}}'),
        (400, None, {"message": "too long"}, b'{"error":{"message":"too long"}}'),
        (400, None, "too long", b'{"error":"too long"}'),
        # A request that was not performed has no response.
        (0, None, {"message": "expired"}, b'{"error":{"message":"expired"}}'),
        (0, None, {"code": "batch_cancelled"}, b'{"error":{"code":"batch_cancelled"}}'),
    ],
)
def test_a_result_is_a_status_and_a_body(status: int, body: Any, error: Any, said: bytes) -> None:
    response = {"status_code": status, "request_id": "req_1", "body": body} if status else None
    name, result = read_result(written(response=response, error=error))
    assert name == "a"
    assert result == Result(status, said, cancelled=b"cancelled" in said)
    assert result.succeeded == (status == 200)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"", "not JSON"),
        (b'{"custom_id": "a", "resp', "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"{}", "no custom_id"),
        (b'{"custom_id": 3}', "no custom_id"),
        (b'{"custom_id": "a"}', "neither a response nor an error"),
        (b'{"custom_id": "a", "response": {}}', "no status_code"),
        (b'{"custom_id": "a", "response": {"status_code": true}}', "no status_code"),
        (b'{"custom_id": "a", "response": {"status_code": 9999}}', "no status_code"),
    ],
)
def test_what_is_no_result_says_what_is_wrong(line: bytes, why: str) -> None:
    with pytest.raises(BadResult, match=why):
        read_result(line)


CALL = PlacedCall(
    (Message("user", "What is 1 + 1?"),),
    "direct",
    100,
    json=True,
    place=Place(1, 2, 3, 4),
    asked="x",
)

REPLY = {
    "choices": [{"message": {"content": "2"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 1},
}


def wave(find: Callable[[RequestId], Result | None], tries: int = 1) -> Mock:
    """Play a wave, which has some results and lets so many tries fail."""
    return Mock(find=find, failed=Mock(side_effect=[True] * tries + [False] * 9))


def requests(waves: Mock) -> list[Request]:
    return [one.args[0] for one in waves.ask.call_args_list]


def used(waves: Mock) -> list[Usage | None]:
    return [one.args[1] for one in waves.spent.call_args_list]


def said(status: int, body: Any) -> Result:
    return Result(status, json.dumps(body).encode())


def refused(message: str) -> Result:
    return said(400, {"error": {"message": message}})


def model(waves: Mock) -> BatchModel:
    made = BatchModel(Endpoint("http://a/v1", "m"), "http://a/v1", Bounds())
    made.wave = waves
    return made


async def test_a_call_without_a_result_is_deferred_and_becomes_a_request() -> None:
    waves = wave(lambda _: None)
    with pytest.raises(Deferred):
        await model(waves).complete(CALL, decoding=Decoding(seed=5))
    (request,) = requests(waves)
    assert request.name.place == CALL.place
    assert json.loads(request.body) == {
        "model": "m",
        "messages": [{"role": "user", "content": "What is 1 + 1?"}],
        "max_tokens": 100,
        "temperature": 0.7,
        "top_p": 0.95,
        "seed": 5,
        "response_format": {"type": "json_object"},
    }
    assert request.most == Usage(14 + 64, 100)


async def test_a_result_is_the_completion() -> None:
    waves = wave(lambda _: said(200, REPLY))
    completion = await model(waves).complete(CALL)
    assert (completion.text, completion.usage) == ("2", Usage(5, 1))
    assert used(waves) == [Usage(5, 1)]
    assert not requests(waves)


async def test_a_parameter_that_is_refused_is_left_out_of_the_next_request() -> None:
    results = {0: refused("response_format is unknown")}
    waves = wave(lambda _: results.pop(0, None))
    with pytest.raises(Deferred):
        await model(waves).complete(CALL)
    (request,) = requests(waves)
    assert "response_format" not in json.loads(request.body)
    assert used(waves) == [Usage()]


@pytest.mark.parametrize(
    ("message", "kind", "said"),
    [
        ("bad", Rejected, r"http://a/v1: HTTP 400 \(bad\)"),
        ("temperature is not supported", DecodingRefused, "choose another --temperature"),
    ],
)
async def test_a_refusal_and_a_refused_setting_are_those_of_an_ordinary_call(
    message: str, kind: type[Rejected], said: str
) -> None:
    waves = wave(lambda _: refused(message))
    with pytest.raises(kind, match=said):
        await model(waves).complete(CALL, decoding=Decoding())


@pytest.mark.parametrize(
    ("result", "taken"),
    [
        (said(500, {"error": {"message": "down"}}), Usage()),
        (Result(NOT_PERFORMED, b'{"error": {"message": "expired"}}'), Usage()),
        (said(200, {"odd": True}), None),
    ],
)
async def test_what_may_pass_is_asked_again_as_often_as_it_may(
    result: Result, taken: Usage | None
) -> None:
    waves = wave(lambda _: result)
    asked = model(waves)
    with pytest.raises(Deferred):
        await asked.complete(CALL)
    assert (len(requests(waves)), used(waves)) == (1, [taken])
    with pytest.raises(Transient, match=r"down|expired|no choices"):
        await asked.complete(CALL)
    assert len(requests(waves)) == 1


async def test_what_somebody_cancelled_is_not_asked_again() -> None:
    waves = wave(lambda _: Result(NOT_PERFORMED, b"cancelled", cancelled=True))
    with pytest.raises(Rejected, match="not performed"):
        await model(waves).complete(CALL)


async def test_it_is_asked_between_waves_alone() -> None:
    made = BatchModel(Endpoint("http://a/v1", "m", context=4_096), "http://a/v1", Bounds())
    assert (made.model, made.context) == ("m", 4_096)
    with pytest.raises(RuntimeError, match="between two waves"):
        await made.complete(CALL)


PLACE = Place(3, 17, 2, 1)
NAME = RequestId(PLACE, short_digest(b"call"), short_digest(b"body"))


def test_a_custom_id_says_where_a_result_belongs_and_what_was_asked() -> None:
    assert str(NAME) == f"s3-p17-r2-c1-{NAME.asked}-{NAME.body}"
    assert parse_request_id(str(NAME)) == NAME
    assert len(str(RequestId(Place(*[2**31] * 4), NAME.asked, NAME.body))) <= 77
    assert len(str(NAME)) <= 64
    assert NAME.digests == f"{NAME.asked}-{NAME.body}"


@pytest.mark.parametrize("other", ["", "request-1", "s1-p1-r0-c0", str(NAME) + "0", f" {NAME}"])
def test_a_custom_id_of_somebody_else_is_none_of_ours(other: str) -> None:
    assert parse_request_id(other) is None


def test_a_file_is_full_at_so_many_requests_or_bytes(tmp_path: Path) -> None:
    file = RequestFile(tmp_path / "a.jsonl", FileLimits(requests=2, size=100))
    file.add(b"x" * 9 + b"\n")
    assert file.has_room(b"x" * 90)
    assert not file.has_room(b"x" * 91)
    file.add(b"y\n")
    assert not file.has_room(b"z\n")
    assert file.path.read_bytes() == b"xxxxxxxxx\ny\n"
    assert (file.requests, file.size) == (2, 12)
    with pytest.raises(OutputError, match="cannot be written"):
        RequestFile(tmp_path / "none" / "a.jsonl").add(b"x\n")


DIGEST = "0123456789ab"


def name(problem: int) -> str:
    return str(RequestId(place(problem), DIGEST, DIGEST))


def place(problem: int) -> Place:
    return Place(1, problem, 0, 0)


def line(custom_id: str, status: int = 200, body: Any = "reply") -> str:
    response = {"status_code": status, "body": body}
    return json.dumps({"custom_id": custom_id, "response": response, "error": None}) + "\n"


def body_of(index: ResultIndex, problem: int) -> bytes | None:
    if (found := index.find(place(problem))) is None:
        return None
    assert str(found.request) == name(problem)
    return found.result.body


def test_results_are_found_by_place_in_whatever_order_they_stand(tmp_path: Path) -> None:
    output, errors = tmp_path / "output.jsonl", tmp_path / "errors.jsonl"
    output.write_text("\n" + line(name(2), body="two") + line(name(1), body="one"))
    errors.write_text(line(name(3), 400, body="no").rstrip("\n"))
    index = ResultIndex(10_000)
    read = index.read([output, errors], {name(1), name(2), name(3), name(4)})
    assert [body_of(index, n) for n in (1, 2, 3, 4)] == [b"one", b"two", b"no", None]
    assert [one.request.place for one in read.failed] == [place(3)]
    assert (read.missing, read.answered, len(index)) == ({name(4)}, 2, 3)
    assert not read.odd


def test_lines_that_cannot_be_used_are_counted_by_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    lines = ["not json\n", line("request-1"), line(name(9)), line(name(1), 500)]
    lines += [line(name(1), body="first"), line(name(1), body="second")]
    path.write_text("".join([*lines, line(name(2), body="x" * 3_000), line(name(3), body="third")]))
    index = ResultIndex(1_000)
    read = index.read([path], {name(1), name(2), name(3)})
    assert str(read) == (
        "1 × a line that is no result (not JSON); 2 × a result that nobody asked for; "
        "1 × a second line for one request; 1 × a line larger than 0.001 MB"
    )
    assert [body_of(index, n) for n in (1, 2, 3)] == [b"first", None, b"third"]
    assert not read.failed
    assert read.missing == {name(2)}


def test_a_large_file_is_not_held_in_memory(tmp_path: Path) -> None:
    path, wanted = tmp_path / "output.jsonl", [name(n) for n in range(200)]
    with path.open("w") as file:
        file.writelines(line(one, body="x" * 100_000) for one in wanted)
    tracemalloc.start()
    index = ResultIndex(10**6)
    assert index.read([path], set(wanted)).answered == 200
    assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 10
    tracemalloc.stop()
    assert len(body_of(index, 199) or b"") == 100_000


def test_a_file_that_changes_meanwhile_is_named(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    path.write_text(line(name(1)))
    index = ResultIndex(10_000)
    index.read([path], {name(1)})
    path.write_text("")
    with pytest.raises(InputError, match="changed while it was read"):
        index.find(place(1))
    with pytest.raises(InputError, match="cannot be read"):
        index.read([tmp_path / "none"], set())


DOCUMENTED: Any = {
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


def test_a_batch_is_read_as_documented() -> None:
    assert read_status(DOCUMENTED, "cfr") == BatchStatus(
        "batch_abc123", "completed", "file-abc123", "file-cvaTdG", "file-HOWS94", 95, 5,
        1711471533.0, "tag",
    )  # fmt: skip
    for status in ("validating", "in_progress", "finalizing", "cancelling"):
        assert not read_status(DOCUMENTED | {"status": status}, "cfr").has_ended, status
    for status in ("completed", "failed", "expired", "cancelled"):
        assert read_status(DOCUMENTED | {"status": status}, "cfr").has_ended, status


def test_a_batch_that_failed_says_why_without_the_key() -> None:
    error = {"code": "invalid_model", "message": "no model for sk-0123456789", "line": 3}
    failed = DOCUMENTED | {"errors": {"object": "list", "data": [error]}}
    found = read_status(failed, "cfr", Redaction(("sk-0123456789",)))
    assert found.reason == "invalid_model: no model for [key]"
    assert read_status(DOCUMENTED | {"errors": ["odd"]}, "cfr").reason == "odd"


def test_what_makes_no_sense_is_left_out() -> None:
    odd: dict[str, Any] = {"output_file_id": 3, "error_file_id": "a\nb", "request_counts": []}
    odd |= {"metadata": "x", "created_at": "now", "errors": 7}
    found = read_status(DOCUMENTED | odd, "cfr")
    assert found == BatchStatus("batch_abc123", "completed", "file-abc123")


@pytest.mark.parametrize("value", [None, [], {}, {"id": "a"}, {"id": "", "status": "completed"}])
def test_what_is_no_batch_is_a_fault(value: Any) -> None:
    with pytest.raises(BadReply, match="not a batch"):
        read_status(value, "cfr")
