"""The system checks of the tenant model (statements join its table, so it must have three columns) and of logins."""

import math
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.exceptions import FieldDoesNotExist
from django.db import models

from tenants.conf import TENANT_MODEL, login_failures

TAG = "tenants"
NEEDED = {
    "id": "id = models.BigAutoField(primary_key=True)",
    "name": "name = models.CharField(max_length=200)",
    "slug": "slug = models.SlugField(unique=True)",
}


@register(Tags.models)
def tenant_model(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    try:
        model = apps.get_model(TENANT_MODEL)
    except (LookupError, ValueError):
        hint = 'Set JOBS_TENANT_MODEL to "app.Model", the name of an installed model; or unset it.'
        return [Error(f"JOBS_TENANT_MODEL is {TENANT_MODEL!r}: there is no such model.", hint=hint, id="tenants.E001")]
    return [
        Error(
            f"The tenant model {TENANT_MODEL} has no fitting column {name!r}.",
            hint=f"Add it: {needed}; or inherit from tenants.models.AbstractTenant.",
            obj=model,
            id="tenants.E002",
        )
        for name, needed in NEEDED.items()
        if not _fits(model, name)
    ]


@register(TAG)
def logins(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """With 0 nobody could log in; with NaN or infinity any number of passwords could be tried."""
    number: Any = login_failures()
    if isinstance(number, int | float) and math.isfinite(number) and number > 0:
        return []
    hint = "Set LOGIN_FAILURES to a number greater than 0, or unset it."
    return [Error(f"LOGIN_FAILURES is {number!r}.", hint=hint, id="tenants.E003")]


def _fits(model: type[models.Model], name: str) -> bool:
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    if getattr(field, "column", None) != name:
        return False
    if name == "id":
        return isinstance(field, models.BigIntegerField | models.BigAutoField) and field.primary_key
    return name != "slug" or bool(getattr(field, "unique", False))
