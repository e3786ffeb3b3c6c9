"""Clear what job types remember."""

from django.db import transaction

from jobs import store
from jobs.models import JobMemory
from tenants import audit
from tenants.models import Tenant


@transaction.atomic
def clear(memory: JobMemory) -> bool:
    """Delete a memory; False if it is gone already. This waits for a job that is just writing it."""
    cleared = store.forget(memory.tenant_id, memory_id=memory.pk) > 0
    if cleared:
        audit.note("cleared", JobMemory, [(memory.pk, str(memory))], tenant_id=memory.tenant_id)
    return cleared


@transaction.atomic
def clear_all(tenant: Tenant, source_type: str | None = None, source_method: str | None = None) -> int:
    """Delete the tenant's memories, perhaps only those of a type or of one of its methods; return their number."""
    count = store.forget(tenant.pk, source_type=source_type, source_method=source_method)
    if count:
        of = " ".join([f"{tenant.jobs_slug}:", *filter(None, (source_type, source_method))])
        audit.note("cleared", JobMemory, [(tenant.jobs_slug, of)], {"memories": [count, 0]}, tenant_id=tenant.pk)
    return count
