"""A project whose router reads from a replica, which is late: jobs go on as without it."""

import pytest
from django.core.checks import run_checks
from django.db import connections

from jobs import checks
from jobs.engine.attempt.execute import execute
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.lifecycle import Status
from jobs.models import Job
from jobs.routing import Primary
from tenants.models import Tenant
from tests.callers import caller_with_key
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Thing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]


class ToReplica:
    """As Django's documentation has it."""

    def db_for_read(self, model, **hints):
        return "replica"

    def db_for_write(self, model, **hints):
        return "default"

    def allow_relation(self, *_, **hints):
        return True


@pytest.fixture
def falls_behind(settings, monkeypatch):
    """Call it, and the project reads from a replica that gets nothing any more."""
    monkeypatch.setitem(connections.databases, "replica", connections.databases["default"])
    behind = connections["replica"] = connections.create_connection("default")

    def fall_behind(*routers) -> None:
        behind.set_autocommit(False)
        with behind.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SELECT FROM jobs")
        settings.DATABASE_ROUTERS = [*routers, ToReplica()]

    yield fall_behind
    behind.close()
    del connections["replica"]


@pytest.mark.parametrize("routers", [[], [Primary()]], ids=["theirs", "ours"])
def test_a_job_finds_its_object(falls_behind, register, sent, routers):
    worker, tenant = register(), TenantFactory()
    falls_behind(*routers)
    execute(ThingFactory(tenant=tenant).async_.echo(1), 1, AttemptHost(ProcessHost(worker)))
    assert Job.objects.using("default").get().status == Status.SUCCESS


def test_the_api_knows_what_was_written_just_now(falls_behind, make_report):
    falls_behind(Primary())
    report = make_report(TenantFactory())
    owner = caller_with_key(report.tenant)
    call = {"source_type": "reports.datareport", "source_id": str(report.pk), "source_method": "execute"}
    headers = {"Idempotency-Key": "k"}
    first, again = (
        owner.post("/api/v1/jobs", call, content_type="application/json", headers=headers) for _ in range(2)
    )
    assert (first.status_code, again.content) == (202, first.content)
    job = first.json()["id"]
    assert owner.get(f"/api/v1/jobs/{job}").json()["queue"] == "reports"
    assert [one["id"] for one in owner.get("/api/v1/jobs").json()["jobs"]] == [job]
    assert owner.post(f"/api/v1/jobs/{job}/cancel").status_code == 200
    assert owner.post(f"/api/v1/jobs/{job}/revive").status_code == 202
    schedule = {key: call[key] for key in ("source_type", "source_method")} | {"name": "n", "every": 3600}
    made = owner.post("/api/v1/schedules", schedule | {"source_id": str(report.pk)}, content_type="application/json")
    assert made.status_code == 201
    assert owner.get(f"/api/v1/schedules/{made.json()['id']}").status_code == 200


def found() -> list[str]:
    return [one.hint for one in run_checks(tags=[checks.TAG]) if one.id == "jobs.E016"]


def test_the_check_asks_for_our_router(settings):
    assert found() == []
    settings.DATABASE_ROUTERS = [ToReplica()]
    assert found() == ['Begin DATABASE_ROUTERS with "jobs.routing.Primary".']
    settings.DATABASE_ROUTERS = ["jobs.routing.Primary", ToReplica()]
    assert found() == []


def test_other_models_are_left_to_the_projects_own_routers():
    assert Primary().db_for_read(Thing) is None
    assert Primary().db_for_read(Tenant) == Primary().db_for_write(Job) == "default"
