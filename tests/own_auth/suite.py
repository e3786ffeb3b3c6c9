"""What works in that project; run by tests/integration/project/test_adopter.py, with the settings beside this file."""

from importlib import import_module

import pytest
from django.apps import apps
from django.core.checks import run_checks
from django.core.management import call_command
from django.test import Client

from embedded import REPOSITORY
from jobs import results
from jobs.contrib.testing import drain
from jobs.models import Job, Queue
from plumbing.names import OURS
from tenants import auth
from tenants.models import Tenant, TenantQueue
from tests.own_auth.models import Account, Parcel

pytestmark = pytest.mark.django_db
NEED_MORE = ("admin", "sql/__main__.py", "contrib/django_tasks", "console/admin", "key_admin.py")


def tenant_called(slug):
    tenant = Tenant.objects.create(name=slug, slug=slug)
    TenantQueue.objects.update_or_create(tenant=tenant, defaults={"num_slots": 2})
    return tenant


@pytest.fixture
def parcel():
    Queue.objects.get_or_create(name="default")
    return Parcel.objects.create(tenant=tenant_called("acme"))


def test_every_module_of_ours_can_be_imported():
    assert not apps.is_installed("django.contrib.auth")
    for path in (path.relative_to(REPOSITORY) for app in OURS for path in (REPOSITORY / app).rglob("*.py")):
        inside = str(path).partition("/")[2]
        if not inside.startswith(NEED_MORE):
            import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))


def test_no_check_has_anything_against_it_and_its_migrations_are_ours():
    assert run_checks(databases=["default"]) == []
    call_command("makemigrations", "auth", *OURS, check=True, dry_run=True, verbosity=0)


def test_its_jobs_run(parcel):
    job_id = parcel.async_.weigh(scale="second")
    drain()
    job = Job.objects.get(pk=job_id)
    assert (job.status, results.load(job).value) == ("success", "acme on the second")


def test_the_api_knows_a_key_and_no_one_without_it(parcel):
    job_id = parcel.async_.weigh()
    address = f"/api/v1/jobs/{job_id}"
    owner, stranger = (
        Client(headers={"Authorization": f"Bearer {auth.issue(tenant, 'walk')[1]}"})
        for tenant in (parcel.tenant, tenant_called("other"))
    )
    assert [client.get(address).status_code for client in (owner, stranger, Client())] == [200, 404, 401]


def test_the_pages_ask_whom_the_project_knows():
    Account.objects.create(email="olga@example.com", is_staff=True)
    assert Client(headers={"X-Account": "olga@example.com"}).get("/ops/").status_code == 200
    away = Client().get("/ops/?q=a&b")
    assert (away.status_code, away["Location"]) == (302, "/sign-in/?by=token&next=/ops/%3Fq%3Da%26b")
