"""Requests to one endpoint: its address, its refusals, and nothing of its key."""

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Endpoint as Server
from loopback import Reply, completion, failure, gzip_bomb, http, large
from snapshot import Golden

from constraint_first.model.error import (
    NOTHING_SECRET,
    BadReply,
    EngineError,
    ModelNotFound,
    RateLimited,
    Redaction,
    Rejected,
    ServerFault,
    StreamCut,
    Transient,
    Unauthorized,
    Unreachable,
)
from constraint_first.model.transport import (
    Bounds,
    DecodingRefused,
    Endpoint,
    Incoming,
    Transport,
    read_beginning,
    refusal,
    without_secrets,
)
from constraint_first.model.wire import Decoding

# --- Requests over a real connection: whatever comes back is bounded, and every fault has a name.


GOOD = str(completion("4").body).encode()
GZIP = {"Content-Encoding": "gzip"}
SMALL = Bounds(silence=5, reply_bytes=100_000)


@asynccontextmanager
async def opened(endpoint: Endpoint, bounds: Bounds = SMALL) -> AsyncGenerator[Transport]:
    transport = Transport(endpoint, bounds, connections=4)
    transport.open()
    try:
        yield transport
    finally:
        await transport.close()


@asynccontextmanager
async def accepted(endpoint: Endpoint, bounds: Bounds = SMALL) -> AsyncGenerator[Incoming]:
    async with (
        opened(endpoint, bounds) as transport,
        transport.exchange("POST", "chat/completions", b"{}") as response,
    ):
        yield await transport.accept(response)


async def ask(server: Server, bounds: Bounds = SMALL, key: str = "") -> bytes:
    async with accepted(Endpoint(server.url, "m", key), bounds) as incoming:
        return await incoming.read()


async def lines(server: Server) -> list[bytes]:
    async with accepted(Endpoint(server.url, "m")) as incoming:
        assert not await incoming.is_document()
        return [line async for line in incoming.lines()]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=GOOD),
        Reply(status=201, body=GOOD),
        Reply(status=206, body=GOOD),
        Reply(body=gzip.compress(GOOD), headers=GZIP),
        Reply(body=gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]), headers=GZIP),
        Reply(chunks=[bytes([byte]) for byte in GOOD]),
        Reply(raw=http(GOOD, "Content-Type: application/json", version="1.0")),
        Reply(raw=http(GOOD, status="200")),
        Reply(raw=b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + http(GOOD)),
        Reply(raw=http(GOOD, "Content-Type: ;=;charset=klingon", f"Content-Length: {len(GOOD)}")),
    ],
)
async def test_a_reply_is_read_however_it_is_sent(endpoint: Server, reply: Reply) -> None:
    endpoint.script(reply)
    assert await ask(endpoint) == GOOD


CHUNKED = "Transfer-Encoding: chunked"
BEGUN = b"HTTP/1.1 200 OK\r\nContent-Le"


@pytest.mark.parametrize(
    ("kind", "said", "reply"),
    [
        (StreamCut, "cut in the middle", Reply(raw=http(GOOD, "Content-Length: 900"))),
        (StreamCut, "cut in the middle", Reply(raw=http(GOOD, "Content-Length: 900"), cut=True)),
        (StreamCut, "cut in the middle", Reply(raw=BEGUN)),
        (StreamCut, "cut in the middle", Reply(raw=http(b"5\r\n{'a':\r\n50\r\n", CHUNKED))),
        (StreamCut, "connection was cut", Reply(raw=BEGUN, cut=True)),
        (StreamCut, "connection was cut", Reply(raw=b"", cut=True)),
        (StreamCut, "damaged", Reply(body=b"no gzip at all" * 9, headers=GZIP)),
        (BadReply, "read as HTTP", Reply(raw=http(b"5\r\n{'a':\r\nZZ\r\n", CHUNKED))),
        (BadReply, "read as HTTP", Reply(raw=http(GOOD, "Content-Length: -5"))),
        (BadReply, "read as HTTP", Reply(raw=http(GOOD, f"Content-Length: {10**30}"))),
        (
            BadReply,
            "read as HTTP",
            Reply(raw=http(GOOD, *(f"Content-Length: {n}" for n in (5, 7)))),
        ),
        (BadReply, "read as HTTP", Reply(raw=http(GOOD, f"X: {'a' * 100_000}"))),
        (BadReply, "read as HTTP", Reply(raw=http(GOOD, *["X: y"] * 50_000))),
        (BadReply, "read as HTTP", Reply(raw=b"HTTP/2 200 OK\r\n\r\n{}")),
        (BadReply, "with http:// or https://", Reply(raw=b"\x15\x03\x01\x00\x02\x02\x46")),
        (ServerFault, "HTTP 101", Reply(raw=http(b"", status="101 Switching Protocols"))),
        (ServerFault, "HTTP 0", Reply(raw=http(GOOD, status="000 None"))),
        (Rejected, "redirects", Reply(302, headers={"Location": "/v1/chat/completions"})),
        (Rejected, "HTTP 400 (no)", Reply(400, chunks=['{"error": {"message": "n', 'o"}}'])),
        (Unauthorized, "HTTP 401", Reply(401, chunks=['{"error": {"mess'], cut=True)),
    ],
)
async def test_every_fault_of_a_connection_has_a_name(
    endpoint: Server, reply: Reply, kind: type[EngineError], said: str
) -> None:
    endpoint.script(reply)
    with pytest.raises(kind) as caught:
        await ask(endpoint)
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert str(caught.value).isprintable()


