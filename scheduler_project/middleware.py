"""Middleware for every request."""

import re
import time
import uuid
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.encoding import escape_uri_path

from jobs import telemetry
from jobs.http.codes import ProblemCode
from jobs.telemetry import traces
from scheduler_project.errors import is_api, refused

View = Callable[[HttpRequest], HttpResponseBase]

REQUEST_ID = "X-Request-ID"
SANE = re.compile(r"[A-Za-z0-9._-]{1,100}")  # others could forge log lines

# Bytes of all cookies of a request. nginx refuses more, too. Before 3.11.10, 3.12.6 and 3.13, Python takes a minute for
# 60,000 backslashes in a cookie.
LONGEST_COOKIES = 8192

# Our own pages and the API's docs page load only their files. The admin (unfold) has inline scripts.
OWN = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
WITH_INLINE = f"{OWN}; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'"
# The operators' live pages have no inline style or image either, and their scripts write HTML by their policy alone.
OPS = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types jobs"
)
NOTHING_OF_THE_DEVICE = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


def traceable(get_response: View) -> View:
    """Give each request an id: its own X-Request-ID if that is sane, else a new one. All its log lines have the id.

    The last of these lines has the status of the response. It leaves out the query string, which may hold what a person
    has searched for.
    """

    def traceable_view(request: HttpRequest) -> HttpResponseBase:
        requested_id = request.headers.get(REQUEST_ID, "")
        request_id = requested_id if SANE.fullmatch(requested_id) else uuid.uuid4().hex
        began = time.monotonic()
        with (
            traces.serving(request.method or "", request.headers) as span,
            telemetry.about(request=request_id, **traces.trace_id()),
        ):
            response = get_response(request)
            span.set_attribute("http.response.status_code", response.status_code)
            span.set_attribute("scheduler.request", request_id)
            response.headers[REQUEST_ID] = request_id
            path = escape_uri_path(_without_token(request))  # a decoded path may contain a line break
            seconds = f"{time.monotonic() - began:.3f}"
            address = request.META.get("REMOTE_ADDR")
            telemetry.answered(request.method or "", path, response.status_code, seconds=seconds, address=address)
        return response

    return traceable_view


def _without_token(request: HttpRequest) -> str:
    """Return the path for the log: without the token of a signed link, which is a secret."""
    token = request.resolver_match.kwargs.get("token", "") if request.resolver_match else ""
    return request.path.replace(token, "-") if token else request.path


def secured(get_response: View) -> View:
    """Limit what a page may load, and keep answers with a tenant's data out of shared caches."""

    def secured_view(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", _policy(request.path_info))
        response.headers.setdefault("Permissions-Policy", NOTHING_OF_THE_DEVICE)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return secured_view


def _policy(path: str) -> str:
    if path.startswith("/ops/"):
        return OPS
    return WITH_INLINE if path.startswith("/admin/") else OWN


def readable(get_response: View) -> View:
    """Refuse cookies that are too long to read, and a query or a cookie with U+0000; explain a wrong method.

    Pages and sessions are looked up by these values, and PostgreSQL cannot store U+0000. The API checks its queries
    itself, and names the field.
    """

    def guarded_view(request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        if len(request.META.get("HTTP_COOKIE", "")) > LONGEST_COOKIES:
            return refused(
                path, ProblemCode.HEADERS_TOO_LARGE, f"The cookies must have at most {LONGEST_COOKIES} bytes together."
            )
        if any("\x00" in value for value in request.COOKIES.values()):  # quoted, it may be written as \000
            return refused(path, ProblemCode.MALFORMED_REQUEST, "A cookie contains the character U+0000.")
        if not is_api(path) and "%00" in request.META.get("QUERY_STRING", ""):
            return refused(path, ProblemCode.MALFORMED_REQUEST, "The address contains the character U+0000.")
        response = get_response(request)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not is_api(path):  # Django's is empty
            allowed = {"Allow": response.headers["Allow"]}
            return refused(
                path,
                ProblemCode.WRONG_METHOD,
                "This address is for a form or a button: go back, and use that.",
                allowed,
            )
        return response

    return guarded_view
