"""System checks of logins and of the tenant model, whose table our statements join and our tables refer to."""

import math
from collections.abc import Iterator
from typing import Any

from django.core.checks import Tags
from django.core.exceptions import FieldDoesNotExist
from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ProjectState
from django.utils.module_loading import import_string

from plumbing.bounds import SLUG_LENGTH
from plumbing.faults import Fault, check
from plumbing.names import named
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

TAG = "tenants"
TEXTS = {TENANT_NAME: "JOBS_TENANT_NAME", TENANT_SLUG: "JOBS_TENANT_SLUG"}
MIRROR = "or leave JOBS_TENANT_MODEL out, and let JOBS_TENANT_MIRROR name the model: docs/own-project.md"


@check("tenants.E002", Tags.models)
def tenants_fit() -> Iterator[Fault]:
    """Check the tenant model, whose table statements join, and the mirrored model, from which tenants are written."""
    for setting, name, faults_of in (
        ("JOBS_TENANT_MODEL", TENANT_MODEL, _faults),
        ("JOBS_TENANT_MIRROR", MIRRORED, _faults_of_mirrored),
    ):
        if name:
            model = model_named(setting, name)
            for fault, hint in faults_of(model):
                yield f"{setting} is {name}, which does not fit: {fault}.", hint, model


@check("tenants.E005", Tags.models)
def model_or_mirror() -> Iterator[Fault]:
    """Refuse a tenant model beside a mirror: with a mirror the tenants are rows of tenants.Tenant."""
    if MIRRORED and named("tenants.Tenant") != TENANT_MODEL:
        hint = "Unset JOBS_TENANT_MODEL: the tenants are rows of tenants.Tenant then."
        yield "JOBS_TENANT_MODEL and JOBS_TENANT_MIRROR are both set.", hint


@check("tenants.E004", Tags.database)
def tenant_model_is_made_first() -> Iterator[Fault]:
    """Check that the tenant model's migration runs before ours.

    Else the first `migrate` ends in a ValueError: "Related model cannot be resolved".
    """
    app, _dot, name = TENANT_MODEL.partition(".")
    if app == named("tenants"):
        return
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    applied = executor.loader.applied_migrations
    ours = (named("tenants"), "0001_initial")
    if ours in applied or app in executor.loader.unmigrated_apps:
        return
    order = [
        migration for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True)
    ]
    order.sort(key=lambda migration: (migration.app_label, migration.name) not in applied)
    state, ours_was = ProjectState(), False
    for migration in order:
        ours_was |= (migration.app_label, migration.name) == ours
        migration.mutate_state(state, preserve=False)
        if (app, name.lower()) in state.models:
            if ours_was:
                hint = f"Write in that migration: run_before = [{ours}]"
                yield f"{migration} makes the tenant model, but runs after {'.'.join(ours)}.", hint
            return
    yield f"No migration makes the tenant model {TENANT_MODEL}.", f"Run: manage.py makemigrations {app}"


@check("tenants.E006", Tags.models)
def memberships() -> Iterator[Fault]:
    """Check JOBS_MEMBERSHIP. Without this check, the first page that a member opens would fail."""
    if not is_function_or_unset(membership()):
        hint = 'Set JOBS_MEMBERSHIP to "module.function": of a request, it returns a tenant or None. Or unset it.'
        yield f"JOBS_MEMBERSHIP is {membership()!r}: no function.", hint


def is_function_or_unset(path: str) -> bool:
    try:
        return not path or callable(import_string(path))
    except ImportError:
        return False


@check("tenants.E003")
def logins() -> Iterator[Fault]:
    """Check LOGIN_FAILURES. With 0 no user could log in; with NaN or infinity the number of tries has no limit."""
    number: Any = login_failures()
    if not (isinstance(number, int | float) and math.isfinite(number) and number > 0):
        yield f"LOGIN_FAILURES is {number!r}.", "Set LOGIN_FAILURES to a number greater than 0, or unset it."


def _faults(model: type[models.Model]) -> Iterator[tuple[str, str]]:
    """Yield why statements cannot use the model, each reason with its remedy."""
    key = model._meta.pk
    if not isinstance(key, models.IntegerField):
        yield f"its key {key.name!r} is a {type(key).__name__}, no integer", f"Choose another model; {MIRROR}."
    for name, setting in TEXTS.items():
        if fault := _fault_of_text(model, name, unique=setting == "JOBS_TENANT_SLUG"):
            yield fault, f"Set {setting} to a field that fits; {MIRROR}."


def _fault_of_text(model: type[models.Model], name: str, *, unique: bool) -> str:
    """Return why the field cannot be the name or, if unique, the slug; "" if it can."""
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
    return field.unique or any(
        [field.name] == list(constraint.fields) for constraint in model._meta.total_unique_constraints
    )


def _faults_of_mirrored(model: type[models.Model]) -> Iterator[tuple[str, str]]:
    """Yield why the model cannot be mirrored, each reason with its remedy.

    The name may be any attribute. The slug must be a unique field: two rows with one slug could not be mirrored.
    """
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
