"""The list of a tenant's jobs: slots, times, why each waits and at which place, schedules; and its refreshes."""

import re
import sys
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.calls import functions
from jobs.lifecycle import Status
from jobs.models import Job, Queue, Schedule, TenantHour
from jobs.portal.members import page_context, under_way
from jobs.reading import listing
from jobs.reading.status_words import TABLE
from tenants.models import Change, TenantQueue
from tests.factories import MemberFactory, QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.test_past import tally
from tests.integration.members.reading import LIST, page, row

pytestmark = pytest.mark.django_db


def test_jobs_under_way_come_before_those_that_ended_with_what_they_are_about(mate, tenant, job, report):
    older, newer = (make_job(tenant, Status.SUCCESS, source_id=None, source_method="refresh_all") for _ in range(2))
    text = page(mate)
    places = [text.index(f'id="job-{one.pk}"') for one in (job, newer, older)]
    assert places == sorted(places)
    for status in ("waiting", "ended", "blocked"):
        shown = [row(mate, one, f"/jobs/?status={status}") != "" for one in (job, older)]
        assert shown == [status == "waiting", status == "ended"]
    assert report.name in row(mate, job)
    assert "all data reports" in row(mate, newer)


@pytest.mark.parametrize(
    ("function", "called"),
    [
        ("send_to_all", "Mail to everybody"),
        ("tell_all", "Tell everybody"),
        ("send_mail", "Send mail"),
        ("code_is_gone", "Code is gone"),
        ("fetch", "An errand"),
    ],
)
def test_a_function_is_called_by_its_title_its_docstring_or_its_name_in_words(
    mate, tenant, monkeypatch, function, called
):
    job = make_job(tenant, source_type="tests.sample.tasks", source_id=None, source_method=function)
    if function == "fetch":  # of a module of an app that this process has not imported
        Job.objects.update(source_type="tests.sample.errands")
        monkeypatch.delitem(sys.modules, "tests.sample.errands", raising=False)
        monkeypatch.delitem(functions.FUNCTIONS, ("tests.sample.errands", "fetch"), raising=False)
        functions._import.cache_clear()
    strangers = make_job(TenantFactory(), source_type="tests.sample.tasks", source_id=None, source_method="ring")
    assert re.search(rf">\s*{called}</a>", row(mate, job))
    assert re.search(rf"<h1>\s+{called}\s+<", mate.get(f"{LIST}{job.pk}/").content.decode())
    assert f'id="job-{strangers.pk}"' not in page(mate)


def test_the_states_are_told_in_words_with_the_names_that_programs_use(mate):
    shown = " ".join(page(mate).split())
    for word, name, meaning in TABLE:
        assert f"<strong>{word}</strong> (<code>{name}</code>): {meaning}" in shown


def test_an_object_of_another_tenant_lends_no_job_its_name(mate, tenant, foreign_report):
    job = make_job(tenant, source_id=str(foreign_report.pk))
    assert foreign_report.name not in row(mate, job)
    assert f"reports.datareport {foreign_report.pk}" in row(mate, job)


@pytest.mark.parametrize("source", [{"source_id": "x" * 100}, {"source_id": "9" * 50}, {"source_type": "gone.model"}])
def test_a_job_about_what_is_not_there_is_shown_all_the_same(mate, tenant, source):
    job = make_job(tenant, **source)
    assert next(iter(source.values())) in page(mate)
    assert mate.get(f"{LIST}{job.pk}/").status_code == 200


def test_an_object_that_cannot_say_its_name_takes_none_from_the_others(mate, job, report, make_report, monkeypatch):
    other = make_job(job.tenant, source_id=str(make_report(job.tenant).pk))

    def name(self) -> str:
        if self.pk == report.pk:
            raise AttributeError("'NoneType' object has no attribute 'name'")
        return "the other one"

    monkeypatch.setattr(type(report), "__str__", name)
    assert f"reports.datareport {report.pk}" in row(mate, job)
    assert "the other one" in row(mate, other)
    assert mate.get(f"{LIST}{job.pk}/").status_code == 200


