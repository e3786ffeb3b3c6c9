"""What the pages say of a light pool: its seats, and not its processes alone; who blocked a loop, and whom."""

from datetime import timedelta

import pytest
from django.utils import timezone

from jobs.console.ops.workers import view
from jobs.lifecycle import Status
from jobs.models import BlockedLoop, FailedAttempt, Job, Worker
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def light(register):
    """A worker of two processes with 200 seats each, of which one is in use."""
    worker = register(concurrency=400, pool="mail", kind="light", seats=200)
    make_job(TenantFactory(), Status.RUNNING, queue=QueueFactory(name="mail", pool="mail"), worker=worker)
    return worker


def plain(page) -> str:
    return " ".join(text(page).split())


def test_workers_are_shown_with_their_processes_and_seats(client, light):
    page = plain(client.get("/ops/workers/"))
    assert 'title="2 × 200 seats">light</span>' in page
    assert "threads</span>" not in page
    Worker.objects.update(threads=True)
    assert '<span class="tag">threads</span>' in plain(client.get("/ops/workers/"))
    assert '1/400 </span> <div class="note"> seats of 2 processes </div>' in page


def test_the_overview_counts_seats_if_a_pool_is_light(client, light):
    page = plain(client.get("/ops/"))
    assert "<small> of 400 seats</small>" in page
    assert "1/400 seats" in page


def test_without_a_light_pool_the_overview_counts_processes(client, register):
    register(concurrency=4)
    assert "<small> of 4 processes</small>" in plain(client.get("/ops/"))
    assert "seats" not in plain(client.get("/ops/workers/"))


PLACE = "/srv/app/mail.py:31 send"


def block(job: Job, **fields) -> None:
    """The body of this job blocks the loop of its process, and eleven others wait."""
    facts = {
        "worker": job.worker,
        "pid": 1,
        "pool": "mail",
        "seats": 12,
        "job_id": job.pk,
        "attempt": 1,
        "place": PLACE,
    }
    BlockedLoop.objects.create(**facts | fields)


class TestJob:
    def test_its_page_says_how_long_it_blocked_whom_and_where(self, client, light):
        job, other = Job.objects.get(), make_job(TenantFactory(), Status.RUNNING, worker=light)
        block(job, seconds=5.0)
        page = plain(client.get(f"/ops/jobs/{job.pk}/"))
        sentence = "Attempt 1: its body blocked the other 11 seats of its process for 5.0 s, at"
        assert f"{sentence} <code>{PLACE}</code>." in page
        assert "its body blocked" not in plain(client.get(f"/ops/jobs/{other.pk}/"))

    def test_a_job_that_a_neighbour_took_along_is_told_to_be_innocent(self, client, light):
        error = {"error_class": "NeighbourEnded", "error": "its process was ended because of another job in it"}
        last = f"{error['error_class']}: {error['error']}"
        due = timezone.now() + timedelta(hours=1)
        job = make_job(TenantFactory(), Status.SCHEDULED, attempt=1, due_at=due, last_error=last)
        FailedAttempt.objects.create(job=job, attempt=1, end_time=timezone.now(), worker=light, **error)
        page = plain(client.get(f"/ops/jobs/{job.pk}/"))
        assert (
            "Its process was ended because of another job in it, which is no failure of this one: it runs again" in page
        )
        assert "the first ten such ends count as no crash" in page
        assert "Failed and waits for retry" not in page


class TestWorkers:
    def test_a_row_says_that_a_loop_is_blocked_by_which_job_and_who_waits(self, client, operator, light):
        job = Job.objects.get()
        assert "Loop blocked" not in plain(client.get("/ops/workers/"))
        block(job, began_at=timezone.now() - timedelta(minutes=20))
        link = f'<a href="/ops/jobs/{job.pk}/">{job.pk}</a>'
        told = f'Loop blocked</strong> for 20 min by job {link}, <a href="/ops/types/reports.datareport.execute/">'
        page = plain(client.get("/ops/workers/"))
        assert told in page and "while 11 other seats wait<" in page
        assert f"/ops/jobs/{job.pk}/" not in plain(operator("view_worker").get("/ops/workers/"))

    def test_a_row_has_the_processes_and_the_longest_wait_for_a_database_thread(self, client, light):
        Worker.objects.update(database_wait=1.25)
        assert "bodies waited up to 1.2 s for a database thread" in plain(client.get("/ops/workers/"))
        Worker.objects.update(database_wait=0.002)
        assert "database thread" not in plain(client.get("/ops/workers/")), "it is no wait worth a line"

    def test_an_ordinary_worker_has_no_such_facts(self, client, register):
        register(concurrency=4)
        assert "database thread" not in plain(client.get("/ops/workers/"))

    def test_the_types_of_many_attempts_are_counted_and_the_longest_listed(self, client, register, light, monkeypatch):
        monkeypatch.setattr(view, "MAX_LISTED", 3)
        first, now = Job.objects.get(), timezone.now()
        tenants = [TenantFactory(), TenantFactory()]
        for number in range(1, 7):
            kind = {"source_type": "mail.letter", "source_method": "send" if number > 1 else "sort"}
            facts = {"worker": light, "start_time": now + timedelta(seconds=number), "queue": first.queue}
            make_job(tenants[number % 2], Status.RUNNING, **facts, **kind)
        other = make_job(tenants[0], Status.RUNNING, worker=register(concurrency=1, pool="z"))
        page = plain(client.get("/ops/workers/"))
        assert '<summary> 7 jobs of <span class="name">' in page
        name = Worker.objects.get(pk=light).name.replace("@", "%40")
        search = f"/ops/jobs/?q=status%3Arunning%20worker%3A{name}%20type%3Amail.letter.send"
        assert f'<a href="{search}">5</a> <a href="/ops/types/mail.letter.send/">' in page
        assert "of 2 tenants" in page
        row, ordinary = client.get("/ops/workers/").context["workers"]
        assert [job.start_time for job in row.longest] == [
            first.start_time,
            *(now + timedelta(seconds=n) for n in (1, 2)),
        ]
        assert [(one.job_type, one.jobs) for one in row.most_types] == [
            ("mail.letter.send", 5),
            ("mail.letter.sort", 1),
            ("reports.datareport.execute", 1),
        ]
        assert (ordinary.longest, ordinary.most_types) == ([other], ())

    def test_a_thousand_running_attempts_make_no_long_page(self, client, light):
        job = Job.objects.get()
        few = len(client.get("/ops/workers/").content)
        same = {
            name: getattr(job, name)
            for name in ("tenant_id", "queue_id", "worker", "ticket", "queued_at", "start_time")
        }
        kind = {"status": "running", "attempt": 1, "source_type": "mail.letter", "worker_pid": 1}
        Job.objects.bulk_create(
            Job(**same, **kind, slot=number, source_method=f"send{number % 50}") for number in range(2, 1002)
        )
        page = client.get("/ops/workers/")
        assert '<summary> 1,001 jobs of <span class="name">' in plain(page)
        assert "and 46 more job types" in plain(page)
        assert len(page.content) < few + 10_000
