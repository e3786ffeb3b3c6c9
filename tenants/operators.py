"""Decide which users are operators. A project's own user model has permissions, but need not have `is_staff`."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Q

from plumbing.names import OURS, named


def is_operator(user: Any) -> bool:
    """Return whether the user is staff; for a user model without `is_staff`, whether it has any permission of ours."""
    staff = getattr(user, "is_staff", None)
    return any(user.has_module_perms(named(app)) for app in OURS) if staff is None else bool(staff)


def choices() -> Q:
    """Return a filter for the users that a form offers as operators: staff, if that is a column; else all."""
    try:
        get_user_model()._meta.get_field("is_staff")
    except FieldDoesNotExist:
        return Q()
    return Q(is_staff=True)
