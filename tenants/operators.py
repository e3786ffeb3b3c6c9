"""Who may be an operator: Django asks a project's own user model for permissions, but not for `is_staff`."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Q

from tenants.names import OURS, named


def is_operator(user: Any) -> bool:
    """Whether the user is staff; of a model without `is_staff`, whether it has any permission of ours."""
    staff = getattr(user, "is_staff", None)
    return any(user.has_module_perms(named(app)) for app in OURS) if staff is None else bool(staff)


def choices() -> Q:
    """The users that a form offers as operators: staff, if the model has that as a column; else all."""
    try:
        get_user_model()._meta.get_field("is_staff")
    except FieldDoesNotExist:
        return Q()
    return Q(is_staff=True)
