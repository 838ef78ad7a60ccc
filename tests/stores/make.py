"""Make a store with the code of a commit of this repository: see README.md beside this file.

python tests/stores/make.py WORKTREE NAME
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).parent
METHODS = ("direct", "cfr", "routed-cfr")
# By a word of the problem: what the model answers, right or wrong, and not always in a box.
ANSWERS = {
    "remainder of 1": "Counting from 1 to 99 gives \\boxed{15}.",
    "17 + 25": "17 + 25 = 42, so the answer is **42**.",
    "both 6 and 8": "6 · 8 = 48. Final answer: \\boxed{48}",
    "Two fair coins": "The probability is 1/4, so m + n = \\boxed{m+n=5}.",
}
CONSTRAINTS = {
    "problem_summary": "A whole number is asked for.",
    "raw_constraints": [
        {"id": "C1", "type": "domain", "description": "The answer is a positive integer."},
        {"id": "C2", "type": "bound", "description": "The answer is at most 99."},
    ],
    "propagated_constraints": [
        {"id": "P1", "derived_from": ["C1", "C2"], "description": "The answer is in 1 to 99."}
    ],
    "likely_answer_range": "1 to 99",
    "answer_format": "an integer",
    "critical_constraints": ["C1"],
    "danger_note": "Do not count 0.",
}


class Model(BaseHTTPRequestHandler):
    """Gives the same reply to the same messages."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = "\n".join(message["content"] for message in request["messages"])
        answer = next(answer for word, answer in ANSWERS.items() if word in said)
        stage1 = "likely_answer_range" in said and "derived_from" in said and "one of" in said
        text = json.dumps(CONSTRAINTS) if stage1 else answer
        usage = {"prompt_tokens": len(said) // 4, "completion_tokens": len(text) // 4}
        choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def main() -> None:
    tree, name = sys.argv[1:]
    package = "constraint_first" if Path(tree, "src/constraint_first").is_dir() else "cfr"
    methods = [word for method in METHODS for word in ("--method", method)]
    grid = [str(HERE / "problems.jsonl"), "--runs", "2", *methods, "--model", "m", "--quiet"]
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Model) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        store = Path(folder, "store.db")
        subprocess.run(
            [
                sys.executable,
                "-m",
                package,
                "eval",
                *grid,
                "--base-url",
                url,
                "--store",
                str(store),
            ],
            env={**os.environ, "PYTHONPATH": f"{tree}/src", "OPENAI_API_KEY": "none"},
            cwd=folder,
            check=True,
        )
        server.shutdown()
        database = sqlite3.connect(store)
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("VACUUM")
        database.close()
        (HERE / f"{name}.db.gz").write_bytes(gzip.compress(store.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    main()
