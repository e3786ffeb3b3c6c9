"""A router for projects that read from replicas: the rows that jobs need are read where they are written."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model

from plumbing.names import OURS, named
from tenants.conf import TENANT_MODEL


class Primary:
    """The first of DATABASE_ROUTERS: a replica may not have a new job, its queue, its tenant or their keys yet."""

    def db_for_read(self, model: type[Model], **_: Any) -> str | None:
        return DEFAULT_DB_ALIAS if is_ours(model) else None

    db_for_write = db_for_read


def is_ours(model: type[Model]) -> bool:
    """Return whether jobs need this model: it is one of our apps, or the project's tenant."""
    return model._meta.app_label in map(named, OURS) or model._meta.label_lower == TENANT_MODEL.lower()
