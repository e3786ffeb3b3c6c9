"""System checks of the tenant model, whose table statements join and tables of ours point to, and of logins."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.exceptions import FieldDoesNotExist
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState
from django.utils.module_loading import import_string

from tenants.bounds import SLUG_LENGTH
from tenants.conf import (
    HOST_NAME,
    HOST_SLUG,
    MIRRORED,
    TENANT_MODEL,
    TENANT_NAME,
    TENANT_SLUG,
    login_failures,
    membership,
    model_named,
)
from tenants.names import named

TAG = "tenants"
TEXTS = {TENANT_NAME: "JOBS_TENANT_NAME", TENANT_SLUG: "JOBS_TENANT_SLUG"}
MIRROR = "or leave JOBS_TENANT_MODEL out, and let JOBS_TENANT_MIRROR name the model: docs/own-project.md"
Fault = tuple[str, str]  # what is wrong, and its remedy


@register(Tags.models)
def tenant_model(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    return _told("JOBS_TENANT_MODEL", TENANT_MODEL, _faults)


@register(Tags.models)
def tenant_mirror(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    if not MIRRORED:
        return []
    if named("tenants.Tenant") != TENANT_MODEL:
        hint = "Unset JOBS_TENANT_MODEL: the tenants are rows of tenants.Tenant then."
        return [Error("JOBS_TENANT_MODEL and JOBS_TENANT_MIRROR are both set.", hint=hint, id="tenants.E005")]
    return _told("JOBS_TENANT_MIRROR", MIRRORED, _faults_of_mirrored)


def _told(setting: str, name: str, faults_of: Callable[[type[models.Model]], Iterator[Fault]]) -> list[CheckMessage]:
    model = model_named(setting, name)
    return [
        Error(f"{setting} is {name}, which does not fit: {fault}.", hint=hint, obj=model, id="tenants.E002")
        for fault, hint in faults_of(model)
    ]


@register(Tags.database)
def tenant_model_is_made_first(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Otherwise the first `migrate` ends in a ValueError: "Related model cannot be resolved"."""
    app, _dot, name = TENANT_MODEL.partition(".")
    if DEFAULT_DB_ALIAS not in (databases or ()) or app == named("tenants"):
        return []
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    applied = executor.loader.applied_migrations
    ours = (named("tenants"), "0001_initial")
    if ours in applied or app in executor.loader.unmigrated_apps:
        return []
    order = [one for one, _ in executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True)]
    order.sort(key=lambda one: (one.app_label, one.name) not in applied)
    state, ours_was = ProjectState(), False
    for migration in order:
        ours_was |= (migration.app_label, migration.name) == ours
        migration.mutate_state(state, preserve=False)
        if (app, name.lower()) in state.models:
            hint = f"Write in that migration: run_before = [{ours}]"
            message = f"{migration} makes the tenant model, but runs after {'.'.join(ours)}."
            return [Error(message, hint=hint, id="tenants.E004")] if ours_was else []
    hint = f"Run: manage.py makemigrations {app}"
    return [Error(f"No migration makes the tenant model {TENANT_MODEL}.", hint=hint, id="tenants.E004")]


@register(Tags.models)
def memberships(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    hint = 'Set JOBS_MEMBERSHIP to "module.function": of a request, it returns a tenant or None. Or unset it.'
    known = is_function_or_unset(membership())
    return [] if known else [Error(f"JOBS_MEMBERSHIP is {membership()!r}: no function.", hint=hint, id="tenants.E006")]


def is_function_or_unset(path: str) -> bool:
    try:
        return not path or callable(import_string(path))
    except ImportError:
        return False


@register(TAG)
def logins(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """With 0 nobody could log in; with NaN or infinity any number of passwords could be tried."""
    number: Any = login_failures()
    if isinstance(number, int | float) and math.isfinite(number) and number > 0:
        return []
    hint = "Set LOGIN_FAILURES to a number greater than 0, or unset it."
    return [Error(f"LOGIN_FAILURES is {number!r}.", hint=hint, id="tenants.E003")]


def _faults(model: type[models.Model]) -> Iterator[Fault]:
    """What statements cannot use of the model, and why; each with its remedy."""
    key = model._meta.pk
    if not isinstance(key, models.IntegerField):
        yield f"its key {key.name!r} is a {type(key).__name__}, no integer", f"Choose another model; {MIRROR}."
    for name, setting in TEXTS.items():
        if fault := _fault_of_text(model, name, unique=setting == "JOBS_TENANT_SLUG"):
            yield fault, f"Set {setting} to a field that fits; {MIRROR}."


def _fault_of_text(model: type[models.Model], name: str, *, unique: bool) -> str:
    """Why the field cannot be the name or, if unique, the slug; "" if it can."""
    try:
        field = model._meta.get_field(name)
    except FieldDoesNotExist:
        return f"it has no field {name!r}"
    if not isinstance(field, models.CharField | models.TextField):
        return f"its field {name!r} is a {type(field).__name__}, no text"
    if field not in model._meta.local_concrete_fields:
        return f"its field {name!r} is in the table of {field.model._meta.label}"
    return f"its field {name!r} is not unique by itself" if unique and not _is_unique(model, field) else ""


def _is_unique(model: type[models.Model], field: Any) -> bool:
    return field.unique or any([field.name] == list(one.fields) for one in model._meta.total_unique_constraints)


def _faults_of_mirrored(model: type[models.Model]) -> Iterator[Fault]:
    """A name is any attribute. A slug is a field of any kind: two rows with the same could not be mirrored."""
    if not hasattr(model, HOST_NAME):
        yield f"it has no {HOST_NAME!r}", "Set JOBS_TENANT_NAME to an attribute that it has."
    fields = {field.name: field for field in model._meta.concrete_fields} | {"pk": model._meta.pk}
    slug, remedy = fields.get(HOST_SLUG), 'Set JOBS_TENANT_SLUG to a field that fits, or to "pk".'
    if slug is None:
        yield f"it has no field {HOST_SLUG!r}", remedy
    elif not _is_unique(model, slug):
        yield f"its field {HOST_SLUG!r} is not unique by itself", remedy
    elif isinstance(slug, models.CharField | models.TextField) and (slug.max_length or math.inf) > SLUG_LENGTH:
        yield f"its field {HOST_SLUG!r} may be longer than {SLUG_LENGTH} characters", remedy
