"""The memories of job types, as people and the clock delete them."""

from datetime import datetime

from jobs.models import JobMemory
from jobs.store.rows import rows


def forget(
    tenant_id: int, *, source_type: str | None = None, source_method: str | None = None, memory_id: int | None = None
) -> int:
    """Delete the tenant's memories, perhaps only those of a type, a method, or one of them; return their number."""
    narrowed = {"source_type": source_type, "source_method": source_method, "pk": memory_id}
    given = {name: value for name, value in narrowed.items() if value is not None}
    return JobMemory.objects.filter(tenant_id=tenant_id, **given).delete()[0]


def expire_memories(ttl: float, batch: int = 1000, now: datetime | None = None) -> int:
    """Delete at most `batch` memories that were not written for `ttl` seconds; return their number."""
    return len(rows("expire_memories", ttl=ttl, batch=batch, now=now))
