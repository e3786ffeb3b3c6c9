"""The first page in an incident: the cause, its consequences and their cures."""

import re
import uuid
from datetime import timedelta
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from jobs.lifecycle import Status
from jobs.models import FailedAttempt, JobMinute, PausedJobType, Recorded, Repair, TenantShare, Worker
from jobs.reading.statistics import BUCKETS
from tenants import audit
from tenants.auth import issue
from tenants.models import TenantQueue
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db
SEEN = ("view_job", "view_worker")


def words(page: str) -> str:
    return " ".join(unescape(strip_tags(page)).split())


def lost_worker(name: str, minutes: int = 2, *, lost: bool = True) -> uuid.UUID:
    """One that is gone since so many minutes, and that ran a job of each of two tenants."""
    gone_at = timezone.now() - timedelta(minutes=minutes)
    what = {"name": name, "pid": 1, "pool": "default", "concurrency": 2, "lost": lost}
    gone = Worker.objects.create(pk=uuid.uuid4(), beat_at=gone_at, gone_at=gone_at, **what)
    for _ in range(2):
        job = make_job(TenantFactory(), Status.SCHEDULED)
        failed = {"attempt": 1, "error": "gone", "worker": gone.pk, "end_time": timezone.now()}
        FailedAttempt.objects.create(job=job, error_class="WorkerGone", **failed)
    return gone.pk


def links_of(page: str) -> list[int]:
    """The jobs that the page says were taken back."""
    return sorted({int(pk) for pk in re.findall(r'<a href="/ops/jobs/(\d+)/">\1</a>', page)})


def test_a_lost_worker_is_told_first_with_its_jobs_and_with_the_pool_that_lacks_it(
    client, operator, register, exact_capacity
):
    worker, tenant = register(concurrency=1), TenantFactory()
    Worker.objects.update(started_at=timezone.now() - timedelta(hours=1))
    pk, stranger = lost_worker("second@hostb"), lost_worker("third@hostb", lost=False)
    taken_back = sorted(FailedAttempt.objects.filter(worker=pk).values_list("job_id", flat=True))
    make_job(tenant, Status.RUNNING, worker=worker)
    make_job(tenant)
    now = timezone.now()
    late = {"default": {"jobs": 1, "seconds": 90.0, "idle_looks": 0}}
    Recorded.objects.create(task="may run", upto=now, at=now, late=late)
    page = text(client.get("/ops/"))
    card = page.partition('id="incident"')[2].partition("</section>")[0]
    assert re.search(
        r"Worker second@hostb of pool default went silent .* Workers 2 jobs were taken back: .*No clock leads.*"
        r"\d\d:\d\d Pool default lacks processes: 1 job could start now; 1 more process would be busy. Workers",
        words(card),
    )
    assert links_of(card) == taken_back
    assert "third@hostb" not in card
    bar = words(text(client.get("/ops/jobs/")).partition('id="alarm"')[2].partition("</section>")[0])
    assert "Critical: Worker second@hostb of pool default went silent" in bar and "All 3 conditions" in bar
    assert links_of(text(client.get("/ops/health/")).partition('id="repairs"')[0]) == taken_back
    gone = text(client.get("/ops/workers/")).partition('id="gone"')[2]
    assert links_of(gone) == sorted(FailedAttempt.objects.filter(worker=pk).values_list("job_id", flat=True)), (
        f"not those of {stranger}, which stopped"
    )
    assert "second@hostb" not in text(operator("view_job").get("/ops/"))
    assert links_of(text(operator("view_worker").get("/ops/workers/"))) == []


def test_failures_name_the_job_type_and_pause_it_with_one_click(client, operator):
    minute, owner, stranger = timezone.now().replace(second=0, microsecond=0), TenantFactory(), TenantFactory()
    buckets = {"run_buckets": [0] * BUCKETS, "wait_buckets": [0] * BUCKETS, "run_seconds": 1, "wait_seconds": 1}
    of = {"queue_id": QueueFactory().pk, "source_type": "reports.datareport", **buckets}
    for back in range(1, 9):
        at = minute - timedelta(minutes=back)
        JobMinute.objects.create(minute=at, source_method="quick", outcome="success", attempts=20, **of)
        outcome = "dead" if back < 4 else "success"
        JobMinute.objects.create(minute=at, source_method="execute", outcome=outcome, attempts=100, **of)
    for method, tenant in (("execute", owner), ("execute", owner), ("quick", stranger)):
        make_job(tenant, Status.DEAD, source_type="reports.datareport", source_method=method)
    since = f"{minute - timedelta(minutes=3):%H:%M}"
    told = f"{since} reports.datareport.execute: 300 of 800 attempts failed in 10 minutes, of 1 tenant."
    page = text(client.get("/ops/"))
    assert told in words(page)
    assert "type=reports.datareport.execute" in page and "Pause type" in words(page)
    assert page.index("Failing") < page.index('id="ended"')
    assert "Pause type" not in words(text(operator(*SEEN).get("/ops/")))
    client.post(reverse("jobs_ops:pause-type"), {"type": "reports.datareport.execute", "next": "/ops/"})
    assert [str(one) for one in PausedJobType.objects.all()] == ["reports.datareport.execute"]
    card = text(client.get("/ops/")).partition('id="incident"')[2].partition("</section>")[0]
    assert "Resume" in words(card) and "Pause type" not in words(card)


