"""Health checks for supervisors and load balancers, which have no key and use no host name.

`/healthz`: 200 while the process answers. It queries no service: an outage of the database restarts no web process.
`/readyz`: 200 if the database also answers, takes changes, and has the schema that this code needs; otherwise 503.
`/metrics` and the addresses below it: they take a token, and need no host name either: `jobs/contrib/metrics/views.py`.
"""

from collections.abc import Callable
from contextlib import suppress

from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from jobs.contrib.metrics.urls import urlpatterns

View = Callable[[HttpRequest], HttpResponseBase]
ALIVE, READY = "/healthz", "/readyz"
MONITORED: dict[str, View] = {f"/{address.pattern}": address.callback for address in urlpatterns}
NOT_CACHED = {"Cache-Control": "no-store"}
_schema_is_there = False  # once true, it stays true


def answered(get_response: View) -> View:
    """Return the first middleware, which answers before the checks of host, scheme and user."""

    def answered_view(request: HttpRequest) -> HttpResponseBase:
        if request.path_info == ALIVE:
            return alive()
        if request.path_info == READY:
            return ready()
        if request.path_info in MONITORED:
            with suppress(Http404):  # a request without the token goes on, and gets a 404
                return MONITORED[request.path_info](request)
        return get_response(request)

    return answered_view


def alive() -> HttpResponse:
    return _answer(200, "alive")


def ready() -> HttpResponse:
    global _schema_is_there  # noqa: PLW0603 - of this process
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            [(read_only,)] = cursor.fetchall()
        if read_only == "on":  # another server may have taken over
            connection.close()
            return _answer(503, "the database takes no changes")
        if not _schema_is_there:
            loader = MigrationLoader(connection)
            missing = set(loader.disk_migrations or ()).difference(loader.applied_migrations or ())
            if missing:
                return _answer(503, "the database lacks migrations: manage.py migrate")
            _schema_is_there = True
    except (DatabaseError, InterfaceError):
        connection.close()
        return _answer(503, "the database does not answer")
    return _answer(200, "ready")


def _answer(status: int, text: str) -> HttpResponse:
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain", headers=NOT_CACHED)
