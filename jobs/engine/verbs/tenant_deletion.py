"""Lock the rows of a tenant before it is deleted, in the order in which requests, the clock and bodies lock them.

Those lock a schedule, a cancel or a batch first, and then jobs. Django deletes jobs first, so each would wait for the
other.
"""

from collections import deque
from typing import Any

from django.db.models import Model
from django.db.models.signals import pre_delete

from jobs.models import Batch, BatchCancel, Job, KeptAnswer, Schedule
from tenants.tenant_model import get_tenant_model

ORDER: dict[type[Model], str] = {  # with the path to the tenant
    KeptAnswer: "tenant_id",
    Schedule: "tenant_id",
    BatchCancel: "batch__tenant_id",
    Batch: "tenant_id",
    Job: "tenant_id",
}


def connect() -> None:
    pre_delete.connect(_lock_all, sender=get_tenant_model())


def _lock_all(instance: Model, using: str, **_: Any) -> None:
    for model, tenant_id in ORDER.items():
        rows = model._default_manager.using(using).filter(**{tenant_id: instance.pk}).order_by("pk")
        locked = rows.select_for_update(of=("self",)).values_list("pk")
        deque(locked.iterator(), maxlen=0)  # a tenant may have very many jobs
