"""Submit a job for a tenant, as operators name it: with the checks of the API, and an entry in the audit log."""

from typing import Any

from django.db import transaction

from jobs.calls.compose import compose_by_name
from jobs.console.operations.named import tenant_named
from jobs.engine.audit import note_job
from jobs.engine.submit import Submitted, submit


def submit_named(tenant: str, **call: Any) -> Submitted:
    """tenant: its slug. call: as `compose_by_name` takes it. Raises InvalidRequest, TooManyWaiting and Undecided."""
    request = compose_by_name(tenant_named(tenant), **call)
    with transaction.atomic():
        submitted = submit(request)
        if not submitted.deduplicated:
            note_job("submitted", submitted.id, request.tenant_id)
    return submitted


def told(submitted: Submitted) -> str:
    """What came of it."""
    there = "An identical job is already under way: job" if submitted.deduplicated else "Submitted job"
    return f"{there} {submitted.id}."
