"""Errors outside the views: problem documents for programs, a page for people."""

import sys

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views import defaults

from jobs.portal.api.problems import ProblemError, respond
from jobs.store import may_pass

RETRY_AFTER = {"Retry-After": "5"}  # seconds
AWAY = "The database does not answer in time, or takes no changes now. Nothing was changed by this request; try again."


def is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a bad request, for example with a foreign Host."""
    if is_api(request.path_info):
        return respond(ProblemError(400, "The request is malformed, or its Host is not one of this site's."))
    return defaults.bad_request(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request.path_info):
        return respond(ProblemError(403, "This is not allowed."))
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request.path_info):
        return respond(ProblemError(404, "This address does not exist; see the API's docs page."))
    return defaults.page_not_found(request, exception)


def failed(request: HttpRequest) -> HttpResponse:
    """503 if a second try may succeed, since the database is away, read-only, slow or locked; else 500. Logs both."""
    if may_pass(sys.exc_info()[1]):
        if is_api(request.path_info):
            return respond(ProblemError(503, AWAY, headers=RETRY_AFTER))
        return HttpResponse(render_to_string("503.html"), status=503, headers=RETRY_AFTER)
    if is_api(request.path_info):
        return respond(ProblemError(500, "Something went wrong on our side; it has been logged."))
    return defaults.server_error(request)


def too_large(path: str) -> HttpResponse:
    """Refuse a body without reading all of it. Close the connection, which would otherwise accept the rest."""
    most = f"must be at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes"
    close = {"Connection": "close"}
    if is_api(path):
        return respond(ProblemError.unfit({"body": most}, 413, close))
    return HttpResponse(f"The body {most}.", status=413, content_type="text/plain", headers=close)


def refused(path: str, status: int, told: str) -> HttpResponse:
    """Refuse a request before Django looks at it."""
    if is_api(path):
        return respond(ProblemError(status, told))
    return HttpResponse(told, status=status, content_type="text/plain")
