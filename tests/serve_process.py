"""``cfr serve`` as a process of its own, as a person starts it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serve_process(base_url: str, folder: Path, *arguments: str) -> Generator[str]:
    """Start a server in front of an endpoint, if any, give its address, and stop it afterwards."""
    command = [sys.executable, "-m", "constraint_first", "serve", "--port", "0", "--log", "off"]
    with subprocess.Popen(
        [*command, *(["--base-url", base_url] if base_url else []), *arguments],
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as process:
        assert process.stderr
        line = process.stderr.readline().decode()
        while line and "serving " not in line:  # a note that a part is not installed
            line = process.stderr.readline().decode()
        found = re.search(r"serving (http://127\.0\.0\.1:\d+)/v1 with ", line)
        try:
            assert found, line
            yield found[1]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode == 0
