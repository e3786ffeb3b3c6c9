"""The model of tenants: `tenants.Tenant`, or the project's own (JOBS_TENANT_MODEL).

The type checker takes it for `tenants.Tenant`; the code uses only its key, `jobs_name` and `jobs_slug`.
"""

import re
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, cast

from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Collate
from django.db.models.lookups import IContains

from plumbing.names import with_our_names
from tenants.conf import TENANT_MODEL, TENANT_NAME, TENANT_SLUG, model_named
from tenants.models import Tenant

TABLE = re.compile(r"\btenants_tenant\b")


def get_tenant_model() -> type[Tenant]:
    return cast("type[Tenant]", model_named("JOBS_TENANT_MODEL", TENANT_MODEL))


def all_tenants() -> QuerySet[Tenant]:
    """Return all tenants, as our statements see them.

    Tenants that the project's own manager hides are among them, such as deleted ones that may come back.
    """
    return get_tenant_model()._base_manager.all()


def lock_tenant(tenant: Tenant) -> None:
    """Lock the tenant until the caller's commit: callers that count its objects before they add one do so in turn."""
    all_tenants().select_for_update(no_key=True).get(pk=tenant.pk)


def tenant_of_slug(slug: str) -> Tenant | None:
    return all_tenants().filter(**{TENANT_SLUG: slug}).first()


def slugs_of(ids: Iterable[int | None]) -> dict[int, str]:
    """Return the slugs of these tenants, by id; deleted tenants are missing."""
    return dict(all_tenants().filter(pk__in={pk for pk in ids if pk is not None}).values_list("pk", TENANT_SLUG))


class Contains(IContains):
    """A search by the database's collation: before PostgreSQL 18 no LIKE compares by a nondeterministic collation."""

    def __init__(self, lhs: Any, rhs: Any) -> None:
        super().__init__(Collate(lhs, "default"), rhs)


def give_names(model: type[Tenant]) -> None:
    """Give rows of the model `jobs_name` and `jobs_slug`, whatever its fields are called; let searches find them."""
    columns = {field.name: field for field in model._meta.fields}
    for name, field in (("jobs_name", TENANT_NAME), ("jobs_slug", TENANT_SLUG)):
        setattr(model, name, property(attrgetter(field)))
        if getattr(columns.get(field), "db_collation", None):  # a check reports a missing field
            columns[field].register_lookup(Contains)


def for_this_project(statement: str) -> str:
    """Return the statement with the names of our tables in this project, and the tenant model's for `tenants_tenant`.

    If the model's columns have other names than ours, a subquery renames them: PostgreSQL plans it like the table.
    """
    return TABLE.sub(lambda _: _table(), with_our_names(statement))


def _table() -> str:
    options: Any = get_tenant_model()._meta
    quoted = connection.ops.quote_name
    fields = (options.pk, options.get_field(TENANT_NAME), options.get_field(TENANT_SLUG))
    columns = dict(zip(("id", "name", "slug"), (field.column for field in fields), strict=True))
    table = quoted(options.db_table)
    if all(ours == theirs for ours, theirs in columns.items()):
        return table
    renamed = ", ".join(f"{quoted(theirs)} AS {ours}" for ours, theirs in columns.items())
    return f"(SELECT {renamed} FROM {table})"  # noqa: S608 - quoted, and from the code of the project