def test_a_waiting_tenant_says_for_what_and_its_paused_queue_is_resumed_where_it_is_seen(client, operator):
    owner, stranger = TenantFactory(slug="owner"), TenantFactory(slug="stranger")
    nightly = QueueFactory(name="nightly", paused=True)
    make_job(owner, queue=nightly)
    make_job(stranger)
    waits = words(text(client.get("/ops/")).partition('id="waits"')[2].partition("</section>")[0])
    assert "1 the queue is paused nightly Resume" in waits and "1 a live worker of the pool" in waits
    assert "default" not in waits, "no queue holds those"
    for path in ("/ops/", "/ops/tenants/"):
        page = text(client.get(path))
        rows = [words(page.partition(f'id="tenant-{one.pk}"')[2].partition("</tr>")[0]) for one in (owner, stranger)]
        assert "waiting paused: nightly Resume" in rows[0]
        assert "waiting no worker" in rows[1] and "nightly" not in rows[1]
    lane = text(client.get("/ops/tenants/owner/")).partition('id="lanes"')[2].partition("</section>")[0]
    assert f'/ops/queues/?change=nightly#queue-{nightly.pk}">nightly</a>' in lane
    assert "1: the queue is paused Resume no recent forecast" in words(lane)
    TenantQueue.objects.filter(tenant=stranger).update(paused=True)
    TenantShare.objects.create(tenant_id=owner.pk, got=0, entitled=0, got_hour=30, entitled_hour=40)
    heads = {}
    for one in (owner, stranger):
        page = text(client.get(f"/ops/tenants/{one.slug}/"))
        heads[one] = page.partition('id="now"')[2].partition("</section>")[0]
    assert "Now waiting paused: nightly Resume Holds 0" in words(heads[owner])
    assert "Share received, last hour: 75 %" in words(heads[owner]) and 'width="37.5" height="8"' in heads[owner]
    assert "Share received" not in heads[stranger]
    assert "Now paused An operator paused it Resume Holds 0" in words(heads[stranger])
    others = operator("view_job", "view_tenantqueue")
    for path in ("/ops/", "/ops/tenants/owner/", "/ops/tenants/stranger/"):
        assert "Resume" not in words(text(others.get(path)))
    client.post(re.search(r'action="([^"]+)"', heads[stranger])[1], {"paused": "0", "next": "/ops/"})
    assert not TenantQueue.of(stranger).paused
    action = re.search(r'action="([^"]+)"', lane)[1]
    client.post(action, {"paused": "0", "next": "/ops/tenants/owner/"})
    nightly.refresh_from_db()
    assert not nightly.paused
    assert "paused: nightly" not in words(text(client.get("/ops/")))


def test_health_says_in_words_what_was_repaired_and_changed_and_resumes_what_is_paused(client, operator):
    Repair.objects.create(kind="orphan_taken_back", count=1200, last_at=timezone.now())
    Repair.objects.create(kind="of_another_release", count=3, last_at=timezone.now())
    QueueFactory(name="nightly", paused=True)
    PausedJobType.objects.create(source_type="sample.thing", source_method="echo")
    with audit.acting("ines"):
        issue(TenantFactory(), "billing")
    page = words(text(client.get("/ops/health/")))
    assert re.search(r"Repaired \d+ s ago: jobs of lost workers taken back \(1,200 in all\)\.", page)
    assert "of_another_release 3" in page and "orphan_taken_back" not in page
    assert re.search(r"ines added API key billing \(\w+…\)", page)
    assert re.search(
        r"Queue nightly is paused\. Resume Job type sample.thing.echo has been paused since \S+ Resume", page
    )
    assert "Resume" not in words(text(operator(*SEEN).get("/ops/health/")))


def test_the_processes_are_shown_by_worker_tenant_and_type_with_the_same_sums_on_the_overview(
    client, operator, register, monkeypatch
):
    few, many = TenantFactory(name="Few & Co.", slug="few"), TenantFactory(name="Many", slug="many")
    first, second = register(concurrency=5), register(concurrency=2)
    for tenant, worker, method in ((many, first, "send"), (many, first, "send"), (many, second, "sort")):
        make_job(tenant, Status.RUNNING, worker=worker, source_type="mail.letter", source_method=method)
    job = make_job(few, Status.RUNNING, worker=first, source_type="mail.letter", source_method="send")

    def grid(by: str, who=client) -> str:
        return text(who.get("/ops/workers/", {"by": by})).partition('id="runs"')[2].partition("</table>")[0]

    by_worker, by_tenant, by_type = (grid(by) for by in ("worker", "tenant", "type"))
    assert 'aria-current="true">by worker' in grid("nonsense")
    assert re.search(r"3/5 (send \S+ s ){3}2 idle", words(by_worker)) and re.search(r"1/2 sort \S+ s", words(by_worker))
    assert re.search(r"Many 3 send .* Few & Co. 1 send", words(by_tenant))
    assert re.search(r"mail.letter.send 3 .*Many .* mail.letter.sort 1 Many", words(by_type))
    cell = f'class="t1" href="/ops/jobs/{job.pk}/" title="Few &amp; Co.: mail.letter.send, job {job.pk}, process'
    assert all(cell in one for one in (by_worker, by_tenant, by_type))
    sums = words(text(client.get("/ops/")).partition('id="takers"')[2].partition("</section>")[0])
    assert re.search(r"Many 3 · Few & Co. 1 .*mail.letter.send 3 · mail.letter.sort 1 .* 3 · test@\S+ 1", sums)
    monkeypatch.setattr("jobs.console.ops.workers.view.MAX_CELLS", 3)
    monkeypatch.setattr("jobs.console.ops.workers.grid.MAX_CELLS", 3)
    bars = grid("worker")
    assert "/ops/jobs/" not in bars
    assert (
        'viewBox="0 0 5 1"' in bars and '<path class="t0" d="M0 0h2v1H0z"/><path class="t1" d="M2 0h1v1H2z"/>' in bars
    )
    assert "mail.letter" not in grid("worker", operator("view_worker"))
