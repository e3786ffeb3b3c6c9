"""A failed attempt is one record of the log: an error if its job has ended by it, a warning if the job runs again."""

import logging

import pytest

from jobs import Abandon, Cancelled, Retry, RetryLater, cancel, current_job, store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.upkeep import recover
from jobs.models import Job
from jobs.store import EVERY_TENANT, Failure
from tests import attempts
from tests.attempts import WORKER
from tests.sample.litter import Unspeakable

pytestmark = pytest.mark.django_db(transaction=True)
ERROR, WARNING = logging.ERROR, logging.WARNING


@pytest.fixture
def told(caplog):
    """The records of failures so far, which this forgets: level, event, class of the error, class of the exception."""
    caplog.set_level("INFO")

    def told() -> list[tuple[int, str, str, str | None]]:
        found = [
            one for one in caplog.records if one.levelno > WARNING or getattr(one, "event", "") == "attempt failed"
        ]
        raised = [one.exc_info[0].__name__ if one.exc_info else None for one in found]
        caplog.clear()
        return [(one.levelno, one.event, one.facts["error"], name) for one, name in zip(found, raised, strict=True)]

    return told


@pytest.fixture
def run(thing, body, sent):
    def run(function, **options) -> Job:
        body(lambda self, **args: function(**args), **options)
        return attempts.run(sent, thing.async_(dedup=False).echo())

    return run


def raising(error: BaseException):
    def end() -> None:
        raise error

    return end


def once(**options) -> Retry:
    return Retry.every(0, max_retries=1, **options)


def stopped() -> None:
    cancel(current_job().id, tenant_id=EVERY_TENANT)
    raise Cancelled("stopped")


class Exits(Exception):
    def __str__(self) -> str:
        raise SystemExit(3)


CASES = {
    "without a policy": (ValueError("no"), None, [(ERROR, "job failed", "ValueError", "ValueError")]),
    "tried again": (ValueError("no"), once(), [(WARNING, "attempt failed", "ValueError", "ValueError")]),
    "given up": (ValueError("no"), Retry.every(0, max_retries=0), [(ERROR, "job failed", "ValueError", "ValueError")]),
    "abandoned": (Abandon("no"), once(), [(ERROR, "job failed", "Abandon", "Abandon")]),
    "in a group": (ExceptionGroup("g", [KeyError(1)]), None, [(ERROR, "job failed", "KeyError", "ExceptionGroup")]),
    "unasked": (Cancelled("no"), None, [(ERROR, "job failed", "Cancelled", "Cancelled")]),
    "of a policy": (
        ValueError("no"),
        Retry.custom(lambda *_: 1 / 0, max_retries=1),
        [(ERROR, "job failed", "ZeroDivisionError", "ZeroDivisionError")],
    ),
    "stored nowhere": (ValueError("no"), once(queue="\x00"), [(ERROR, "job failed", "DataError", "DataError")]),
    "unspeakable": (Unspeakable(), None, [(ERROR, "job failed", "Unspeakable", "Unspeakable")]),
    "text that exits": (Exits(), None, [(ERROR, "job failed", "Exits", None)]),
    "later": (RetryLater(3), None, []),
}


def test_each_failure_is_told_once_with_its_error(run, told, subtests):
    for name, (error, retry, expected) in CASES.items():
        with subtests.test(name):
            run(raising(error), retry=retry)
            assert told() == expected
    run(stopped, retry=once())
    run(lambda: None)
    assert told() == []


def test_its_facts_are_those_of_the_job_and_no_frame_of_ours_has_its_arguments(thing, body, sent, caplog):
    def refuse(self, *, secret: str) -> None:
        del secret
        raise ValueError("no")

    body(refuse)
    job = attempts.run(sent, thing.async_.echo(secret="hunter2"))
    [record] = [one for one in caplog.records if one.levelno == ERROR]
    facts = {"job": job.pk, "attempt": 1, "tenant": thing.tenant_id, "type": "sample.thing.echo", "error": "ValueError"}
    assert record.facts == facts
    assert record.getMessage() == "job failed" + "".join(f" {name}={value}" for name, value in facts.items())
    assert "hunter2" not in logging.Formatter().format(record)
    trace = record.exc_info[2]
    assert trace.tb_frame.f_code is refuse.__code__
    assert trace.tb_next is None


def test_without_texts_of_errors_it_has_none(run, caplog, settings):
    settings.JOBS_LOG_TRACEBACKS = False
    run(raising(ValueError("Mr. Smith")))
    [record] = [one for one in caplog.records if one.levelno == ERROR]
    assert (record.exc_info, record.facts["error"]) == (None, "ValueError")
    assert "Smith" not in caplog.text


def test_a_text_that_no_file_can_take_is_left_out(run, told):
    """Half a character: the handler of a file would drop the record."""
    run(raising(ValueError("half \ud800")))
    assert told() == [(ERROR, "job failed", "ValueError", None)]


def test_what_only_its_parent_knows_is_told_by_its_parent(thing, body, told, settings):
    settings.JOBS_MAX_CRASHES = 2
    body(lambda self: None)
    killed = Failure("ProcessDied", "its process was ended by SIGKILL")

    def begun() -> int:
        job_id = thing.async_(dedup=False).echo()
        dispatch()
        assert store.start(job_id, 1, store.Seat.here(WORKER))
        return job_id

    late = begun()
    assert recover.time_out(late, 1)
    assert told() == [(ERROR, "job failed", "TimeoutError", "TimeoutError")]
    died = begun()
    assert recover.take_back(died, 1, killed)
    assert told() == [(WARNING, "attempt failed", "ProcessDied", None)]
    Job.objects.filter(pk=died).update(status="running", due_at=None, slot=1, attempt=2)
    assert recover.take_back(died, 2, killed)
    assert told() == [(ERROR, "job failed", "ProcessDied", None)]
    stopping = begun()
    cancel(stopping, tenant_id=EVERY_TENANT)
    assert recover.take_back(stopping, 1, killed)
    waiting = thing.async_(dedup=False).echo()
    dispatch()
    assert recover.take_back(waiting, 1, killed), "its process died with the message, before the start"
    assert told() == []
