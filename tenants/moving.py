"""Whether a tenant moves to another installation, and where to."""

from tenants.models import Moving, Tenant, TenantMove

RETRY_AFTER = 10  # seconds


def state_of(tenant: Tenant) -> str:
    """Return the state of the tenant's move; "" if it does not move. Takes a query if its slots are not loaded."""
    if (known := tenant.__dict__.get("jobs_moving")) is not None:
        return str(known)
    row = getattr(tenant, "jobs_queue", None)
    return "" if row is None else row.moving


def present_move(tenant_id: int) -> TenantMove | None:
    """Return the tenant's last move, also if it is over; None if it never moved."""
    return TenantMove.objects.filter(tenant_id=tenant_id).order_by("-pk").first()


def address_of(tenant_id: int) -> str:
    """Return the address to which the tenant goes or has gone, without a slash at its end; "" if it comes."""
    move = present_move(tenant_id)
    return "" if move is None else move.address


def in_words(state: str, address: str) -> str:
    """Return why a request is refused."""
    if state == Moving.MOVED:
        return f"The tenant has moved to {address}"
    return f"The tenant moves{f' to {address}' if address else ''}: try again in a while"
