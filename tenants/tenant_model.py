"""The model of tenants: `tenants.Tenant`, or the project's own (JOBS_TENANT_MODEL).

To the type checker it is `tenants.Tenant`; only an id, a name and a slug are used of it.
"""

import re
from typing import cast

from django.apps import apps
from django.db import connection
from django.db.models import QuerySet

from tenants.conf import TENANT_MODEL
from tenants.models import Tenant
from tenants.names import with_our_names

TABLE = re.compile(r"\btenants_tenant\b")


def get_tenant_model() -> type[Tenant]:
    return cast("type[Tenant]", apps.get_model(TENANT_MODEL))


def all_tenants() -> QuerySet[Tenant]:
    return get_tenant_model()._default_manager.all()


def for_this_project(statement: str) -> str:
    """The statement with the names of our tables here, and the table of that model for `tenants_tenant`."""
    return TABLE.sub(lambda _: connection.ops.quote_name(get_tenant_model()._meta.db_table), with_our_names(statement))
