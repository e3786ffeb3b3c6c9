"""`/metrics` and `/metrics/tenants` for Prometheus, and `/metrics/health` for a monitor that reads JSON.

They need the header `Authorization: Bearer <JOBS_METRICS_TOKEN>`. Without that setting only this machine may ask, and
not through a proxy. For anybody else they raise Http404, as an address that does not exist.
"""

import hmac
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from ipaddress import ip_address
from typing import Generic, TypeVar

from django.db import DatabaseError, InterfaceError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from jobs.conf import settings
from jobs.contrib.metrics.collector import Look
from jobs.contrib.metrics.tenants import TenantsLook, look_tenants
from jobs.reading.health import Condition, Facts, conditions, look, runbook
from jobs.reading.health.looks import TIMEOUT, ForecastLook, TotalLook, look_forecasts, look_totals
from jobs.reading.looking import looking

SECONDS_BETWEEN_LOOKS = 5.0  # seconds between two looks of a process, however many ask
NOT_CACHED = {"Cache-Control": "no-store"}
AWAY = "The database does not answer in time."
PROXIED = ("X-Forwarded-For", "Forwarded", "X-Real-IP")
View = Callable[[HttpRequest], HttpResponse]

Seen = TypeVar("Seen")


class Watch(Generic[Seen]):
    """The last look of this process. Only one thread looks at a time; the others wait for what it sees."""

    def __init__(self, look: Callable[[], Seen]) -> None:
        self._look = look
        self._lock = threading.Lock()
        self._at = float("-inf")
        self._seen: Seen | None = None

    def look(self) -> Seen:
        """Raises a DatabaseError or InterfaceError if the database does not answer in time."""
        with self._lock:
            if self._seen is None or time.monotonic() - self._at >= SECONDS_BETWEEN_LOOKS:
                self._seen = None
                self._seen = self._look()
                self._at = time.monotonic()
            return self._seen


def look_at_everything() -> tuple[Facts, list[TotalLook], ForecastLook]:
    """What `/metrics` and `/metrics/health` tell of. Raises OperationalError if the database takes too long."""
    facts = look()
    with looking(TIMEOUT):
        return facts, look_totals(), look_forecasts()


watch = Watch(look_at_everything)
tenants_watch = Watch(lambda: look_tenants(settings.JOBS_METRICS_TENANTS))


def for_monitors(view: View) -> View:
    """The view for callers with the token; without a token, for those on this machine. Http404 for anybody else."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not _may_ask(request):
            raise Http404
        return view(request)

    return guarded


@for_monitors
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics; 503 if the database does not answer, so that Prometheus reports the target as down."""
    return _encoded(request, lambda: Look(*watch.look()))


@for_monitors
def tenants(request: HttpRequest) -> HttpResponse:
    """The metrics of the tenants in JOBS_METRICS_TENANTS."""
    return _encoded(request, lambda: TenantsLook(tenants_watch.look()))


def _encoded(request: HttpRequest, collector: Callable[[], Collector]) -> HttpResponse:
    registry = CollectorRegistry(auto_describe=False)
    try:
        registry.register(collector())
    except (DatabaseError, InterfaceError):
        connection.close()
        return HttpResponse(f"{AWAY}\n", status=503, content_type="text/plain", headers=NOT_CACHED)
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type=content_type, headers=NOT_CACHED)


@for_monitors
def health(request: HttpRequest) -> HttpResponse:
    """The conditions that hold; 503 while one of them is critical."""
    try:
        found = conditions(watch.look()[0])
    except (DatabaseError, InterfaceError):
        connection.close()
        found = [Condition("no_database", "critical", AWAY, runbook("no_database"))]
    critical = any(condition.severity == "critical" for condition in found)
    document = {"healthy": not critical, "conditions": [asdict(condition) for condition in found]}
    return JsonResponse(document, status=503 if critical else 200, headers=NOT_CACHED)


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
