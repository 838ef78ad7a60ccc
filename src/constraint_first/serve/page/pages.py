"""Installation of the pages into a server's application."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from constraint_first.serve.page import (
    marking,
    playground,
    report,
    runs,
)
from constraint_first.serve.page import (
    marking as audit,
)
from constraint_first.serve.page import (
    marking as error_marking,
)
from constraint_first.serve.page import (
    runs as benchmark,
)
from constraint_first.serve.page import (
    runs as compare,
)
from constraint_first.serve.page import (
    site as asset,
)
from constraint_first.serve.page import (
    site as login,
)
from constraint_first.serve.page.site import SITE, Site, SiteOptions, show_error
from constraint_first.serve.server import ERROR_PAGE

_PAGES: Final = (
    *(asset, login, playground, runs, compare, audit, marking, error_marking),
    *(benchmark, report),
)


def install_pages(application: web.Application, options: SiteOptions) -> None:
    """Add all pages."""
    playground.prepare()
    application[SITE] = site = Site(options)
    application[ERROR_PAGE] = show_error
    application.on_cleanup.append(lambda _: site.reports.close())
    for module in _PAGES:
        application.add_routes(module.ROUTES)
