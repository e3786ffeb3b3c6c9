"""What may become of a job, with real Celery workers: retried, cancelled, killed for time or memory, paused, told."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import psutil
import pytest

from jobs.engine.verbs.cancel import Cancellation, cancel
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.engine.verbs.revive import revive
from jobs.models import FailedAttempt, Job
from jobs.store import EVERY_TENANT, results
from tests.acceptance.following import ended, running
from tests.chaos.freezing import has_ended
from tests.factories import TenantFactory, ThingFactory
from tests.sample.models import Run
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def failures(job: Job) -> list[str]:
    """The classes of error of its failed attempts."""
    return list(FailedAttempt.objects.filter(job=job).order_by("attempt").values_list("error_class", flat=True))


class TestRetries:
    def test_a_job_that_fails_twice_succeeds_in_its_third_attempt(self, start_worker, thing):
        start_worker(concurrency=1)
        job = ended(thing.async_.fail_first(times=2))
        assert (job.status, job.attempt, job.retries) == ("success", 3, 2)
        assert results.load(job).value == 3
        assert failures(job) == ["ValueError", "ValueError"]

    def test_a_job_that_fails_on_is_dead_and_a_person_can_revive_it(self, start_worker, thing):
        start_worker(concurrency=1)
        job = ended(thing.async_.fail_first(times=5))
        assert (job.status, job.attempt, job.retries) == ("dead", 4, 3)
        assert revive(job.pk, tenant_id=EVERY_TENANT)
        job = ended(job.pk)
        assert (job.status, job.attempt, job.retries) == ("success", 6, 1)

    @pytest.mark.parametrize(("stubborn", "word"), [(False, "1.5 s"), (True, "was killed")], ids=["soft", "hard"])
    def test_a_time_limit_is_a_failure_for_the_policy(self, stubborn, word, start_worker, thing, environ):
        environ["JOBS_TIMEOUT_GRACE"] = "0.5"
        start_worker(concurrency=1)
        job = ended(thing.async_(timeout=1.5).spin_again(stubborn=stubborn))
        assert (job.status, job.attempt, job.retries, job.crashes) == ("dead", 2, 1, 0)
        assert failures(job) == ["TimeoutError", "TimeoutError"]
        assert job.last_error.endswith(word)


class TestCancel:
    def test_code_that_lets_itself_be_stopped_is_cancelled_and_its_process_goes_on(self, start_worker, thing):
        start_worker(concurrency=1)
        job_id = thing.async_.until_cancelled()
        process = running(job_id)
        assert cancel(job_id, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
        job = ended(job_id)
        assert (job.status, job.attempt, job.crashes) == ("cancelled", 1, 0)
        assert failures(job) == []
        assert running(thing.async_.echo()) == process

    def test_code_that_does_not_is_killed_after_the_grace_and_its_slot_is_free_only_then(self, start_worker, environ):
        environ["JOBS_CANCEL_GRACE"] = "1"
        thing = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
        start_worker(concurrency=2)
        job_id = thing.async_.spin_again(stubborn=True)
        process = psutil.Process(running(job_id))
        waiting = thing.async_.echo()
        assert cancel(job_id, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
        seen = set()

        def is_cancelled() -> bool:
            status, slot = Job.objects.values_list("status", "slot").get(pk=job_id)
            seen.add((status, slot, not has_ended(process.pid)))
            return status == "cancelled"

        wait_until(is_cancelled, "the job is cancelled")
        # Between the two it may be seen to be dead with its slot still held, but never the other way round.
        assert seen - {("running", 1, False)} == {("running", 1, True), ("cancelled", None, False)}
        job, after = ended(job_id), ended(waiting)
        assert (job.attempt, job.retries) == (1, 0)
        assert (job.end_time - job.cancel_requested_at).total_seconds() >= 1
        assert after.status == "success"
        assert after.queued_at >= job.end_time
        assert Run.objects.filter(job_id=job_id).count() == 1

    def test_a_job_whose_process_dies_after_the_request_is_cancelled_and_not_run_again(self, start_worker, thing):
        start_worker(concurrency=1)
        job_id = thing.async_.spin_again()
        process = running(job_id)
        cancel(job_id, tenant_id=EVERY_TENANT)
        psutil.Process(process).kill()
        assert ended(job_id).status == "cancelled"
        assert ended(thing.async_.echo()).status == "success"
        assert Run.objects.filter(job_id=job_id).count() == 1


class TestMemory:
    def test_a_job_above_its_ceiling_is_killed_again_and_again_and_dead_while_others_go_on(
        self, start_worker, thing, settings
    ):
        start_worker(concurrency=2)
        beside = thing.async_.until_cancelled()
        process = running(beside)
        job = ended(thing.async_.swallow(400))
        assert (job.status, job.crashes) == ("dead", settings.JOBS_MAX_CRASHES)
        assert failures(job) == ["MemoryExceeded"] * settings.JOBS_MAX_CRASHES
        assert job.last_error.endswith("MiB of memory; 300 MiB are allowed")
        assert (Job.objects.get(pk=beside).status, Run.objects.get(job_id=beside).pid) == ("running", process)
        assert ended(thing.async_.echo()).status == "success"
        cancel(beside, tenant_id=EVERY_TENANT)
        assert ended(beside).status == "cancelled"

    def test_the_setting_is_the_ceiling_of_a_job_that_has_none(self, start_worker, thing, environ, settings):
        environ |= {"JOBS_DEFAULT_MEMORY": "250", "JOBS_MAX_CRASHES": "1"}
        start_worker(concurrency=1)
        job = ended(thing.async_.swallow_by_default(300))
        assert (job.status, job.crashes, failures(job)) == ("dead", 1, ["MemoryExceeded"])
        assert job.last_error.endswith("250 MiB are allowed")


def test_a_paused_type_waits_and_goes_on_when_it_is_resumed(start_worker, thing):
    start_worker(concurrency=1)
    pause_job_type("sample.thing", "echo")
    held = thing.async_.echo()
    assert ended(thing.async_.fail_first(times=0)).status == "success"
    assert Job.objects.get(pk=held).status == "scheduled"
    resume_job_type("sample.thing", "echo")
    assert ended(held).status == "success"


@pytest.fixture
def received(environ) -> Iterator[list[dict]]:
    """What the workers post about deaths."""
    received: list[dict] = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Not on stderr."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        environ |= {
            "JOBS_DEATH_WEBHOOK": f"http://127.0.0.1:{server.server_port}/",
            "JOBS_DEATH_NOTICE_INTERVAL": "0.5",
        }
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield received
        server.shutdown()
        thread.join()


def test_a_single_worker_tells_that_jobs_died(start_worker, thing, received):
    start_worker(concurrency=1)
    start_worker(concurrency=1)
    dead = [ended(thing.async_(max_retries=0, dedup=False).fail_first()) for _ in range(3)]
    assert {job.status for job in dead} == {"dead"}
    wait_until(lambda: sum(message["count"] for message in received) >= 3, "the deaths are told")
    groups = [group for message in received for group in message["deaths"]]
    assert sum(group["count"] for group in groups) == 3
    assert {(group["tenant"], group["job_type"], group["error_class"]) for group in groups} == {
        (thing.tenant.slug, "sample.thing.fail_first", "ValueError")
    }
