import asyncio
import html
import io
import re
import zipfile
from pathlib import Path

import pytest
from aiohttp import web
from loopback import Endpoint as Server
from paged import HOSTILE, Paged, Shown, paged
from paged_store import ITEMS, make_store

from constraint_first.serve.page.pages import install_pages
from constraint_first.serve.page.site import SITE, Site, SiteOptions

ORDER = {"runs": "1", "cases": "2"}


async def made(pages: Paged, **form: str) -> tuple[str, Shown]:
    """Order a report, and wait until nothing is under way."""
    sent = await pages.post("/report", ORDER | form)
    assert sent.status == 303, sent.words
    path = sent.headers["Location"]
    shown = await pages.get(path)
    while "hx-trigger" in shown.text:
        await asyncio.sleep(0.05)
        shown = await pages.get(path, HX_Request="true")
    return path, shown


async def test_a_report_is_ordered_followed_and_read(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        form = await pages.get("/report")
        sent = await pages.post("/report", ORDER)
        begun = await pages.get(sent.headers["Location"])
        path, shown = await made(pages)
        view = pages.session.get(f"{pages.server.root}{path}/view")
        async with view as reply:
            headers, page = reply.headers, await reply.text()
        again = await pages.get("/report")
    assert "Make the report" in form.words
    assert '<noscript><meta http-equiv="refresh" content="2"></noscript>' in begun.text
    assert 'hx-get="/report/1" hx-trigger="every 700ms"' in begun.text
    assert "CFR (always-on) is better than Direct CoT" in shown.words
    assert "tables/main.tex" in shown.words
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
    assert "What the data show" in page
    assert "is better than" in again.words


async def test_all_files_can_be_kept(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        path, shown = await made(pages, figures="yes")
        links = re.findall(rf'href="({path}/files/[^"]+)"', shown.text)
        got: dict[str, bytes] = {}
        for link in dict.fromkeys(map(html.unescape, links)):
            async with pages.session.get(pages.server.root + link) as reply:
                assert reply.status == 200
                assert reply.headers["Content-Disposition"].startswith("attachment; filename*=")
                policy = reply.headers["Content-Security-Policy"]
                assert policy == "sandbox; default-src 'none'"
                got[link.removeprefix(f"{path}/files/")] = await reply.read()
    with zipfile.ZipFile(io.BytesIO(got.pop("report.zip"))) as packed:
        for name, content in got.items():
            assert packed.read(f"report/{name}") == content
    assert {name.rpartition(".")[2] for name in got} == {"html", "md", "tex", "svg", "png"}


async def test_the_server_answers_while_a_report_is_made(endpoint: Server, silent: str) -> None:
    async with paged(endpoint.url, silent) as pages:
        sent = await pages.post("/report", ORDER)
        path = sent.headers["Location"]
        twice = await pages.post("/report", ORDER)
        after = await pages.post("/report", ORDER | {"cases": "9"})
        waiting = await pages.get(after.headers["Location"])
        other = await pages.get("/benchmark")
        running = await pages.get(path)
        early = await pages.get(f"{path}/view")
        foreign = await pages.post(f"{path}/stop", {}, Sec_Fetch_Site="cross-site")
        stopped = await pages.post(f"{path}/stop", {})
        end = await pages.get(stopped.headers["Location"])
    assert twice.headers["Location"] == path
    assert "Another report is being made" in waiting.words
    assert all("secret" not in one.text for one in (running, waiting, end))
    assert other.status == 200
    assert "step 1 of 12" in running.words
    assert early.status == 404
    assert foreign.status == 403
    assert '<div class="fault" role="alert"><p>stopped</p>' in end.text


async def test_a_part_of_the_runs_and_marks(endpoint: Server, store: str, tmp_path: Path) -> None:
    other = make_store(tmp_path / "other.db", ITEMS[:8], runs=1, model="m-2")
    async with paged(endpoint.url, store, other, marks=tmp_path) as pages:
        bare = await pages.get("/report")
        mark = {"annotator": "ada", "n": "1", "at": "1", "mark": "vague"}
        await pages.post("/audit/mark", mark, HX_Request="true")
        both = await pages.get("/report?runs=0")
        path, shown = await made(pages, runs="0", model="m-2", marks="yes")
        _, third = await made(pages, runs="2", marks="yes")
        async with pages.session.get(f"{pages.server.root}{path}/view") as reply:
            page = await reply.text()
    assert "What people marked" not in bare.words
    assert "What people marked" in both.words
    assert '<option value="m-2">m-2</option>' in both.text
    assert "On m-2" in shown.words
    assert "On m-1" not in shown.words
    assert "m-2" in page
    assert "On m-2" in third.words


async def test_what_goes_wrong_is_said_in_one_line(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        _, shown = await made(pages, method="nothing")
        listed = await pages.get("/report")
    assert re.search(r'<div class="fault" role="alert"><p>[^<]*has no method[^<]*</p>', shown.text)
    assert "failed" in listed.words


async def test_a_server_without_runs_and_a_store_without_attempts(
    endpoint: Server, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    async with paged(endpoint.url) as none, paged(endpoint.url, str(empty)) as pages:
        nothing = await none.get("/report")
        shown = await pages.get("/report")
        sent = await none.post("/report", ORDER)
    assert "cfr serve runs.db" in nothing.words
    assert shown.status == 400
    assert sent.status == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/report/7", 404),
        ("/report/7/view", 404),
        ("/report/x", 404),
        ("/report?runs=9", 404),
        ("/report?runs=%3Cscript%3E", 400),
        ("/report/99999999999999999999", 404),
    ],
)
async def test_what_is_not_there_is_refused(
    endpoint: Server, store: str, path: str, status: int
) -> None:
    async with paged(endpoint.url, store) as pages:
        shown = await pages.get(path)
    assert shown.status == status


@pytest.mark.parametrize("form", [{"runs": "9"}, {"runs": "-1"}, {"cases": "many"}])
async def test_an_order_that_makes_no_sense_is_refused(
    endpoint: Server, store: str, form: dict[str, str]
) -> None:
    async with paged(endpoint.url, store) as pages:
        sent = await pages.post("/report", ORDER | form)
        foreign = await pages.post("/report", ORDER, Origin="http://evil.example")
        shown = await pages.get("/report/1")
    assert sent.status in (400, 404)
    assert foreign.status == 403
    assert shown.status == 404


async def test_tricks_with_paths_find_nothing(endpoint: Server, store: str) -> None:
    async with paged(endpoint.url, store) as pages:
        path, _ = await made(pages)
        for name in ("..%2freport.zip", "%2fetc%2fpasswd", "tables%2f..%2freport.html", "x%00"):
            assert (await pages.get(f"{path}/files/{name}")).status in (400, 404), name
        odd = await pages.post("/report", ORDER | {"method": HOSTILE, "model": HOSTILE})
        assert odd.status == 303


async def test_a_file_that_is_gone_is_said(endpoint: Server, store: str) -> None:
    site: list[Site] = []

    def install(application: web.Application) -> None:
        install_pages(application, SiteOptions((store,)))
        site.append(application[SITE])

    async with paged(endpoint.url, install=install) as pages:
        path, _ = await made(pages)
        site[0].reports.find(1).find("report.html").unlink()
        gone = await pages.get(f"{path}/view")
    assert gone.status == 404
    assert "make it again" in gone.words
