"""``cfr serve`` as a person starts it."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from loopback import Endpoint as Server

from .conftest import Run


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "dirct"], "did you mean 'direct'"),
        (["--host", "0.0.0.0"], "give it a token"),  # noqa: S104
        (["--base-url", "nowhere"], "nowhere"),
        (["--model", "no-such-model"], "not in the catalogue"),
        (["--base-url", "http://127.0.0.1:9/v1", "--store", "no/such/folder.db"], "make it first"),
    ],
)
def test_a_mistake_is_one_line(cfr: Run, arguments: list[str], said: str) -> None:
    ran = cfr("serve", "--port", "0", *arguments)
    assert ran.code in (2, 3, 5)
    assert said in ran.err
    assert ran.err.count("\n") == 1


def test_a_port_that_is_taken(cfr: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        ran = cfr("serve", "--base-url", "http://127.0.0.1:9/v1", "--port", port)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"--port {port}: taken already" in ran.err


@pytest.mark.parametrize(
    ("log", "expected"),
    [("text", r" 200 .* GET /health\n"), ("json", r'"path": "/health"'), ("off", "")],
)
def test_it_serves_until_it_is_told_to_stop(
    endpoint: Server, tmp_path: Path, log: str, expected: str
) -> None:
    arguments = ["serve", "--port", "0", "--base-url", endpoint.url, "--log", log]
    with subprocess.Popen(
        [sys.executable, "-m", "constraint_first", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=os.environ,
    ) as process:
        assert process.stdout
        assert process.stderr
        line = process.stderr.readline()
        found = re.match(r"serving (http://127\.0\.0\.1:\d+)/v1 with auto in front of its", line)
        assert found, line
        with urllib.request.urlopen(f"{found[1]}/health") as reply:  # noqa: S310
            assert reply.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert re.search(expected, out) if expected else not out
    assert "Traceback" not in err
