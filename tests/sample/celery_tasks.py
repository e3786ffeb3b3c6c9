"""Celery tasks, as a project has them that moves here."""

from pathlib import Path
from typing import Any

from celery import shared_task

from jobs import Retry, current_job, job
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


@shared_task
def remember(path: str, word: str) -> None:
    """No job: it stays a task, for a worker of an app that carries no jobs."""
    with Path(path).open("a") as file:
        file.write(f"{word}\n")


@job
def remember_by_a_task(path: str) -> None:
    remember.delay(path, "from a job")
