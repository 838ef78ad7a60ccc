"""The report: made by ``cfr report`` beside the server, read and kept."""

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from loopback import Endpoint as Server
from paged import Paged, Shown, paged
from paged_store import ITEMS, make_store

from constraint_first.serve.page.runs import Reports
from constraint_first.serve.page.site import SiteOptions
from constraint_first.serve.request import RequestError


@pytest_asyncio.fixture
async def reports(tmp_path: Path) -> AsyncGenerator[Reports]:
    made = Reports(SiteOptions(labels=tmp_path / "labels.jsonl", classes=tmp_path / "none"))
    yield made
    await made.close()


def processes() -> list[int]:
    """Find the processes of this one that make a report."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(one) for one in children if b"cli" in Path(f"/proc/{one}/cmdline").read_bytes()]


async def until_started() -> int:
    while not processes():
        await asyncio.sleep(0.01)
    return processes()[0]


async def made(pages: Paged, runs: str = "1") -> Shown:
    """Have a report made, and wait until nothing is under way."""
    sent = await pages.post("/report", {"runs": runs})
    assert sent.status == 303, sent.words
    path = sent.headers["Location"]
    shown = await pages.get(path)
    while "hx-trigger" in shown.text:
        await asyncio.sleep(0.05)
        shown = await pages.get(path, HX_Request="true")
    return shown


async def test_a_report_is_made_read_and_kept(endpoint: Server, store: str, tmp_path: Path) -> None:
    other = make_store(tmp_path / "other.db", ITEMS[:8], runs=1, model="m-2")
    async with paged(endpoint.url, store, other, marks=tmp_path) as pages:
        form = await pages.get("/report")
        mark = {"annotator": "ada", "n": "1", "at": "1", "mark": "vague"}
        await pages.post("/audit/mark", mark, HX_Request="true")
        shown = await made(pages)
        second = await pages.get("/report?runs=2")
        async with pages.session.get(f"{pages.server.root}/report/1/view") as reply:
            headers, page = reply.headers, await reply.text()
        async with pages.session.get(f"{pages.server.root}/report/1/report.zip") as reply:
            packed = zipfile.ZipFile(io.BytesIO(await reply.read()))
            assert reply.headers["Content-Disposition"] == "attachment; filename=report.zip"
        tricks = ("..%2freport.zip", "view%2f..", "report%2ftables%2fmain.tex")
        missing = [(await pages.get(f"/report/1/{name}")).status for name in tricks]
    assert "Make the report" in form.words
    assert "Open it" not in form.words + second.words
    assert "Open it" in shown.words
    assert missing == [404] * 3
    policy = headers["Content-Security-Policy"]
    assert re.fullmatch(
        r"sandbox; default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src data:; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
        policy,
    )
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Cross-Origin-Opener-Policy" not in headers  # a browser refuses it with a sandbox
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert page.count("<style>") == 1
    assert 'style="' not in page
    assert "<script" not in page
    folder, marks = tmp_path / "report", str(tmp_path / "labels.jsonl")
    command = ("report", store, "-o", str(folder), "--labels", marks)
    subprocess.run([sys.executable, "-m", "constraint_first", *command], check=True, timeout=300)
    files = {path for path in folder.rglob("*") if path.is_file()}
    assert {"html", "md", "tex", "svg", "png"} == {path.suffix[1:] for path in files}
    for path in files:
        assert packed.read(str(path.relative_to(tmp_path))) == path.read_bytes()


async def test_the_server_answers_while_a_report_is_made(endpoint: Server, silent: str) -> None:
    async with paged(endpoint.url, silent) as pages:
        for _ in range(2):
            sent = await pages.post("/report", {"runs": "1"})
            assert sent.headers["Location"] == "/report?runs=1"
        number = await until_started()
        running = await pages.get("/report")
        assert processes() == [number]  # it is not made twice
        assert b"secret" not in Path(f"/proc/{number}/cmdline").read_bytes()
        assert (await pages.get("/benchmark")).status == 200
        assert (await pages.get("/report/1/view")).status == 404
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in running.text
    assert 'hx-get="/report?runs=1" hx-trigger="every 700ms"' in running.text
    assert "secret" not in running.text
    assert processes() == []  # it ends with the server


async def test_what_goes_wrong_is_said_in_one_line(endpoint: Server, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    async with paged(endpoint.url, str(empty)) as pages:
        shown = await made(pages)
    fault = r'<div class="fault" role="alert"><p>[^<]*no attempts yet[^<]*</p>'
    assert re.search(fault, shown.text)


async def test_forms_that_name_no_runs_or_come_from_elsewhere_are_refused(pages: Paged) -> None:
    assert (await pages.post("/report", {"runs": "9"})).status == 404
    assert (await pages.post("/report", {"runs": "-1"})).status == 400
    assert (await pages.post("/report", {}, Origin="http://evil.example")).status == 403
    assert "hx-trigger" not in (await pages.get("/report")).text


async def test_one_at_a_time(reports: Reports, silent: str, store: str) -> None:
    reports.begin(1, [silent])
    reports.begin(2, [store])
    number = await until_started()
    first, second = reports.made[1], reports.made[2]
    assert (processes(), second.under_way, second.said) == ([number], True, "")
    os.kill(number, signal.SIGKILL)
    assert first.task
    assert second.task
    await first.task
    assert "ended early" in first.error
    await second.task
    assert second.error == ""
    page = reports.find(2).place / "report" / "report.html"
    assert page.is_file()
    reports.begin(2, [store])  # the files of the one before go
    with pytest.raises(RequestError, match="make it again"):
        reports.find(2)
    await reports.close()
    assert not first.place.exists()
    assert not second.place.exists()


async def test_a_report_that_takes_too_long_is_given_up(silent: str) -> None:
    reports = Reports(SiteOptions(), seconds=0.2)
    reports.begin(1, [silent])
    report = reports.made[1]
    assert report.task
    await report.task
    assert report.error == "the report took longer than 0.2 s and was given up"
    assert processes() == []
    await reports.close()
