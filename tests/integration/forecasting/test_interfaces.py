"""Every interface says the same of a start; and a tenant learns nothing of another's."""

import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.console.ops.shared import history, snapshot
from jobs.console.ops.tenant import reads, view
from jobs.http import schemas
from jobs.lifecycle import Status
from jobs.models import Forecast, Job
from jobs.pages import job as job_page
from jobs.pages import prediction_accuracy
from jobs.pages.cached import Cached
from jobs.portal.members import page_context
from jobs.reading.health.looks import PredictionsLook
from tests.callers import browser_of, staff
from tests.factories import MemberFactory, QueueFactory, TenantFactory, make_job
from tests.integration.cli.running import run

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = timedelta(seconds=1)
NUMBERS = ("p50", "p90", "not_before", "made_at")


@pytest.fixture
def job(tenant):
    return make_job(tenant)


@pytest.fixture
def operator() -> Client:
    return browser_of(staff("view_job"))


def forecast(job, p50=600.0, p90=900.0, not_before=300.0, reason=None):
    """What is said of the job, and of nobody else; returns the moment."""
    made_at = timezone.now()
    place = [(job.priority << 58) + job.pk, p50, p90, not_before, reason]
    key = {"tenant_id": job.tenant_id, "queue_id": job.queue_id, "user_key": ""}
    Forecast.objects.create(**key, made_at=made_at, reason="", places=[place])
    return made_at


def start(job, moment) -> None:
    """As an attempt that has ended well since."""
    Job.objects.filter(pk=job.pk).update(
        status=Status.SUCCESS,
        ready_at=None,
        queued_at=moment,
        attempt=1,
        worker=uuid4(),
        worker_pid=1,
        start_time=moment,
        end_time=moment + SECOND,
    )


async def all_of(parts) -> list[bytes]:
    return [part async for part in parts]


def clock(moment) -> str:
    return f"{moment:%H:%M:%S}"


