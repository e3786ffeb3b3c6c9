"""Open a lane or a queue that a job holds, before its moment."""

from django.db import transaction

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.engine.door import dispatch
from jobs.models import Queue
from tenants import audit
from tenants.models import Tenant


def open_line(queue: Queue, tenant: Tenant | None = None) -> None:
    """Let the jobs of a queue start again, or of a tenant in it. The jobs that hold it are the first, at once.

    tenant: only its lane; None: the queue, of which the lanes that are held themselves stay so.
    Raises InvalidRequest if no job holds it.
    """
    with transaction.atomic():  # with its entry in the audit log
        if not store.open_line(queue.pk, store.WHOLE_QUEUE if tenant is None else tenant.pk):
            whose = "" if tenant is None else f" for tenant {tenant}"
            raise InvalidRequest("queue", f"no job holds queue {queue.name}{whose}")
        values = {} if tenant is None else {"tenant": str(tenant)}
        audit.note("opened", Queue, [(queue.pk, queue.name)], values, tenant_id=None if tenant is None else tenant.pk)
        dispatch.on_commit()
