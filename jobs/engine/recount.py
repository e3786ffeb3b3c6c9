"""Recount: what the lanes know of a backlog is put right where it decides whether more is taken."""

from jobs import store, telemetry


def recount_waiting() -> int:
    """Correct the lanes of tenants that come near to their bound; how many were wrong."""
    differences = store.recount_waiting()
    for queue_id, tenant_id, jobs in differences:
        telemetry.noticed("backlog was counted wrong", queue=queue_id, tenant=tenant_id, jobs=f"{jobs:+d}")
    return len(differences)