async def test_a_connection_that_was_closed_meanwhile_is_made_anew(endpoint: Server) -> None:
    endpoint.script(Reply(raw=http(GOOD)), Reply(body=GOOD))
    for _ in range(2):
        assert await ask(endpoint) == GOOD
    with pytest.raises(Unreachable, match="cannot be reached"):  # the port speaks no TLS
        await accepted(Endpoint(endpoint.url.replace("http:", "https:"), "m")).__aenter__()


@pytest.mark.parametrize(
    "reply",
    [
        large(1),
        gzip_bomb(20),
        Reply(endless=b'{"a":' * 1_000),
        Reply(raw=http(GOOD, "Content-Length: 999999999")),
    ],
)
async def test_a_reply_is_read_only_so_far(endpoint: Server, reply: Reply) -> None:
    endpoint.script(reply)
    with pytest.raises(BadReply, match=r"larger than 0\.1 MB .* --max-reply-bytes"):
        await ask(endpoint)
    assert not reply.endless or endpoint.left.wait(10)  # it hung up


async def test_a_reply_may_be_as_large_as_is_allowed(endpoint: Server) -> None:
    endpoint.script(large(3))
    whole = await ask(endpoint, Bounds(reply_bytes=4_000_000))
    assert len(json.loads(whole)["choices"][0]["message"]["content"]) == 3_000_000
    endpoint.script(Reply(400, endless=b"no " * 1_000))
    with pytest.raises(Rejected, match=r"HTTP 400 \(no no no"):
        await ask(endpoint)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
async def test_lines_may_end_in_any_way(endpoint: Server, end: str) -> None:
    sent = f": hello{end}{end}data: 1{end}{end}data: é".encode()
    for pieces in ([sent], [bytes([byte]) for byte in sent], [b"\xef\xbb\xbf" + sent]):
        endpoint.script(Reply(chunks=pieces))
        found = [line.decode() for line in await lines(endpoint) if line]
        assert found == [": hello", "data: 1", "data: é"]


async def test_a_line_has_an_end_or_is_a_fault(endpoint: Server) -> None:
    endpoint.script(Reply(chunks=["data: x\n"], endless=b"a" * 10_000))
    with pytest.raises(BadReply, match="larger than"):
        await lines(endpoint)


async def test_nothing_is_sent_with_an_address_or_a_key_that_cannot_be(endpoint: Server) -> None:
    for bad in (Endpoint("127.0.0.1:80/v1", "m"), Endpoint(endpoint.url, "m", "k\n")):
        with pytest.raises(Rejected):
            Transport(bad, SMALL, connections=1).open()
    with pytest.raises(RuntimeError, match="async with"):
        async with Transport(Endpoint(endpoint.url, "m"), SMALL, 1).exchange("GET", "models"):
            pass
    assert not endpoint.headers


async def test_what_a_connection_says_about_itself_holds_no_key(endpoint: Server) -> None:
    key = "sk-0123456789abcdef"
    for reply in (
        failure(401, "x" * 165 + f" key: Bearer {key}"),
        Reply(raw=http(GOOD, f"Content-Length: {key}")),
    ):
        endpoint.script(reply)
        with pytest.raises(EngineError) as caught:
            await ask(endpoint, key=key)
        assert "[key]" in str(caught.value)
        assert not any(key[n : n + 6] in str(caught.value) for n in range(len(key) - 6))


