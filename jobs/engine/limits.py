"""Change a limit: of a tenant (`TenantQueue`) or of a queue. Whoever changes one does it here."""

from collections.abc import Collection, Mapping
from typing import Any

from jobs.engine import dispatch
from jobs.models import Queue
from tenants.models import TenantQueue


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Check and store these values by field. Raises Django's ValidationError, by field, having stored nothing."""
    for name, value in values.items():
        setattr(row, name, value)
    row.full_clean()
    store(row, values.keys())


def store(row: Queue | TenantQueue, fields: Collection[str] | None = None) -> None:
    """Store a row that is checked already. fields: which have changed; None: all of a new one.

    Only these are written: somebody else may be changing the others. Old and new values are noted with who acts
    (tenants/audit.py). Who waited for a raised limit, a new queue or a resumed tenant goes when this commits.
    """
    row.save(update_fields=None if fields is None else list(fields))
    dispatch.on_commit()
