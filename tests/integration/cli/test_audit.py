"""`manage.py audit export`: the log as JSON lines or CSV."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs.console.cli import audit as commands
from jobs.console.operations import audited
from jobs.models import Job, Schedule
from tenants import audit
from tenants.auth import issue
from tenants.models import Change
from tests.factories import TenantFactory, make_job

pytestmark = pytest.mark.django_db


def exported(*arguments: str) -> str:
    out = io.StringIO()
    call_command("audit", "export", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def changes(tenant):
    """Five, one a day, the last one now; the second is a stranger's."""
    other = TenantFactory()
    Change.objects.all().delete()
    with audit.acting("=olga", "192.0.2.1"):
        for number in range(5):
            owner = other if number == 1 else tenant
            audit.note("cancelled", Job, [(number, f"job\n{number}")], {"n": [0, number]}, tenant_id=owner.pk)
    for age, change in enumerate(Change.objects.order_by("-pk")):
        Change.objects.filter(pk=change.pk).update(at=timezone.now() - timedelta(days=age))


@pytest.mark.parametrize("batch", [2, 5, 1000])
def test_every_change_is_one_line_the_oldest_first(changes, monkeypatch, batch):
    monkeypatch.setattr(commands, "BATCH", batch)
    lines = [json.loads(line) for line in exported().splitlines()]
    assert [line["subject_id"] for line in lines] == list("01234")
    assert (
        lines[0].items()
        >= {"who": "=olga", "address": "192.0.2.1", "subject": "job\n0", "values": {"n": [0, 0]}}.items()
    )


def test_a_time_and_a_tenant_choose(changes, tenant):
    now = timezone.now()
    since, until = (now - timedelta(days=3.5)).isoformat(), (now - timedelta(days=0.5)).isoformat()
    chosen = exported("--since", since, "--until", until, "--tenant", tenant.slug)
    assert [json.loads(line)["subject_id"] for line in chosen.splitlines()] == ["2", "3"]


def listed(*arguments: str) -> str:
    out = io.StringIO()
    call_command("audit", "list", *arguments, stdout=out)
    return out.getvalue()


def test_a_list_has_the_latest_first_of_whom_was_asked_for(changes, tenant):
    found = json.loads(listed("--since", "84h", "--tenant", tenant.slug, "--limit", "2", "--json"))["changes"]
    assert [change["subject_id"] for change in found] == ["4", "3"]
    assert found[0]["values"] == {"n": [0, 4]}
    rows = listed().splitlines()[1:]
    assert [row.split(", ")[-1].split()[-1] for row in rows] == list("43210")
    assert re.search(r"=olga +cancelled .*4 +n 0 → 4", rows[0])
    assert listed("--since", "1m", "--until", "2020-01-01").strip() == "No changes match."


def test_changes_are_told_to_people(tenant):
    """What was added by what is its own, nothing that looks like a secret, JSON and not Python."""
    rule = {"source_type": "sample.thing", "source_method": "again", "args": {"month": "x", "api_token": "s3cret"}}
    with audit.acting("ines"):
        nightly = Schedule.objects.create(tenant=tenant, name="nightly", every=60.0, jitter=1.5, overlap="skip", **rule)
        nightly.paused, nightly.every, nightly.cron = True, None, "0 7 * * *"
        nightly.save()
    changed, added = (audited.values_in_words(change) for change in Change.objects.order_by("-pk")[:2])
    assert added == (
        "source type sample.thing, source method again, args (month=x, api_token=•••), every 60; "
        "also jitter, starts at, overlap"
    )
    assert changed == "cron none → 0 7 * * *, every 60 → none, paused no → yes"
    with audit.acting("ines"):
        issue(tenant, "nightly export")
    assert audited.values_in_words(Change.objects.latest("pk")) == ""


def test_a_bulk_action_over_several_tenants_is_one_line(tenant):
    jobs = [make_job(one) for one in (tenant, tenant, TenantFactory())]
    call_command("jobs", "cancel", *(str(job.pk) for job in jobs), stdout=io.StringIO())
    assert Change.objects.count() == 2
    [line] = listed().splitlines()[1:]
    assert "3 jobs of 2 tenants" in line
    [mine] = listed("--tenant", tenant.slug).splitlines()[1:]
    assert "2 jobs" in mine
    assert "tenants" not in mine


@pytest.mark.parametrize("name", ["since", "until"])
def test_a_time_that_is_none_is_refused(name):
    with pytest.raises(CommandError, match=f"{name}: must be like 30m, 1h, 7d"):
        listed(f"--{name}", "yesterday")


def test_a_bulk_action_is_one_line_with_its_ids(tenant):
    jobs = [make_job(tenant) for _ in range(3)]
    call_command("jobs", "cancel", *(str(job.pk) for job in jobs), stdout=io.StringIO())
    [line] = [json.loads(line) for line in exported("--tenant", tenant.slug).splitlines()]
    assert (line["verb"], line["subject"]) == ("cancelled", "3 jobs")
    assert line["values"] == {"number": 3, "ids": [job.pk for job in jobs]}


def test_csv_has_a_head_no_formula_and_nothing_that_a_terminal_obeys(changes):
    Change.objects.filter(pk=Change.objects.latest("pk").pk - 1).update(subject="nightly\x1b[2J\nforged")
    told = exported("--format", "csv")
    assert "\x1b" not in told
    assert "\nforged" not in told
    rows = list(csv.DictReader(io.StringIO(told)))
    assert len(rows) == 5
    assert (rows[4]["who"], json.loads(rows[4]["values"])) == ("'=olga", {"n": [0, 4]})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--since", "yesterday"], "must be like"),
        (["--tenant", "nobody"], "nobody"),
        (["--json"], "--format jsonl"),
    ],
)
def test_an_argument_that_does_not_fit_is_refused(tenant, arguments, told):
    with pytest.raises(CommandError, match=told):
        exported(*arguments)
