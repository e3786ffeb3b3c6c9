"""`/metrics` and `/metrics/tenants` for Prometheus, and `/metrics/health` for a monitor that reads JSON.

They need the header `Authorization: Bearer <JOBS_METRICS_TOKEN>`. Without that setting only this machine may ask, and
not through a proxy. For other callers they raise Http404, like an address that does not exist.
"""

import hmac
from collections.abc import Callable
from functools import wraps
from ipaddress import ip_address
from typing import TypeVar

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from jobs.conf import settings
from jobs.contrib.metrics.collector import Look
from jobs.contrib.metrics.tenants import Numbers, TenantsLook, look_tenants
from jobs.pages.cached import cached
from jobs.reading.health import Condition, Facts, Fault, conditions, look, runbook
from jobs.reading.health.looks import TIMEOUT, ForecastLook, TotalLook, look_forecasts, look_totals
from jobs.reading.looking import looking
from plumbing.rendering import kept_by_nobody

SECONDS_BETWEEN_LOOKS = 5.0  # between two looks of a process, however many callers ask
AWAY = "The database does not answer in time."
PROXIED = ("X-Forwarded-For", "Forwarded", "X-Real-IP")
View = Callable[[HttpRequest], HttpResponse]
Seen = TypeVar("Seen")


@cached(SECONDS_BETWEEN_LOOKS, before=None, waits=True)
def everything() -> tuple[Facts, list[TotalLook], ForecastLook] | None:
    """Return the data of `/metrics` and `/metrics/health`; None if the database does not answer in time."""
    facts = look()
    with looking(TIMEOUT):
        return facts, look_totals(), look_forecasts()


@cached(SECONDS_BETWEEN_LOOKS, before=None, waits=True)
def of_tenants() -> dict[str, Numbers] | None:
    """Return the data of `/metrics/tenants`; None if the database does not answer in time."""
    return look_tenants(settings.JOBS_METRICS_TENANTS)


def for_monitors(view: View) -> View:
    """Let only callers with the token reach a view; without a token, callers on this machine. Others get Http404."""

    @login_not_required
    @kept_by_nobody
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not _may_ask(request):
            raise Http404
        return view(request)

    return guarded


@for_monitors
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics; 503 if the database does not answer, so that Prometheus reports the target as down."""
    return _encoded(request, everything(), lambda facts: Look(*facts))


@for_monitors
def tenants(request: HttpRequest) -> HttpResponse:
    """Return the metrics of the tenants in JOBS_METRICS_TENANTS."""
    return _encoded(request, of_tenants(), TenantsLook)


def _encoded(request: HttpRequest, facts: Seen | None, collector: Callable[[Seen], Collector]) -> HttpResponse:
    if facts is None:
        connection.close()
        return HttpResponse(f"{AWAY}\n", status=503, content_type="text/plain")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector(facts))
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type=content_type)


@for_monitors
def health(request: HttpRequest) -> HttpResponse:
    """Return the conditions that hold; 503 while one of them is critical."""
    if facts := everything():
        problems = conditions(facts[0])
    else:
        connection.close()
        problems = [Condition("no_database", "critical", Fault(AWAY), runbook("no_database"))]
    critical = any(condition.severity == "critical" for condition in problems)
    document = {"healthy": not critical, "conditions": [condition.document() for condition in problems]}
    return JsonResponse(document, status=503 if critical else 200)


def _may_ask(request: HttpRequest) -> bool:
    if settings.JOBS_METRICS_TOKEN:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(token.encode(), settings.JOBS_METRICS_TOKEN.encode())
    if any(name in request.headers for name in PROXIED):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