def told(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return " ".join(response.content.decode().split())


def test_all_say_the_same(job, owner, mate, operator):
    made_at = forecast(job)
    p50, p90 = made_at + 600 * SECOND, made_at + 900 * SECOND
    starts = owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"]
    assert starts["p50"].startswith(f"{p50:%Y-%m-%dT%H:%M:%S}")
    assert (starts["reason"], starts["not_before"]) == (None, None)
    for client, address in ((mate, f"/jobs/{job.pk}/"), (operator, f"/ops/jobs/{job.pk}/")):
        text = told(client, address)
        assert "Starts about <time" in text
        assert f"{clock(p50)}</time>, with 90 % by <time" in text
        assert f"{clock(p90)}</time>." in text
    assert "Starts about <time" in told(mate, "/jobs/")
    shown = run("jobs", "show", job.pk)
    assert f"about {p50:%Y-%m-%d %H:%M:%S} UTC, with 90 % by {p90:%Y-%m-%d %H:%M:%S} UTC" in shown
    assert json.loads(run("jobs", "show", job.pk, "--json"))["starts"]["p50"].startswith(f"{p50:%Y-%m-%dT%H:%M:%S}")


def test_pages_and_commands_tell_how_often_such_statements_held(job, mate, operator, monkeypatch):
    held = PredictionsLook(300, 9, 280, 141, 1_240, 1_116, 200, 160, 0.9, 1.2, 2.3, 3.0, 2.5, 3.3)
    monkeypatch.setattr(prediction_accuracy, "look_predictions", lambda: held)
    prediction_accuracy.accuracy.forget()
    sentence = "In 24 h 50 % of 1,240 such jobs started by the first moment, 90 % by the second."
    readers = ((mate, f"/jobs/{job.pk}/"), (operator, f"/ops/jobs/{job.pk}/"))
    assert not [client for client, address in readers if sentence in told(client, address)]
    assert sentence not in run("jobs", "show", job.pk)
    forecast(job)
    assert [client for client, address in readers if sentence in told(client, address)] == [mate, operator]
    assert sentence in " ".join(run("jobs", "show", job.pk).split())
    prediction_accuracy.accuracy.forget()


@pytest.fixture
def kept(monkeypatch) -> None:
    """What is read for all viewers is read once, however slow the machine is."""
    values = [value for module in (snapshot, history, reads) for value in vars(module).values()]
    for one in (*values, *snapshot.PARTS.values(), prediction_accuracy.accuracy):
        if isinstance(one, Cached):
            monkeypatch.setattr(one, "seconds", 3600.0)


def test_on_an_open_page_the_moment_moves_with_a_new_forecast(job, mate, operator):
    """As the page's script asks for it."""
    made_at = forecast(job)
    pages = {f"/jobs/{job.pk}/": mate, "/jobs/": mate, f"/ops/jobs/{job.pk}/": operator}
    had = {
        address: re.findall(r'data-region="(\w+)" data-v="(\w+)"', told(client, address))
        for address, client in pages.items()
    }
    Forecast.objects.update(made_at=made_at + 30 * SECOND)
    for address, client in pages.items():
        known = " ".join(f"{region}={version}" for region, version in had[address])
        changed = client.get(address, headers={"Live": known}).content.decode()
        assert f"{clock(made_at + 630 * SECOND)}</time>" in changed, address


def test_a_page_pays_one_statement_for_all_starts_and_a_list_one_for_the_ends_of_lines(job, mate, kept, monkeypatch):
    """Of jobs in several lanes; beside what is read once for all viewers."""
    for name in ("emails", "reports"):
        forecast(make_job(job.tenant, queue=QueueFactory(name=name)))
    forecast(job)
    operator = browser_of(staff("view_job", "view_tenantqueue"))
    pages = (
        (mate, f"/jobs/{job.pk}/"),
        (mate, "/jobs/"),
        (operator, f"/ops/jobs/{job.pk}/"),
        (operator, f"/ops/tenants/{job.tenant.jobs_slug}/"),
    )

    def costs() -> list[int]:
        found = []
        for client, address in pages:
            told(client, address)
            with CaptureQueriesContext(connection) as queries:
                told(client, address)
            found.append(len(queries))
        return found

    saying = costs()
    said = ((page_context, "starts"), (page_context, "last_of"), (job_page, "starts"), (view, "of_lanes"))
    for module, name in said:
        monkeypatch.setattr(module, name, lambda _: {})
    assert [one - other for one, other in zip(saying, costs(), strict=True)] == [1, 2, 1, 1]


def test_all_say_less_where_no_more_holds(job, owner, mate, operator):
    made_at = forecast(job, None, None, 300.0, "unsure")
    starts = owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"]
    assert (starts["p50"], starts["p90"], starts["reason"]) == (None, None, "unsure")
    assert starts["not_before"] is not None
    early = clock(made_at + 300 * SECOND)
    for client, address in ((mate, f"/jobs/{job.pk}/"), (operator, f"/ops/jobs/{job.pk}/")):
        assert f"{early}</time>: such predictions were not reliable lately." in told(client, address)
    assert "unlikely before" in run("jobs", "show", job.pk)


def test_a_missing_forecast_has_a_code(job, owner, mate):
    assert owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"]["reason"] == "late"
    assert "Starts about" not in told(mate, f"/jobs/{job.pk}/")


def test_a_tenant_is_told_of_its_own_line_and_of_nobody_elses(job, stranger, owner, mate):
    """In the same queue, of the same user, in whatever order the rows lie."""
    others = make_job(TenantFactory(name="Third"))
    forecast(others, 60.0, 90.0)
    address = f"/api/v1/jobs/{job.pk}"
    assert stranger.get(address).status_code == 404
    assert owner.get(address).json()["starts"] == {"reason": "late"} | dict.fromkeys(NUMBERS)
    assert "Starts about" not in told(mate, f"/jobs/{job.pk}/") + told(mate, "/jobs/")
    made_at = forecast(job)
    forecast(make_job(TenantFactory(name="Fourth")), 60.0, 90.0)
    mine = owner.get(address).json()["starts"]
    assert mine.keys() == {"reason", *NUMBERS}  # no name and no number of anybody
    assert mine["p50"] == json.loads(schemas.text({"p50": made_at + 600 * SECOND}))["p50"]


def test_every_answer_about_a_job_that_waits_has_its_start(job, owner):
    forecast(job)
    address = f"/api/v1/jobs/{job.pk}"
    said = owner.get(address).json()["starts"]
    assert said["p90"] is not None
    waited = b"".join(async_to_sync(all_of)(owner.get(f"{address}?wait=0.1").streaming_content))
    assert json.loads(waited)["starts"] == said
    assert owner.get(f"{address}/result").json()["starts"] == said
    assert owner.post(f"{address}/cancel").json()["starts"] is None
    revived = owner.post(f"{address}/revive")
    assert (revived.status_code, revived.json()["starts"]["made_at"]) == (202, said["made_at"])


def test_a_blocked_job_is_said_to_have_no_start(tenant, owner, mate, operator):
    job = make_job(tenant, Status.BLOCKED)
    forecast(job)
    assert owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"] == {"reason": "blocked"} | dict.fromkeys(NUMBERS)
    for client, address in ((mate, f"/jobs/{job.pk}/"), (operator, f"/ops/jobs/{job.pk}/")):
        assert "There is no forecast of its start: it waits for other jobs, or for an event." in told(client, address)
    assert "unknown: it waits for other jobs, or for an event" in run("jobs", "show", job.pk)


def test_a_tenants_page_says_when_the_last_in_line_starts_and_when_one_would_that_comes_now(job):
    """As the end of the line that the forecast knows; of a line that was not read to its end, no more than at least."""
    client = browser_of(staff("view_tenantqueue"))
    made_at = forecast(job, 60.0, 90.0, 30.0)
    address = f"/ops/tenants/{job.tenant.jobs_slug}/"
    assert told(client, address).count("unlikely before <time") == 2
    [row] = Forecast.objects.get().places
    low = [(9 << 58) + job.pk + 1, 1_200.0, 1_500.0, 900.0, None]
    Forecast.objects.update(places=[row, [(5 << 58) + (1 << 57) - 1, 600.0, 900.0, 300.0, None], low])
    text = told(client, address)
    last, newcomer = (text.index(f"{clock(made_at + p50 * SECOND)}</time>") for p50 in (1_200, 600))
    assert last < newcomer  # in the order of the columns
    assert f"{clock(made_at + 60 * SECOND)}</time>" not in text


def test_members_are_told_when_their_last_in_line_starts_and_nothing_of_other_lines(job, mate):
    """With the queue, if they stand in several lines."""
    theirs = make_job(TenantFactory(name="Third"))
    stranger = browser_of(MemberFactory(tenant=theirs.tenant).user)
    made_at = forecast(job)
    newcomer = [(5 << 58) + (1 << 57) - 1, 1_200.0, 1_500.0, 900.0, None]
    Forecast.objects.update(places=[*Forecast.objects.get().places, newcomer])
    assert "The last job in line starts about <time" in (text := told(mate, "/jobs/"))
    assert clock(made_at + 600 * SECOND) in text
    assert "last job in line" not in told(stranger, "/jobs/")
    forecast(make_job(job.tenant, queue=QueueFactory(name="mail")), None, None, 60.0, "unsure")
    text = told(mate, "/jobs/")
    assert "The last job in line for default starts about <time" in text
    assert "The last job in line for mail is unlikely to start before <time" in text
    assert "last job in line" not in told(stranger, "/jobs/")
    Forecast.objects.update(reason="tenant_paused")
    assert "last job in line" not in told(mate, "/jobs/")


@pytest.mark.parametrize(("after", "words"), [(700, "as forecast"), (1000, "later than forecast")])
def test_once_it_has_started_the_page_says_how_it_held_to_whom_it_said_it(job, mate, operator, after, words):
    made_at = forecast(job)
    readers = ((mate, f"/jobs/{job.pk}/"), (operator, f"/ops/jobs/{job.pk}/"))
    for client, address in readers:
        assert "as forecast" not in told(client, address)
    Forecast.objects.update(made_at=made_at + 60 * SECOND)  # the first statement is kept, and not the last before
    for client, address in readers:
        assert clock(made_at + 960 * SECOND) in told(client, address)
    start(job, made_at + after * SECOND)
    for client, address in readers:
        text = told(client, address)
        assert f"{clock(made_at + after * SECOND)}</time>, {words}." in text
        assert f"{clock(made_at + 900 * SECOND)}</time>, in UTC." in text


def test_a_forecast_is_shown_to_its_tenant_alone_and_for_its_start_alone(job, mate, operator):
    made_at = forecast(job)
    address = f"/jobs/{job.pk}/"
    told(mate, address)
    start(job, made_at + SECOND)
    assert "as forecast" in told(mate, address)
    assert "as forecast" not in told(operator, f"/ops{address}")  # who has read no statement
    other = make_job(job.tenant, Status.SUCCESS, start_time=made_at + SECOND)
    assert "as forecast" not in told(mate, f"/jobs/{other.pk}/")
    Job.objects.update(attempt=2)  # it ran again
    assert "as forecast" not in told(mate, address)


def test_no_browser_keeps_what_is_only_about(job, mate):
    forecast(job, p90=None, reason="learning")
    assert "Starts about" in told(mate, f"/jobs/{job.pk}/")
    assert "prediction" not in mate.cookies


def test_a_job_that_does_not_wait_has_none(tenant, owner):
    job = make_job(tenant, "running")
    forecast(job)
    assert owner.get(f"/api/v1/jobs/{job.pk}").json()["starts"] is None
