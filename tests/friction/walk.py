"""That project at work: a hundred jobs of ten tenants by a worker of its own, then the pages and the API.

Run by tests/acceptance/test_friction.py on empty engines. It tells by its status whether all was well.
"""

import os
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import django

from embedded.processes import Processes
from tests.waiting import wait_until

TENANTS, JOBS = 10, 10  # jobs of each
WORKER = [sys.executable, "-m", "celery", "-A", "tests.friction.celery:jobs_app", "worker", "-Q", "default", "-c", "4"]


def main() -> None:
    django.setup()
    from django.core.management import call_command

    call_command("check")
    call_command("migrate", verbosity=0)
    workspaces = begin()
    with tempfile.TemporaryDirectory() as logs, Processes() as processes:
        processes.start("worker", WORKER, dict(os.environ), log=Path(logs) / "worker.log")
        try:
            run(workspaces)
        except BaseException:
            sys.stderr.write((Path(logs) / "worker.log").read_text())
            raise


def begin() -> list:
    """Workspaces that were there before jobs were taken up."""
    from django.core.management import call_command

    from jobs.engine.verbs import limits
    from tenants.mirror import tenant_of
    from tests.friction.models import Folder, Invoice, Membership, Person, Workspace

    workspaces = Workspace.objects.bulk_create(Workspace(title=f"workspace {n}") for n in range(TENANTS))
    call_command("tenants", "mirror", verbosity=0)
    for workspace in workspaces:
        limits.change(tenant_of(workspace).jobs_queue, {"num_slots": 2})
        Invoice.objects.create(folder=Folder.objects.create(workspace=workspace))
        person = Person.objects.create(username=f"of {workspace}")
        Membership.objects.create(person=person, workspace=workspace)
    return workspaces


def run(workspaces: list) -> None:
    from django.contrib.auth.models import Permission
    from django.test import Client

    from jobs import results
    from jobs.models import Job
    from tenants import auth
    from tenants.mirror import tenant_of
    from tests.friction.models import Invoice, Person

    ids = {
        invoice.async_.print(copies=n): invoice.folder.workspace
        for invoice in Invoice.objects.select_related("folder__workspace")
        for n in range(JOBS)
    }
    wait_until(lambda: not Job.objects.exclude(status="success").exists(), "all jobs end well", limit=120)
    texts = {job.pk: results.load(job).value for job in Job.objects.all()}
    assert len(texts) == TENANTS * JOBS
    assert all(set(texts[pk]) <= {f"{workspace} the host's own"} for pk, workspace in ids.items()), texts

    operator = Person.objects.create(username="operator")
    operator.user_permissions.set(Permission.objects.filter(content_type__app_label__in=["jobs", "tenants"]))
    assert (
        _page(operator, "/ops/") == _page(operator, "/ops/jobs/") == _page(operator, "/ops/tenants/?state=all") == 200
    )
    owner, stranger = workspaces[:2]
    [own_job, foreign] = (next(pk for pk, workspace in ids.items() if workspace == user) for user in (owner, stranger))
    member = Person.objects.get(username=f"of {owner}")
    assert (_page(member, f"/jobs/{own_job}/"), _page(member, f"/jobs/{foreign}/")) == (200, 404)
    _, token = auth.issue(tenant_of(owner), "walk")
    api = Client(headers={"Authorization": f"Bearer {token}"})
    assert [api.get(f"/api/v1/jobs/{pk}").status_code for pk in (own_job, foreign)] == [200, 404]


def _page(user, path: str) -> int:
    from django.test import Client

    client = Client(SERVER_NAME=urlsplit("http://127.0.0.1").hostname)
    client.force_login(user)
    return client.get(path).status_code


if __name__ == "__main__":
    main()
