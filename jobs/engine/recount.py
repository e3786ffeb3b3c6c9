"""Recount: correct the lanes' counts of waiting jobs where they decide whether a tenant may submit more."""

from jobs import store, telemetry


def recount_waiting() -> int:
    """Correct the lanes of tenants near their backlog limit; return the number of wrong counts."""
    differences = store.recount_waiting()
    for queue_id, tenant_id, jobs in differences:
        telemetry.noticed("backlog was counted wrong", queue=queue_id, tenant=tenant_id, jobs=f"{jobs:+d}")
    return len(differences)
