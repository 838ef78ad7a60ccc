"""The pages of a server: playground, runs, comparison, marking, benchmark, report."""

from aiohttp import web

from constraint_first.serve.page import marking, playground, runs, site
from constraint_first.serve.server import ERROR_PAGE


def install_pages(application: web.Application, options: site.SiteOptions) -> None:
    playground.prepare()
    application[site.SITE] = site.Site(options)
    application[ERROR_PAGE] = site.show_error
    application[runs.REPORTS] = reports = runs.Reports(options)
    application.on_cleanup.append(lambda _: reports.close())
    for module in (site, playground, runs, marking):
        application.add_routes(module.ROUTES)