PROGRAM = """
import asyncio, resource, sys
from constraint_first.model.wire import Watcher
from constraint_first.model.error import EngineError
from constraint_first.model.client import OpenAI
from constraint_first.model.limit import Retry
from constraint_first.model.transport import Endpoint
from constraint_first.protocol import Call

CALL = Call.user("2+2", stage="direct", max_tokens=9)

async def main():
    async with OpenAI(Endpoint(sys.argv[1], "m"), retry=Retry(attempts=1)) as engine:
        asked = [engine.complete(CALL, Watcher()), *(engine.complete(CALL) for _ in range(7))]
        for result in await asyncio.gather(*asked, return_exceptions=True):
            assert isinstance(result, EngineError), result
            assert "larger than 16 MB" in str(result), result

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
asyncio.run(main())
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["large", "bomb"])
def test_eight_replies_of_200_mb_at_once_fit_into_little_memory(
    endpoint: Server, kind: str, tmp_path: Path
) -> None:
    endpoint.script(large(200) if kind == "large" else _text_bomb(200))
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(program), endpoint.url], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 100  # megabytes more than before


def _text_bomb(megabytes: int) -> Reply:
    """A proper completion of so many megabytes, compressed."""
    packed = gzip.compress(GOOD.replace(b"4", b"a" * megabytes * 10**6, 1))
    return Reply(body=packed, headers=GZIP)


async def test_another_model_of_the_endpoint_is_asked_over_the_same_connections(
    endpoint: Server,
) -> None:
    async with opened(Endpoint(endpoint.url, "m", "secret-key")) as transport:
        lent = transport.lend(Endpoint(endpoint.url, "other", "secret-key"))
        assert lent.is_open
        endpoint.script(failure(404, "no such model"))
        with pytest.raises(EngineError, match="'other'"):
            async with lent.exchange("POST", "chat/completions", b"{}") as response:
                await lent.accept(response)
        assert endpoint.headers[0]["Authorization"] == "Bearer secret-key"


async def test_an_exchange_gives_whatever_comes_back(endpoint: Server) -> None:
    endpoint.script(failure(418, "a teapot", Retry_After="7"))
    async with opened(Endpoint(endpoint.url, "m")) as transport:
        async with transport.exchange("POST", "chat/completions", b"{}", {"X-Own": "1"}) as reply:
            assert reply.status == 418
            assert reply.headers["Retry-After"] == "7"
            assert b"a teapot" in await read_beginning(reply)
        assert endpoint.headers[0]["X-Own"] == "1"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://me:hush@host:8000/v1", "https://host:8000/v1"),
        ("https://hush@host/v1", "https://host/v1"),
        ("https://me:hu@sh@host/v1", "https://host/v1"),
        ("https://host/v1?token=hush", "https://host/v1"),
        ("https://host/v1#hush", "https://host/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://me:hush@[::1/v1?token=hush", "http://[::1/v1"),
        ("not an address", "not an address"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_what_could_be_a_key(address: str, shown: str) -> None:
    assert without_secrets(address) == Endpoint(address, "m").shown == shown


KEY = "sk-0123456789abcdef"


@pytest.mark.parametrize(
    ("way_out", "urls"),
    [
        (
            "begin with http:// or https://",
            ["127.0.0.1:8801/v1", "localhost:8000/v1", "not an address", "", "ftp://host/v1"],
        ),
        (
            "its host or its port cannot be",
            [
                *("http://", "http:///v1", "http://a..b/v1", "http://-host/v1", "http://[::1/v1"),
                *(f"http://{'a' * 64}.example/v1", f"http://{'a.' * 130}b/v1"),
                *("http://host:99999/v1", "http://host:0/v1", "http://[zz::1]/v1"),
                "http://me:pa/ss@host/v1",
            ],
        ),
        (
            "a space or a control character",
            ["http://ho st/v1", "http://host/v1\n", "http://host/\x1b[31m"],
        ),
        ("leave /chat/completions out", ["http://host/v1/chat/completions"]),
    ],
)
def test_an_address_that_cannot_be(way_out: str, urls: list[str]) -> None:
    for url in urls:
        with pytest.raises(Rejected) as caught:
            Endpoint(url, "m").check()
        assert way_out in str(caught.value)
        assert str(caught.value).isprintable()
        assert "pa/ss" not in str(caught.value)


@pytest.mark.parametrize("odd", ["\n", "\0", "\x7f", "…", "\udce9", "ключ"])
def test_a_key_that_cannot_be_sent(odd: str) -> None:
    with pytest.raises(Unauthorized, match=r"^MY_KEY: .*U\+[0-9A-F]{4}\); set it again$") as caught:
        Endpoint("http://h/v1", "m", KEY + odd, "MY_KEY").check()
    assert KEY[:8] not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (
            "https://host/v1/?api-version=2024-02-01",
            "https://host/v1/models?api-version=2024-02-01",
        ),
        ("http://h", "http://h/models"),
        ("http://127.0.0.1:8801/v1", "http://127.0.0.1:8801/v1/models"),
        ("http://[::1]:8000/v1/", "http://[::1]:8000/v1/models"),
        ("http://under_score:80/v1", "http://under_score:80/v1/models"),
        ("http://münchen.example/v1", "http://münchen.example/v1/models"),
        ("http://me:hush@host/v1", "http://me:hush@host/v1/models"),
    ],
)
def test_services_stand_ahead_of_the_query(address: str, url: str) -> None:
    endpoint = Endpoint(address, "m")
    endpoint.check()
    assert endpoint.url("models") == url


def test_everything_that_is_sent_in_secret_is_blotted_out() -> None:
    endpoint = Endpoint("https://me:hush@host/v1?token=t0k3n-of-mine", "m", KEY)
    basic = base64.b64encode(b"me:hush").decode()
    said = f"no {KEY} and hush and {basic} and t0k3n-of-mine"
    assert endpoint.redaction.quote(said) == "no [key] and [key] and [key] and [key]"
    assert KEY not in repr(endpoint)
    with pytest.raises(Unauthorized, match="only one of them can be sent") as caught:
        endpoint.check()
    assert "hush" not in str(caught.value)
    assert KEY not in str(caught.value)


LIVE_KEY = "sk-live/AbC+dEf=0123456789"
REDACTION = Redaction((LIVE_KEY,))


@pytest.mark.parametrize(
    "written",
    [
        LIVE_KEY,
        quote(LIVE_KEY, safe=""),
        quote_plus(LIVE_KEY),
        quote(LIVE_KEY, safe="").replace("%2F", "%2f"),
        json.dumps(LIVE_KEY)[1:-1].replace("/", "\\/"),
        LIVE_KEY.replace("+", "\\u002b").replace("=", "\\u003D"),
        "".join(f"\\u{ord(c):04x}" for c in LIVE_KEY),
    ],
)
def test_a_key_is_blotted_out_however_it_is_written(written: str) -> None:
    assert REDACTION.quote(f"wrong key {written}!") == "wrong key [key]!"


@pytest.mark.parametrize("at", range(150, 205))
def test_a_text_is_cut_only_after_the_key_is_out(at: int) -> None:
    shown = REDACTION.quote("x" * at + " key: " + LIVE_KEY)
    assert len(shown) <= 200
    assert not any(LIVE_KEY[n : n + 4] in shown for n in range(len(LIVE_KEY) - 4))


@pytest.mark.parametrize(
    ("secrets", "said", "shown"),
    [
        (("k",), "key k of Bearer k, ok?", "key [key] of Bearer [key], ok?"),
        (("EMPTY",), "NONEMPTY EMPTY", "NONEMPTY [key]"),
        (("abcdefgh12", "12345678"), "<abcdefgh12345678>", "<[key]>"),
        ((LIVE_KEY,), f"{LIVE_KEY[:12]}********{LIVE_KEY[-9:]}", "[key]********[key]"),
        ((LIVE_KEY,), f"it begins with {LIVE_KEY[:7]}", f"it begins with {LIVE_KEY[:7]}"),
    ],
)
def test_a_short_key_is_blotted_out_as_a_word_alone(
    secrets: tuple[str, ...], said: str, shown: str
) -> None:
    assert Redaction(secrets).quote(said) == shown
    assert not any(secret in repr(Redaction(secrets)) for secret in secrets if len(secret) > 8)


def test_a_quotation_is_one_line_that_can_be_shown_and_stored() -> None:
    said = "no\n\nsuch \x1b[31mmodel\0 \ud83d " + "x" * 500
    shown = NOTHING_SECRET.quote(said)
    assert shown.startswith("no such \N{REPLACEMENT CHARACTER}[31mmodel")
    assert len(shown) == 200
    assert shown.isprintable()
    assert shown.encode()


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from([LIVE_KEY, "k", "p4ss"]))
def test_no_text_around_a_key_brings_it_through(before: str, after: str, key: str) -> None:
    shown = Redaction((key,)).quote(f"{before} {key} {after}")
    if len(key) >= 8:
        assert key not in shown
    assert len(shown) <= 200
    assert "\n" not in shown


def test_a_text_without_a_secret_is_clean() -> None:
    assert REDACTION.is_clean("nothing of the kind, however long " * 500)
    assert NOTHING_SECRET.is_clean(LIVE_KEY)
    assert not REDACTION.is_clean("x" * 5_000 + quote(LIVE_KEY, safe=""))


ENDPOINT = Endpoint("http://h/v1", "m", key_name="MY_KEY")
REFUSALS = {
    401: ["no"],
    403: ["no"],
    404: ["no"],
    302: ["no"],
    422: ["no"],
    429: ["slow down"],
    500: ["no"],
    503: ["no"],
    408: ["no"],
    400: [
        "no",
        # A setting that the model does not take.
        "Unsupported value: 'temperature' does not support 0.7 with this model.",
        "temperature is not supported with this model",
        "invalid temperature: only 1 is allowed for this model",
        "Unrecognized request argument supplied: top_p",
        "`temperature` and `top_p` cannot both be specified for this model.",
        "body.top_p: Extra inputs are not permitted",
        "seed: unexpected field",
        # A budget that it does not take.
        "max_tokens is too large: 32768. This model supports at most 8192 completion tokens",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
        "Range of max_tokens should be [1, 8192]",
        "max_tokens: 32768 > 8192, which is the maximum allowed number of output tokens",
        "`max_tokens` must be less than or equal to `8192`, the maximum value",
        "max_completion_tokens must be <= 8192",
        "x" * 300 + "max_tokens exceeds the maximum of 8192",
        # A value that is refused, which nothing replaces.
        "temperature must be between 0 and 1",
        "seed must be positive",
        "max_tokens must be > 0",
        "max_tokens must be at most 99999999999999999999",
        "The temperature in the problem" + " is high." * 20 + " This is not supported",
        # A parameter that is not known.
        "response_format is not supported",
        "json_object mode unknown",
        "Unknown field stream_options",
        "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
        # A problem that is too long.
        "This model's maximum context length is 8192 tokens. However",
        "request (6031 tokens) exceeds the available context size (2048 tokens)",
        "prompt is too long",
    ],
}


def refused(status: int, message: str = "no", **headers: str) -> EngineError:
    body = json.dumps({"error": {"message": message}}).encode()
    return refusal(ENDPOINT, status, headers, body)


def test_each_refusal_is_understood_and_names_the_way_out(golden: Golden) -> None:
    lines: list[str] = []
    for status, messages in REFUSALS.items():
        for error in (refused(status, message) for message in messages):
            assert error.status == status
            known = ("setting", "most", "parameter", "limit")
            found = {n: value for n in known if (value := getattr(error, n, None)) is not None}
            lines += [f"{type(error).__name__} {found}", f"    {error}"]
    assert "\n".join(lines) + "\n" == golden("refusals.txt")


def test_a_setting_that_is_refused_is_left_out_or_lowered() -> None:
    error = refused(400, "temperature is not supported")
    assert isinstance(error, DecodingRefused)
    assert (error.model, error.change) == ("m", "temperature is refused by the model and not sent")
    assert error.adapt(Decoding(seed=5)) == Decoding(None, seed=5)
    error = refused(400, "max_completion_tokens must be <= 8192")
    assert isinstance(error, DecodingRefused)
    assert error.adapt(Decoding()) == Decoding(max_tokens=8192)
    assert error.adapt(Decoding(max_tokens=9000)) == Decoding(max_tokens=9000)


def test_a_spent_account_is_not_asked_again() -> None:
    assert not isinstance(refused(429, "You exceeded your current quota"), Transient)


@pytest.mark.parametrize(
    ("message", "after", "pause"),
    [
        ("Quota exceeded for requests per minute", "1", 1),
        ("You exceeded your current quota", "20", 20),
        ("Quota exceeded for requests per minute", None, None),
        ("You exceeded your current quota. Please retry in 38.5s.", None, 38.5),
        ("Rate limit reached. Please try again in 20s.", None, 20),
        ("slow down", "Mon, 01 Jan 2030 00:00:00 +99999999999999999", None),
        ("slow down", "nan", None),
    ],
)
def test_a_quota_that_time_refills_is_waited_for(
    message: str, after: str | None, pause: float | None
) -> None:
    error = refused(429, message, **({"Retry-After": after} if after else {}))
    assert isinstance(error, RateLimited)
    assert error.retry_after == pause


@pytest.mark.parametrize(
    ("url", "way_out"),
    [
        ("http://h:8000", "most addresses end in /v1: try http://h:8000/v1"),
        ("http://me:hush@h/?token=hush", "try http://h/v1"),
        ("http://h/v1", "check the model name 'm' and the address"),
    ],
)
def test_a_path_that_leads_nowhere_suggests_the_usual_one(url: str, way_out: str) -> None:
    for status in (404, 405):
        error = refusal(Endpoint(url, "m"), status, {}, b"Not Found")
        assert type(error) is ModelNotFound
        assert way_out in str(error)
        assert "hush" not in str(error)
