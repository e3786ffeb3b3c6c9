"""How often wait targets were kept: tenants see their own, operators all, on pages, in the API and in commands."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs.models import Queue
from jobs.recording import record
from tenants.models import Change
from tests.callers import program_of, staff
from tests.clock import call_at
from tests.factories import QueueFactory
from tests.integration.engine.test_record import attempt

pytestmark = pytest.mark.django_db


@pytest.fixture
def counted(tenant, stranger):
    """Three attempts of the tenant under a target, of which two are in time; and the stranger's."""
    now = timezone.now()
    foreign = type(tenant).objects.get(name="Stranger Inc.")
    mails, exports = QueueFactory(name="mails"), QueueFactory(name="exports")
    ends = now + timedelta(minutes=1)
    for queue in (mails, exports):
        Queue.objects.filter(pk=queue.pk).update(wait_target=30)
    for wait in (1.0, 30.0, 31.0):
        attempt(ends, ran=0.0, tenant_id=tenant.pk, queue_id=mails.pk, waited=wait, own=0.0)
    attempt(ends, ran=0.0, tenant_id=foreign.pk, queue_id=mails.pk, waited=99.0, own=0.0)
    attempt(ends, ran=0.0, tenant_id=foreign.pk, queue_id=exports.pk, waited=1.0, own=0.0)
    attempt(ends, ran=0.0, tenant_id=tenant.pk, queue_id=Queue.objects.get(name="default").pk)
    later = ends + timedelta(minutes=2)
    call_at(later, record.record_minutes)
    call_at(later, record.record_hours)


def kept(answer: dict) -> dict[str, tuple]:
    assert {one["seconds"] for one in answer["wait_targets"]} == {30.0}
    both = ("last_day", "last_month")
    return {one["queue"]: tuple(tuple(one[part].values()) for part in both) for one in answer["wait_targets"]}


def test_a_tenant_sees_the_queues_that_it_used_with_its_own_share(owner, stranger, tenant, counted):
    mine = owner.get("/api/v1/stats").json()["last_day"]
    assert kept(mine) == {"mails": ((3, 2, pytest.approx(2 / 3)),) * 2}
    assert [(one["queue"], one["targeted"], one["in_time"]) for one in mine["queues"]] == [
        ("default", 0, 0),
        ("mails", 3, 2),
    ]
    assert kept(stranger.get("/api/v1/stats").json()["last_day"]) == {
        "exports": ((1, 1, 1.0),) * 2,
        "mails": ((1, 0, 0.0),) * 2,
    }
    usage = owner.get("/api/v1/usage?by=queue").json()
    assert (usage["targeted"], usage["in_time"]) == (3, 2)
    assert sorted((one["queue"], one["targeted"], one["in_time"]) for one in usage["usage"]) == [
        ("default", 0, 0),
        ("mails", 3, 2),
    ]


def test_operators_see_all_queues_and_what_a_tenant_sees(tenant, counted):
    operator = program_of(staff("view_job", "view_tenantqueue"))
    every = {"exports": ((1, 1, 1.0),) * 2, "mails": ((4, 2, 0.5),) * 2}
    assert kept(operator.get("/api/v1/operator/stats").json()) == every
    of_tenant = operator.get(f"/api/v1/operator/tenants/{tenant.jobs_slug}/stats").json()
    assert kept(of_tenant) == {"mails": ((3, 2, pytest.approx(2 / 3)),) * 2}
    out = StringIO()
    call_command("queues", "stats", stdout=out)
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["mails", "30s", "50.0", "%", "4", "50.0", "%", "4"] in lines
    out = StringIO()
    call_command("queues", "stats", "--json", stdout=out)
    assert [one["queue"] for one in json.loads(out.getvalue())["wait_targets"]] == ["exports", "mails"]


def test_a_target_that_was_taken_away_is_not_shown_and_its_counts_stay_in_the_usage(owner, counted):
    Queue.objects.update(wait_target=None)
    assert owner.get("/api/v1/stats").json()["last_day"]["wait_targets"] == []
    assert owner.get("/api/v1/usage?by=queue").json()["targeted"] == 3


def test_a_target_is_set_by_command_and_none_takes_it_away():
    QueueFactory(name="mails")
    for wrong in ("0", "-1", "nan", "1e12", "soon", ""):
        with pytest.raises(CommandError, match=r"wait.target"):
            call_command("queues", "set", "mails", f"--wait-target={wrong}", stdout=StringIO())
    for word, seconds in (("30", 30.0), ("0.5", 0.5), ("none", None)):
        call_command("queues", "set", "mails", f"--wait-target={word}", stdout=StringIO())
        assert Queue.objects.get(name="mails").wait_target == seconds
        assert "wait_target" in str(vars(Change.objects.latest("pk")))
