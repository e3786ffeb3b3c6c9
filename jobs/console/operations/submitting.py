"""Submit a job for a tenant that an operator names: with the checks of the API, and an entry in the audit log."""

from typing import Any

from jobs.calls.compose import compose_by_name
from jobs.console.operations.named import tenant_named
from jobs.engine.submitting.submit import Submitted, submit_by_hand


def submit_named(tenant: str, **call: Any) -> Submitted:
    """Submit a job. Raises InvalidRequest, TooManyWaiting and Undecided.

    tenant: the slug of its tenant
    call: the parameters of `compose_by_name`
    """
    return submit_by_hand(compose_by_name(tenant_named(tenant), **call))


def confirmation(submitted: Submitted) -> str:
    opening = "This call is part of a job that was there before: job" if submitted.deduplicated else "Submitted job"
    return f"{opening} {submitted.id}."
