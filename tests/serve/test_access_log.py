from aiohttp.test_utils import make_mocked_request

from constraint_first.protocol import Usage
from constraint_first.serve.context import Served, access_line, describe_access


def test_a_line_for_programs_and_one_for_people() -> None:
    headers = {"Authorization": "Bearer a-token"}
    request = make_mocked_request("POST", "/v1/chat/completions?token=secret", headers)
    served = Served(id="chatcmpl-1", model="direct@m", method="direct", upstream="m", stream=True)
    served.usage, served.error = Usage(10, 5), "it went wrong"
    served.spoke()
    line = access_line(request, served, 502)
    assert {"time", "id", "verb", "path", "status", "seconds", "first_word_seconds"} <= set(line)
    assert (line["path"], line["status"]) == ("/v1/chat/completions", 502)
    assert (line["input_tokens"], line["output_tokens"]) == (10, 5)
    said = describe_access(line)
    assert " 502 " in said
    assert said.endswith("POST /v1/chat/completions direct@m 10+5 tokens: it went wrong")
    assert "secret" not in f"{line}{said}"
    assert "a-token" not in f"{line}{said}"


def test_what_is_not_known_is_left_out() -> None:
    line = access_line(make_mocked_request("GET", "/health"), Served(), 200)
    assert not {"model", "method", "stream", "error", "input_tokens"} & set(line)
    assert describe_access(line).endswith("GET /health")
