"""Celery tasks, as a project has them that moves here."""

from pathlib import Path
from typing import Any

from celery import Task, shared_task

from jobs import Cancelled, Retry, RetryLater, cancel, current_job, job
from jobs.contrib.celery_tasks import as_job
from tenants.models import Tenant


def owner_of(account: int, *_: Any, **__: Any) -> Tenant | None:
    return Tenant.objects.filter(pk=account).first()


@as_job(tenant=owner_of, queue="critical", timeout=30)
@shared_task
def send_invoice(account: int, number: int, *, copy: bool = False) -> dict[str, Any]:
    """Send it."""
    return {"tenant": current_job().tenant.pk, "number": number, "copy": copy}


@as_job(tenant=owner_of, retry=Retry.every(60, max_retries=2))
@shared_task(bind=True, autoretry_for=(ConnectionError,), max_retries=7)
def call_back(self, account: int, *, fail: int) -> list[Any]:
    if current_job().attempt <= fail:
        raise ConnectionError("nobody answers")
    return [self.name, self.request.called_directly]


@as_job
@shared_task(name="billing.follow_up")
def follow_up() -> int:
    return current_job().tenant.pk


@as_job(tenant=owner_of)
@shared_task
def begin(account: int) -> str:
    return follow_up.delay().id


TOLD: list[tuple[Any, ...]] = []  # what the hooks below have heard


class Told(Task):
    """A class of tasks that has every hook of Celery."""

    def before_start(self, task_id, args, kwargs):
        TOLD.append(("before_start", int(task_id), args, kwargs))

    def on_success(self, retval, task_id, args, kwargs):
        TOLD.append(("on_success", int(task_id), retval))

    def on_retry(self, exc, task_id, args, kwargs, einfo):
        if "path" in kwargs:
            Path(kwargs["path"]).write_text(f"on_retry of {task_id}")
        TOLD.append(("on_retry", int(task_id), exc, einfo.type))

    def on_failure(self, exc, task_id, args, kwargs, einfo):
        tenant = current_job().tenant
        TOLD.append(("on_failure", int(task_id), exc, "raise" in einfo.traceback, tenant and tenant.pk))
        if kwargs.get("how") == "sys.exit":
            raise SystemExit

    def after_return(self, status, retval, task_id, *rest):
        TOLD.append(("after_return", int(task_id), status, retval))


@as_job(tenant=owner_of, retry=Retry.every(60, max_retries=1))
@shared_task(base=Told)
def export(account: int, *, how: str = "well", path: str = "") -> str:
    if how == "again" and current_job().attempt == 1:
        raise RetryLater(1)
    if how == "stopped":
        cancel(current_job().id, tenant_id=account)
        raise Cancelled
    if how in ("badly", "sys.exit"):
        raise ValueError(how)
    return how


@shared_task
def remember(path: str, word: str) -> None:
    """No job: it stays a task, for a worker of an app that carries no jobs."""
    with Path(path).open("a") as file:
        file.write(f"{word}\n")


@job
def remember_by_a_task(path: str) -> None:
    remember.delay(path, "from a job")
