"""Change a limit of a tenant (`TenantQueue`) or of a queue. The API, the admin and the command line all do it here.

Three triggers add what this module does not say. `tenant_limits_changed` tells the next fold to open the tenant's
lanes, `queue_slots_changed` the full ones of a queue; each pass reads the row of a queue. `limits_changed` notes both
kinds for what-if. See docs/architecture.md.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from jobs.calls import registry
from jobs.engine.door import dispatch
from jobs.models import Queue
from tenants.models import Tenant, TenantQueue


def locked_slots(tenant: Tenant) -> TenantQueue:
    """Return the tenant's row, locked for a change in the caller's transaction.

    A tenant without a row has no slots; changing another field must not give it any.
    """
    TenantQueue.objects.get_or_create(tenant=tenant, defaults={"num_slots": 0})
    return TenantQueue.objects.select_for_update(no_key=True).get(tenant=tenant)


def locked_queue(name: str) -> Queue | None:
    """Return the queue of this name, locked for a change in the caller's transaction."""
    # no_key: a submit, which refers to the row, need not wait.
    return Queue.objects.select_for_update(no_key=True).filter(name=name).first()


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Set these values, by field, and check and store the row. Raises ValidationError; then nothing is stored."""
    if isinstance(row, TenantQueue):
        if unknown := unknown_queue(row, values.get("queue_slots")):
            raise ValidationError({"queue_slots": unknown})
        if unknown := unknown_unit(row, values.get("budgets")):
            raise ValidationError({"budgets": unknown})
    for name, value in values.items():
        setattr(row, name, value)
    row.full_clean()
    store(row, None if row._state.adding else values.keys())


def unknown_queue(row: TenantQueue, queue_slots: object) -> str:
    """Return why the tenant cannot have these slots, or "": a queue does not exist. What it has there already stays.

    queue_slots: the new slots, by the name of the queue
    """
    added = queue_slots.keys() - row.queue_slots.keys() if isinstance(queue_slots, dict) else set()
    unknown = added - set(Queue.objects.filter(name__in=added).values_list("name", flat=True))
    return f"There is no queue {min(unknown)}." if unknown else ""


def unknown_unit(row: TenantQueue, budgets: object) -> str:
    """Return why the tenant cannot have these budgets, or "": no job type declares a unit, so it would hold no job.

    A budget that the tenant has already stays.

    budgets: the new ones, by unit
    """
    added = budgets.keys() - row.budgets.keys() if isinstance(budgets, dict) else set()
    if not added:
        return ""
    known = registry.units()
    names = ", ".join(sorted(known)) or 'none: write @job(units=("tokens",))'
    unknown = sorted(added - known, key=str)
    return f"No job type declares the unit {unknown[0]}; declared: {names}." if unknown else ""


def store(row: Queue | TenantQueue, fields: Collection[str] | None = None) -> None:
    """Store a row that was checked already.

    fields: the changed fields; None: all fields of a new row.
    Only these are written, since another user may be changing the others. The audit log (tenants/audit.py) gets the old
    and new values and the actor. A dispatch after the commit starts jobs that the old values held up.
    """
    with transaction.atomic():  # with its entry in the audit log
        row.save(update_fields=None if fields is None else list(fields))
        dispatch.on_commit()
