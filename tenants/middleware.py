"""Middleware for projects: name the actor of a request."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from tenants import audit

View = Callable[[HttpRequest], HttpResponseBase]


def audited(get_response: View) -> View:
    """Return a middleware that sets the logged-in user as the actor of the audit log.

    It belongs after Django's AuthenticationMiddleware. The view of a request with a key, or of a tenant's member, names
    the actor again, more precisely.
    """

    def audited_view(request: HttpRequest) -> HttpResponseBase:
        # Headers do not matter: beside an `Authorization` that is not for us, such as a proxy's, the session counts.
        user = request.user if request.method not in ("GET", "HEAD") else None
        address = request.META.get("REMOTE_ADDR") or ""
        with audit.acting(user.get_username() if user and user.is_authenticated else None, address):
            return get_response(request)

    return audited_view
