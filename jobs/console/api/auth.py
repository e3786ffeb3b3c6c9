"""Authenticate operators: by a key that acts as a staff user, or by that user's session.

Each endpoint requires one permission.
"""

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from ninja.security import SessionAuth

from jobs.http import throttle
from jobs.http.auth import Bearer, is_logged_in, refuse_forgery
from jobs.http.codes import ProblemCode
from jobs.http.problems import ProblemError
from plumbing.names import named
from tenants import audit, auth
from tenants.operators import is_operator

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class OperatorRequest(HttpRequest):
    """A request that passed the authentication below."""

    auth: "User"


def may(permission: str) -> list[Any]:
    """The `auth` of an endpoint that requires this permission, such as "jobs.change_queue"."""
    ways: list[Any] = [OperatorKey(), StaffSession()]
    for way in ways:
        way.permission = named(permission)
    return ways


class OperatorKey(Bearer):
    permission: str

    def authenticate(self, request: HttpRequest, token: str) -> "User | None":
        user = auth.operator_of(token)
        return _permitted(user, self.permission, key=token.partition(".")[0]) if user else None


class StaffSession(SessionAuth):
    permission: str

    def __call__(self, request: HttpRequest) -> "User | None":
        if "Authorization" in request.headers:
            return None  # the browser's session must not hide a wrong key
        if not is_logged_in(request):
            return None
        user: Any = request.user
        if not is_operator(user):
            raise ProblemError(ProblemCode.NOT_AN_OPERATOR, "You are logged in, but not as an operator.")
        refuse_forgery(request)
        return _permitted(user, self.permission)


def _permitted(user: "User", permission: str, key: str = "") -> "User":
    audit.identify(user.get_username(), key)
    throttle.admit(f"operator {user.pk}")
    if not user.has_perm(permission):
        raise ProblemError(ProblemCode.NO_PERMISSION, f"User {user.get_username()} lacks the permission {permission}.")
    return user
