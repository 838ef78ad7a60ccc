"""What ``cfr serve --method auto`` sends upstream for ordinary chat, and how much it recognises.

python perf/untouched.py [--model NAME]     (the sets of CFR_DATA or ../shared/data)

100 texts of each of three sets of chat go through a real server to an endpoint that records them.
A text counts as untouched where one request arrived, equal to the one that was sent but for the
model's name. Then the share of problems recognised in each set is printed, odd rows (which the
rules were written with in sight) and even rows (which they were not).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from constraint_first.constraint.kind import read_kind

DATA = Path(os.environ.get("CFR_DATA") or Path(__file__).parents[2] / "shared" / "data")
CHAT = ("mt-bench", "self-instruct-user", "arena-hard-v01")
OTHERS = ("ifbench", "followbench", "ifeval")
PROBLEMS = (
    *("gsm8k-train", "svamp", "asdiv-plain", "math-test-4500", "aqua-choice", "college-math"),
    *("carp-en", "gaokao2023en", "theoremqa", "convfinqa-dev", "mgsm-de", "mgsm-zh", "gsm8k"),
    *("math500", "aime24", "aime25", "aime26", "aimo_amc", "brumo25", "cmimc25", "olympiadbench"),
)
EACH = 100


def texts(name: str) -> list[str]:
    path = next(one for one in (DATA / "panel", DATA) if (one / f"{name}.jsonl").is_file())
    lines = (path / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["problem"] for line in lines]


def sample(name: str) -> list[str]:
    every = texts(name)
    return [every[at * len(every) // EACH] for at in range(EACH)]


async def record(recorded: list[dict[str, Any]]) -> tuple[web.AppRunner, int]:
    async def answer(request: web.Request) -> web.Response:
        recorded.append(await request.json())
        message = {"role": "assistant", "content": "Tea is fine, thanks. It is \\boxed{4}."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return web.json_response({"id": "x", "choices": [choice], "usage": usage})

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"data": []})

    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", answer)
    app.router.add_get("/v1/models", models)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner, runner.addresses[0][1]


async def measure(model: str) -> None:
    recorded: list[dict[str, Any]] = []
    runner, port = await record(recorded)
    upstream = f"http://127.0.0.1:{port}/v1"
    options = ("--method", "auto", "--base-url", upstream, "--model", model, "--port", "0")
    command = (sys.executable, "-m", "constraint_first", "serve", *options)
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr
    try:
        address = ""
        while not address:
            line = (await asyncio.wait_for(process.stderr.readline(), 60)).decode()
            address = next((one for one in line.split() if one.startswith("http://")), "")
        async with aiohttp.ClientSession() as session:
            for name in CHAT:
                await ask_all(session, address, model, name, recorded)
    finally:
        process.terminate()
        await process.wait()
        await runner.cleanup()


async def ask_all(
    session: aiohttp.ClientSession,
    address: str,
    model: str,
    name: str,
    recorded: list[dict[str, Any]],
) -> None:
    untouched = 0
    for text in sample(name):
        recorded.clear()
        body = {"messages": [{"role": "user", "content": text}], "temperature": 0.3}
        async with session.post(
            f"{address}/chat/completions", json={"model": "auto@", **body}
        ) as r:
            assert r.status == 200, await r.text()
        same = recorded == [{"model": model, **body}]
        untouched += same
        if not same:
            kind = read_kind(text)
            print(f"  {len(recorded)} calls, {kind.what}: it {kind.why}: {text[:300]!r}")
    print(f"{name}: {untouched} of {EACH} untouched ({model})")


def tabulate() -> None:
    print(f"{'set':20}{'rows':>6}{'problem odd':>13}{'even':>8}{'demand odd':>12}{'even':>8}")
    for name in (*PROBLEMS, *CHAT, *OTHERS):
        kinds = [read_kind(text).what for text in texts(name)]
        shares = [
            100 * half.count(what) / len(half)
            for what in ("problem", "demand")
            for half in (kinds[::2], kinds[1::2])
        ]
        cells = "".join(
            f"{share:{width}.1f}" for share, width in zip(shares, (13, 8, 12, 8), strict=True)
        )
        print(f"{name:20}{len(kinds):6}{cells}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct")
    parser.add_argument("--no-table", action="store_true")
    given = parser.parse_args()
    asyncio.run(measure(given.model))
    if not given.no_table:
        tabulate()
