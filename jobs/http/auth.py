"""Authenticate the caller: by a tenant's API key, or by the session of a member of a tenant."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables
from ninja.security import HttpBearer, SessionAuth
from ninja.utils import check_csrf

from jobs import telemetry
from jobs.http import throttle
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError
from tenants import audit, auth, moving
from tenants.auth import Way
from tenants.conf import membership
from tenants.members import tenant_of_request
from tenants.models import Moving, Tenant

SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Caller:
    """An authenticated caller.

    way: how the caller came in, to check later that this way is still open.
    user_key: the user of all the caller's jobs; None: each request names one.
    """

    tenant: Tenant
    way: Way
    user_key: str | None = None


class CallerRequest(HttpRequest):
    """A request that has passed the authentication below."""

    auth: Caller


class Bearer(HttpBearer):
    @sensitive_variables("token")  # it hides the token of `authenticate`, too
    def __call__(self, request: HttpRequest) -> Any:
        # Replaces Ninja's own, which logs a header with a mistyped "Bearer" in debug mode, and thus the secret.
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        caller = self.authenticate(request, token)
        if caller is None:  # only then: wrong keys must not lock out the good ones of the same address
            throttle.refuse_stranger(request)
        return caller


class TenantKey(Bearer):
    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        tenant = auth.tenant_of(token)
        if tenant is None:
            return None
        throttle.admit(f"tenant {tenant.pk}")
        refuse_moving(request, tenant)
        audit.identify(tenant.jobs_slug, key=token.partition(".")[0], tenant_id=tenant.pk)
        telemetry.learn(tenant=tenant.pk)
        return Caller(tenant, Way(tenant.pk, key=token.partition(".")[0]))


def is_logged_in(request: HttpRequest) -> bool:
    """Return whether a middleware has found a user in the session; False also without such a middleware."""
    return bool(getattr(getattr(request, "user", None), "is_authenticated", False))


class MemberSession(SessionAuth):
    """Authenticate a member by the session, so that pages can use the API. Unsafe methods need the CSRF token."""

    def __call__(self, request: HttpRequest) -> Caller | None:
        if "Authorization" in request.headers:
            return None  # the browser's session must not hide a wrong key
        if not is_logged_in(request):
            return None
        tenant = tenant_of_request(request)
        if tenant is None:
            raise ProblemError(ProblemCode.NOT_A_MEMBER, "You are logged in, but not as a member of a tenant.")
        refuse_forgery(request)
        throttle.admit(f"tenant {tenant.pk}")
        refuse_moving(request, tenant)
        audit.identify(request.user.get_username(), tenant_id=tenant.pk)
        telemetry.learn(tenant=tenant.pk)
        session_hash = getattr(request, "session", {}).get(HASH_SESSION_KEY, "")
        way = Way(tenant.pk, "", request.user.pk, session_hash, request if membership() else None)
        return Caller(tenant, way, user_key=str(request.user.pk))


def refuse_moving(request: HttpRequest, tenant: Tenant) -> None:
    """Raise a problem if the tenant has moved, or moves and the request would change something."""
    state = moving.state_of(tenant)
    if not state or (state != Moving.MOVED and request.method in SAFE):
        return
    address = moving.address_of(tenant.pk)
    detail = f"{moving.in_words(state, address)}."
    if state == Moving.MOVED:
        location = {"Location": f"{address}{request.get_full_path()}"}
        raise ProblemError(ProblemCode.TENANT_MOVED, detail, headers=location)
    raise ProblemError(ProblemCode.TENANT_MOVES, detail, headers={"Retry-After": str(moving.RETRY_AFTER)})


def refuse_forgery(request: HttpRequest) -> None:
    """Raise a problem if a session's request lacks its CSRF token.

    This check runs after authentication, unlike in SessionAuth: a stranger without cookies gets a 401, not a 403.
    """
    if check_csrf(request) is not None:
        raise ProblemError(ProblemCode.NO_CSRF_TOKEN, "The CSRF token is missing or wrong: send it as X-CSRFToken.")
