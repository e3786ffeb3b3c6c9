"""This project with an ordinary pool, a process for each job, and with the settings that it has if nothing is set.

Celery carries the messages by Redis; jobs are submitted and limits changed by the verbs that its docs name.
"""

import os
import sys
import tomllib
from pathlib import Path

import django
from django.apps import apps

ENVIRON = {
    "DJANGO_SETTINGS_MODULE": "scheduler_project.settings",
    "DATABASE_URL": os.environ["DSN"],
    "CELERY_BROKER_URL": os.environ["REDIS_URL"],
    "CACHE_URL": os.environ["REDIS_URL"].removesuffix("/0") + "/1",
    "LOG_LEVEL": "WARNING",
}
if not apps.ready:  # in a worker they are
    os.environ.update(ENVIRON)
    django.setup()

from django.core.management import call_command  # noqa: E402
from fair.body import run  # noqa: E402

import scheduler_project.celery  # noqa: E402, F401  # the app that carries the messages
from jobs import async_, dispatch_in_background, job, queries  # noqa: E402
from tenants.models import Tenant, TenantQueue  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
NEEDS = {"postgresql", "redis"}
VERSION = f"this project {tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']['version']}, ordinary pool"
DOCS = "own-project.md"
LIMITS = "strict"
MOST_AT_ONCE = 64  # processes
QUEUE = POOL = "default"

_tenants: dict[str, Tenant] = {}
_body = None


@job(dedup=False)  # each call is a job of its own
def sleep(*, slug: str, id: int, seconds: float) -> None:
    run(slug, id, seconds)


def setup(engines: dict[str, str], tenants: dict[str, int], body=sleep) -> None:
    call_command("migrate", verbosity=0)
    rows = Tenant.objects.bulk_create(Tenant(name=name, slug=name) for name in tenants)
    TenantQueue.objects.bulk_create(TenantQueue(tenant=row, num_slots=tenants[row.slug]) for row in rows)
    _tenants.update({row.slug: row for row in rows})
    global _body  # noqa: PLW0603
    _body = body
    dispatch_in_background()  # as a web process does


def submit(tenant: str, bodies: list[dict]) -> None:
    call = async_(_body, tenant=_tenants[tenant])
    arguments = [{"slug": tenant, "id": body["id"], "seconds": body["seconds"]} for body in bodies]
    if len(arguments) == 1:
        call(**arguments[0])
    else:
        call.many(arguments)


def worker_command(at_once: int) -> list[str]:
    return command(at_once)


def command(processes: int) -> list[str]:
    argv = ["env", *(f"{name}={value}" for name, value in ENVIRON.items()), sys.executable, "-m", "celery"]
    argv += ["-A", "scheduler_project", "worker", "-Q", POOL, "-n", f"fair-{os.urandom(4).hex()}@%h"]
    return [*argv, "-c", str(processes), "--without-gossip", "--without-mingle"]


def limit(tenant: str, slots: int) -> None:
    call_command("tenants", "slots", tenant, "--set", str(slots))


def count() -> int:
    return queries.all_jobs().filter(end_time__isnull=True).count()
