"""Assemble the API. Its docs page and OpenAPI document load nothing from other servers."""

from jobs import extensions
from jobs.console import api as operator
from jobs.http import problems
from jobs.http.assembly import ProblemAPI, StrictParser
from jobs.http.auth import MemberSession, TenantKey
from jobs.portal.api import (
    batches,
    changes,
    events,
    jobs,
    memories,
    reasons,
    results,
    schedules,
    stats,
    tell,
    usage,
    webhooks,
)
from jobs.portal.api.start_page import StartPage
from jobs.portal.api.webhook_messages import OPERATION, EndMessage

api = ProblemAPI(
    parser=StrictParser(),
    title="Jobs API",
    version="1",
    description="Submit jobs, follow them and fetch their results. Errors are RFC 9457 problem details.",
    urls_namespace="jobs_api",
    servers=[{"url": "/", "description": "The host of this document; the paths are whole."}],
    docs=StartPage(),
    auth=[TenantKey(), MemberSession()],
)
for one in (jobs, batches, reasons, results, events, tell, memories, schedules, stats, usage, webhooks, changes):
    api.add_router("", one.router)
for router in (*operator.routers, *extensions.routers()):
    api.add_router("operator", router)
api.describe_webhook("job.ended", EndMessage, OPERATION)
problems.add_to(api)