def test_a_status_and_only_mine_can_be_chosen(mate, tenant, job):
    mine = make_job(tenant, Status.SUCCESS, user_key=str(mate.user.pk))
    assert (row(mate, mine, "/jobs/?status=success") != "", row(mate, job, "/jobs/?status=success")) == (True, "")
    assert (row(mate, mine, "/jobs/?mine=1") != "", row(mate, job, "/jobs/?mine=1")) == (True, "")
    assert f"{mate.user.username} (you)" in row(mate, mine)


def test_a_choice_keeps_the_other_one_and_goes_to_the_first_page(mate, job):
    text = page(mate, f"/jobs/?status=success&mine=1&before={job.pk}")
    current = re.findall(r'<a\s+href="([^"]+)"\s+aria-current="page"\s*>\s*(\w+)', text)
    assert current == [("/jobs/", "Jobs"), ("?status=success&amp;mine=1", "Done")]
    assert '<a href="?mine=1"' in text, "all of hers"
    assert '<a class="mine" href="?status=success">Everybody’s jobs</a>' in text
    everybodys = page(mate, "/jobs/?status=success")
    assert '<a class="mine" href="?status=success&amp;mine=1">Only mine</a>' in everybodys


@pytest.mark.parametrize("odd", ["status=nonsense", "before=x", "before=-1", "before=²", "mine=2", "status=%00"])
def test_an_invalid_filter_is_left_out(mate, job, odd):
    response = mate.get(f"{LIST}?{odd}")
    assert response.status_code == (400 if "%00" in odd else 200)
    if response.status_code == 200:
        assert f'id="job-{job.pk}"' in response.content.decode()


def test_a_page_goes_on_with_older_jobs(mate, tenant, monkeypatch):
    monkeypatch.setattr("jobs.portal.members.views.A_PAGE", 2)
    first, second, third = (make_job(tenant, Status.SUCCESS) for _ in range(3))
    text = page(mate, "/jobs/?status=success")
    assert f"job-{first.pk}" not in text
    assert f"?status=success&amp;before={second.pk}" in text
    older = page(mate, f"/jobs/?status=success&before={second.pk}")
    assert f"job-{first.pk}" in older and f"job-{third.pk}" not in older


def test_slots_in_use_are_shown_and_a_pause_is_told(mate, tenant):
    make_job(tenant, Status.RUNNING)
    make_job(TenantFactory(), Status.RUNNING)
    assert "<strong>1</strong> of 2 in use" in page(mate)
    assert "at most 1 of them" not in page(mate)
    Queue.objects.update(tenant_slots=1)
    assert "In default you use 1, and may use at most 1 of them at once." in page(mate)
    TenantQueue.objects.filter(tenant=tenant).update(paused=True, user_slots=1)
    assert "Your jobs are paused for now" in page(mate)
    assert "Each user may use at most 1 at once" in page(mate)
    TenantQueue.objects.filter(tenant=tenant).delete()
    assert "You have no slots" in page(mate)


def test_a_member_sees_how_often_a_wait_target_was_kept_for_its_own_tenant(mate, foreign_mate, tenant, monkeypatch):
    monkeypatch.setattr(page_context.targets_kept, "seconds", 0.0)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    of_queue = tally("success", 300) | {
        "queue_id": Queue.objects.get(name="default").pk,
        "targeted": 200,
        "in_time": 199,
    }
    TenantHour.objects.create(tenant_id=tenant.pk, hour=hour, **of_queue)
    assert "shall wait at most" not in page(mate)
    Queue.objects.update(wait_target=30)
    told = "shall wait at most 30 s for a process: 99.5 % of 200 starts did in the last day, 99.5 % of 200 in 30 days."
    assert told in page(mate)
    assert "shall wait at most" not in page(foreign_mate)


