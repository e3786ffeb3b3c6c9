"""What works under a prefix; run by tests/integration/project/test_prefix.py, with the settings beside this file."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs import RetryLater
from jobs.console.ops.shared import access
from jobs.console.ops.shared.access import Permissions
from jobs.contrib.testing import drain, fail_next
from jobs.engine.upkeep import history
from jobs.models import AnyJob, Attempt, Job, JobMinute, Schedule
from jobs.recording import record
from jobs.sql import files
from tenants import auth
from tenants.models import Change
from tests.clock import call_at
from tests.factories import MemberFactory, ThingFactory, UserFactory, make_job, operator_key
from tests.prefixed.jobs.models import Job as Position
from tests.prefixed.tenants.models import Tenant as Renter
from tests.statements import fault_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def theirs() -> Iterator[None]:
    """Their rows, which nobody of us reads or writes."""
    Position.objects.create(title="plumber")
    Renter.objects.create(flat="12a")
    yield
    assert [position.title for position in Position.objects.all()] == ["plumber"]
    assert [renter.flat for renter in Renter.objects.all()] == ["12a"]


def test_our_tables_have_the_prefix_and_theirs_stay():
    ours = {
        model._meta.db_table
        for label in ("scheduler_jobs", "scheduler_tenants")
        for model in apps.get_app_config(label).get_models()
    }
    assert {table for table in ours if not table.startswith("scheduler_")} == set()
    assert {"scheduler_jobs", "scheduler_tenant_queues", "scheduler_tenants_tenant"} <= ours
    assert {"jobs", "tenants_tenant"} <= set(connection.introspection.table_names())
    assert run_checks(databases=["default"]) == []


def test_every_statement_finds_its_tables(subtests, onlooker):
    for name in files():
        with subtests.test(name):
            assert fault_of(name, onlooker) == ""


class TestALife:
    def test_from_the_submit_to_the_history_and_the_counts(self):
        thing = ThingFactory()
        with fail_next(thing.async_.echo, RetryLater(1)):
            thing.async_.echo("x")
            thing.async_.again()
            ended = drain(later=True)
        assert sorted(attempt.status for attempt in ended) == ["scheduled", "success", "success"]
        record.keep_partitions()
        call_at(timezone.now() + timedelta(minutes=3), record.record_minutes)
        assert Attempt.objects.count() == 3
        assert sum(JobMinute.objects.values_list("attempts", flat=True)) == 3
        call_command("check_invariants")
        assert call_at(timezone.now() + timedelta(days=9), history.Archive().run) == 2
        assert (Job.objects.count(), AnyJob.objects.count()) == (0, 2)

    def test_a_schedule_submits(self):
        thing = ThingFactory()
        what = ["sample.thing", str(thing.pk), "echo"]
        call_command("schedules", "add", "often", *what, "--tenant", thing.tenant.slug, "--every", "60")
        assert Schedule.objects.get().name == "often"


class TestPages:
    @pytest.mark.parametrize("page", [name for name, *_ in access.PAGES])
    def test_pages_of_operators_open_with_their_permissions_alone(self, page):
        job = make_job(ThingFactory().tenant, "dead")
        user = UserFactory(is_staff=True)
        client = Client()
        client.force_login(user)
        address = reverse(f"jobs_ops:{page}")
        forbidden = client.get(address)
        assert forbidden.status_code == 403
        assert re.search(r"scheduler_(jobs|tenants)\.view_\w+", forbidden.content.decode())
        user.user_permissions.set(Permission.objects.filter(content_type__app_label__startswith="scheduler_"))
        opened = client.get(address)
        assert opened.status_code == 200
        assert f'href="{address}"' in opened.content.decode(), "in the menu"
        assert client.get(reverse("jobs_ops:job", args=[job.pk])).status_code == 200

    def test_ask_for_their_permissions_by_the_plain_name(self):
        perms = Permissions(UserFactory())
        assert perms["jobs"].app_label == "scheduler_jobs"
        assert perms["auth"].app_label == "auth"

    def test_pages_of_the_admin_open(self, admin_client):
        make_job(ThingFactory().tenant, "dead")
        for model in ("jobs_queue", "jobs_schedule", "tenants_tenantqueue"):
            address = reverse(f"admin:scheduler_{model}_changelist")
            assert admin_client.get(address).status_code == 200, address
        linked = re.findall('href="(/admin/[^"]*)', admin_client.get("/admin/").content.decode())
        assert len([address for address in linked if address.startswith("/admin/scheduler_jobs/")]) > 2
        for address in linked:
            assert admin_client.get(address, follow=True).status_code == 200, address


class TestTheApi:
    def test_the_owner_sees_a_job_and_a_stranger_none(self):
        job = make_job(ThingFactory().tenant)
        for tenant, status in ((job.tenant, 200), (MemberFactory().tenant, 404)):
            _, token = auth.issue(tenant, "test")
            client = Client(headers={"Authorization": f"Bearer {token}"})
            assert client.get(f"/api/v1/jobs/{job.pk}").status_code == status

    def test_an_operators_key_asks_for_the_permission_of_this_name(self):
        user = UserFactory(is_staff=True)
        _, token = operator_key(user, "test")
        client = Client(headers={"Authorization": f"Bearer {token}"})
        refused = client.get("/api/v1/operator/queues")
        assert "scheduler_jobs.view_queue" in json.loads(refused.content)["detail"]
        named = {"codename": "view_queue", "content_type__app_label": "scheduler_jobs"}
        user.user_permissions.add(Permission.objects.get(**named))
        assert client.get("/api/v1/operator/queues").status_code == 200

    def test_nothing_is_left_to_migrate(self):
        """With this project's kind of key, too."""
        call_command("makemigrations", "scheduler_jobs", "scheduler_tenants", check=True, dry_run=True, verbosity=0)

    def test_the_audit_log_says_what_was_changed_without_a_prefix(self, admin_client):
        tenant = ThingFactory().tenant
        address = reverse("admin:scheduler_tenants_tenantqueue_change", args=[tenant.jobs_queue.pk])
        form = admin_client.get(address).context["adminform"].form
        given = {name: value for name, value in form.initial.items() if value not in (None, False)}
        assert admin_client.post(address, given | {"num_slots": 7}).status_code == 302
        assert Change.objects.get().kind == "tenants.tenantqueue"
        assert "Changed by" in admin_client.get(reverse("jobs_ops:tenant", args=[tenant.slug])).content.decode()
