import re

import pytest
from loopback import Endpoint as Server
from paged import paged

from constraint_first.serve.page.site import asset_url


async def test_files_carry_their_type_and_may_be_kept_for_good(endpoint: Server) -> None:
    async with paged(endpoint.url) as pages:
        style = await pages.get(asset_url("page.css"))
        script = await pages.get(asset_url("htmx.min.js"))
        icon = await pages.get(asset_url("icon.svg"))
        without = await pages.get("/static/page.css")
    assert style.headers["Content-Type"].startswith("text/css")
    assert script.headers["Content-Type"].startswith("text/javascript")
    assert icon.headers["Content-Type"].startswith("image/svg+xml")
    assert "immutable" in style.headers["Cache-Control"]
    assert without.headers["Cache-Control"] == "no-cache"
    assert "math .boxed" in style.text  # what formulas need


def test_an_address_changes_with_the_content() -> None:
    assert re.fullmatch(r"/static/page\.js\?v=[0-9a-f]{12}", asset_url("page.js"))
    assert asset_url("page.js") != asset_url("chart.js")


@pytest.mark.parametrize(
    "name",
    [
        "../site.py",
        "..%2fsite.py",
        "%2e%2e/%2e%2e/api.py",
        "page.css/",
        "page.css%00.js",
        "content.css",
        "",
        "/etc/passwd",
        "....//page.css",
    ],
)
async def test_nothing_else_is_sent(endpoint: Server, name: str) -> None:
    async with paged(endpoint.url) as pages:
        shown = await pages.get(f"/static/{name}")
    assert shown.status == 404
    assert "import" not in shown.text