def test_waiting_jobs_tell_their_place_and_why(mate, tenant, register):
    register()
    for _ in range(2):
        make_job(tenant, Status.RUNNING)
    first, second = make_job(tenant), make_job(tenant, priority=9)
    early = make_job(tenant, priority=0)
    other = make_job(tenant, queue=QueueFactory(name="mail"))
    make_job(TenantFactory(), priority=0)
    assert "<strong>4 jobs wait.</strong> All of your slots are in use (2 of 2)." in page(mate)
    assert "Number 1 in line for default. Starts" not in row(mate, early) and "slots" not in row(mate, early)
    places = {job.pk: row(mate, job, "/jobs/?status=created") for job in (early, first, second, other)}
    for job, place in ((early, 1), (first, 2), (second, 3), (other, 1)):
        line = "mail" if job == other else "default"
        assert f"Number {place} in line for {line}. All of your slots are in use (2 of 2)." in places[job.pk]


def test_the_first_starts_next_and_the_others_after_it(mate, tenant, register):
    register()
    first, second = make_job(tenant), make_job(tenant)
    assert "it starts next" in row(mate, first)
    assert "the jobs before it in line go first" in row(mate, second)


def test_far_behind_the_place_is_not_counted(mate, tenant, monkeypatch):
    monkeypatch.setattr("jobs.reading.explain.reads.MAX_LISTED_PLACE", 2)
    monkeypatch.setattr(page_context, "MAX_LISTED_PLACE", 2)
    jobs = [make_job(tenant) for _ in range(4)]
    assert "Number 2 in line." in row(mate, jobs[1])
    assert "More than 2 jobs before it." in row(mate, jobs[3])


def test_however_many_jobs_wait_for_the_same_it_is_explained_once(mate, tenant):
    def statements():
        with CaptureQueriesContext(connection) as queries:
            page(mate)
        return len(queries)

    for user in ("", "ann", "ben"):
        make_job(tenant, user_key=user)
    page(mate)  # wait targets are read once in half a minute
    few = statements()
    for number in range(20):
        make_job(tenant, user_key=("", "ann", "ben")[number % 3])
    assert statements() == few


def test_only_so_many_waits_are_explained(mate, tenant):
    jobs = [make_job(tenant, user_key=f"user {number}") for number in range(page_context.GROUPS + 1)]
    path = "/jobs/?status=created"
    explained = [job for job in jobs if "No worker is ready" in row(mate, job, path)]
    assert explained == jobs[:-1]
    assert f"Number {len(jobs)} in line." in row(mate, jobs[-1], path)


def test_schedules_are_shown_the_next_one_first(mate, tenant):
    now = timezone.now()
    call = {"source_type": "reports.datareport", "source_method": "execute"}
    for name, hours in (("later", 2), ("soon", 1)):
        due = now + timedelta(hours=hours)
        Schedule.objects.create(tenant=tenant, name=name, every=60, next_due=due, next_at=due, **call)
    Schedule.objects.create(tenant=tenant, name="off", every=60, paused=True, paused_because="no region", **call)
    Schedule.objects.create(tenant=TenantFactory(), name="theirs", every=60, **call)
    text = page(mate)
    assert text.index("soon") < text.index("later") < text.index("off") < text.index("no region")
    assert "theirs" not in text


def test_the_refresh_asks_for_the_jobs_that_are_shown_and_tells_how_many_are_newer(mate, tenant, job):
    ended = make_job(tenant, Status.SUCCESS)
    for path, ask, status in (
        (LIST, f"?upto={ended.pk}", Status.ERROR),
        (f"{LIST}?status=waiting", f"?status=waiting&before={job.pk + 1}", Status.CREATED),
    ):
        assert f'data-ask="{ask.replace("&", "&amp;")}"' in page(mate, path)
        assert "newer" not in page(mate, LIST + ask)
        newer = make_job(tenant, status)
        assert row(mate, newer, LIST + ask) == ""
        assert "Show 1 newer" in page(mate, LIST + ask)


