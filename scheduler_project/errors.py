"""Errors outside the views: problem documents for programs, a page for people."""

import sys
from collections.abc import Callable, Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from jobs.http.codes import ProblemCode
from jobs.http.problems import NO_SUCH_ADDRESS, ProblemError, respond
from jobs.store import may_pass

Handler = Callable[[HttpRequest, Exception], HttpResponse]
RETRY_AFTER = {"Retry-After": "5"}  # seconds
CLOSE = {"Connection": "close"}
AWAY = "The database does not answer in time, or takes no changes now. Some of this request may be done; try again."


def is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def _page_for(code: ProblemCode, detail: str, for_people: Handler) -> Handler:
    def handler(request: HttpRequest, exception: Exception) -> HttpResponse:
        if is_api(request.path_info):
            return respond(ProblemError(code, detail))
        return for_people(request, exception)

    return handler


bad_request = _page_for(
    ProblemCode.MALFORMED_REQUEST,
    "The request is malformed, or its Host is not one of this site's.",
    defaults.bad_request,
)
forbidden = _page_for(ProblemCode.NOT_ALLOWED, "This is not allowed.", defaults.permission_denied)
not_found = _page_for(ProblemCode.NO_SUCH_ADDRESS, NO_SUCH_ADDRESS, defaults.page_not_found)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer 503 if a second try may succeed: the database is away, read-only, slow or locked; else 500. Log both."""
    if may_pass(sys.exc_info()[1]):
        if is_api(request.path_info):
            return respond(ProblemError(ProblemCode.DATABASE_AWAY, AWAY, headers=RETRY_AFTER))
        return HttpResponse(render_to_string("503.html"), status=503, headers=RETRY_AFTER)
    if is_api(request.path_info):
        return respond(
            ProblemError(ProblemCode.INTERNAL_ERROR, "Something went wrong on our side; it has been logged.")
        )
    return defaults.server_error(request)


def too_large(path: str) -> HttpResponse:
    """Refuse a body without reading all of it. Close the connection, on which the rest would otherwise arrive."""
    limit = f"must be at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes"
    if is_api(path):
        return respond(ProblemError.unfit({"body": limit}, ProblemCode.TOO_LARGE, CLOSE))
    return refused(path, ProblemCode.TOO_LARGE, f"The body {limit}.", CLOSE)


def too_slow(path: str) -> HttpResponse:
    """Refuse a request whose body does not arrive in time."""
    return refused(path, ProblemCode.BODY_TOO_SLOW, "The body did not arrive in time.", CLOSE)


def two_lengths(path: str) -> HttpResponse:
    """Refuse a request whose end a proxy may see elsewhere, and close the connection (RFC 9112, 6.1).

    The next bytes may be a request of another client, or one hidden in this request.
    """
    return refused(
        path,
        ProblemCode.MALFORMED_REQUEST,
        "Content-Length and Transfer-Encoding exclude each other: send one of them.",
        CLOSE,
    )


def refused(path: str, code: ProblemCode, detail: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Refuse a request that reaches no view."""
    if is_api(path):
        return respond(ProblemError(code, detail, headers=headers))
    return HttpResponse(render_to_string("400.html", {"detail": detail}), status=code.status, headers=headers)
