"""The events of tenants. A job waits for one by `wait_for`; the reader of ends lets it go on."""

from datetime import datetime

from jobs.conf import settings
from jobs.store.rows import rows


def tell(tenant_id: int, name: str, payload: str, *, kept_until: datetime | None = None) -> int | None:
    """Keep an event for JOBS_EVENT_TTL seconds; return its id, or None if one of this name is kept already.

    payload: as JSON.
    kept_until: it is kept at least until then.
    """
    keep = settings.JOBS_EVENT_TTL
    told = rows("tell", tenant_id=tenant_id, name=name, payload=payload, keep=keep, kept_until=kept_until)
    return told[0][0] if told else None