def test_a_reason_of_many_is_told_once_and_all_of_them_cancelled_at_once(mate, foreign_mate, tenant, job):
    TenantQueue.objects.filter(tenant=tenant).update(num_slots=0)
    jobs = [job, *(make_job(tenant) for _ in range(6))]
    other, runs = make_job(TenantFactory()), make_job(tenant, Status.RUNNING)
    text = page(mate)
    told = "<strong>7 jobs wait.</strong> You have no slots, so no job can start. Ask your operator."
    assert told in text and text.count("no job can start") == 1
    assert page(mate, "/jobs/?status=waiting").count("no job can start") == 1
    assert "<strong>7</strong> Waiting" in text and "<strong>1</strong> Running" in text
    assert [row(mate, one) != "" for one in (runs, *jobs)] == [True] * 6 + [False] * 2, "the first five"
    path = re.search(r'href="(/jobs/cancel-waiting[^"]*)"', text)[1].replace("&amp;", "&")
    asked = page(mate, path)
    assert "Cancel 7 jobs in line?" in asked
    late = make_job(tenant)
    fields = dict(re.findall(r'name="(upto|queue)" value="(\d+)"', asked))
    assert foreign_mate.post(path, fields).status_code == 303
    assert Job.objects.filter(status="created").count() == 9, "a stranger's own jobs alone"
    assert mate.post(path, fields)["Location"] == LIST
    assert "7 jobs cancelled" in page(mate)
    assert {one.pk for one in Job.objects.filter(status="created")} == {late.pk, other.pk}
    assert Job.objects.get(pk=runs.pk).cancel_requested_at is None
    assert [(one.who, one.subject) for one in Change.objects.all()] == [(mate.user.username, "7 jobs")]
    assert "No job waits in line" in page(foreign_mate, "/jobs/cancel-waiting")


def test_the_failed_of_today_are_counted_as_the_recorder_did(mate, foreign_mate, tenant, monkeypatch):
    monkeypatch.setattr(under_way.failed_since, "seconds", 0.0)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    queue = Queue.objects.get(name="default").pk
    for outcome, at in (("error", hour), ("dead", hour), ("retry", hour), ("dead", hour - timedelta(days=1))):
        TenantHour.objects.create(tenant_id=tenant.pk, hour=at, **tally(outcome, 2) | {"queue_id": queue})
    assert '<strong class="bad">4</strong> Failed today' in page(mate)
    assert "<strong>0</strong> Failed today" in page(foreign_mate)


def test_only_what_changed_is_sent(mate, tenant, job):
    text = mate.get(f"{LIST}?before={job.pk + 1}").content.decode()
    assert 'lang="en"\n  dir="ltr"' in text, "whatever the frame's"
    versions = {}
    for part in text.split('data-region="')[1:]:
        versions[part.partition('"')[0]] = part.partition('data-v="')[2].partition('"')[0]
    known = {"Live": " ".join(f"{name}={version}" for name, version in versions.items())}
    make_job(tenant, Status.RUNNING)
    changed = mate.get(f"{LIST}?before={job.pk + 1}", headers=known)
    assert changed.status_code == 200
    assert 'data-region="slots"' in changed.content.decode()
    assert 'data-region="schedules"' not in changed.content.decode()
    whose = text.partition('data-whose="')[2].partition('"')[0]
    known["Live"] += f" whose={whose}"
    assert mate.get(LIST, headers=known).status_code == 200
    mate.user.jobs_member.delete()
    MemberFactory(user=mate.user, tenant=TenantFactory())
    assert mate.get(LIST, headers=known).status_code == 403, "another tenant's jobs in the frame of this one"


def test_a_job_that_has_ended_is_asked_for_no_more(mate, tenant, job):
    ended = make_job(tenant, Status.SUCCESS)
    assert 'data-every="0"' in page(mate, f"{LIST}{ended.pk}/")
    assert 'data-every="3"' in page(mate, f"{LIST}{job.pk}/")


def test_the_number_of_newer_jobs_is_bounded(mate, tenant, job, monkeypatch):
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", 1)
    for _ in range(2):
        make_job(tenant)
    assert "1+ newer" in page(mate, f"{LIST}?before={job.pk + 1}")


def test_only_newer_jobs_that_fit_are_told_of(mate, tenant):
    make_job(tenant, Status.SUCCESS)
    here = re.search(r'data-ask="([^"]+)"', page(mate, "/jobs/?status=success"))[1].replace("&amp;", "&")
    make_job(tenant, Status.ERROR)
    make_job(TenantFactory(), Status.SUCCESS)
    assert "newer" not in page(mate, f"/jobs/{here}")
    make_job(tenant, Status.SUCCESS)
    assert "Show 1 newer" in page(mate, f"/jobs/{here}")
