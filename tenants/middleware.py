"""Middleware for projects: who acts."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from tenants import audit

View = Callable[[HttpRequest], HttpResponseBase]


def audited(get_response: View) -> View:
    """Set the logged-in user as the actor of the audit log. After Django's AuthenticationMiddleware.

    A request with a key, or of a tenant's member, names the actor itself afterwards.
    """

    def audited_view(request: HttpRequest) -> HttpResponseBase:
        # Whatever headers it has: with an `Authorization` that means nothing to us, as of a proxy, the session counts.
        user = request.user if request.method not in ("GET", "HEAD") else None
        address = request.META.get("REMOTE_ADDR") or ""
        with audit.acting(user.get_username() if user and user.is_authenticated else None, address):
            return get_response(request)

    return audited_view
