"""Every verb against every status: it moves the job where there is an arrow, and elsewhere changes nothing at all."""

import contextlib
import re
import uuid

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import store
from jobs.lifecycle import ARROWS, Arrow, Status
from jobs.models import WITNESSES, FailedAttempt, Job
from jobs.store import Seat
from tests.clock import call_at
from tests.factories import NO_PID, TenantFactory, make_job
from tests.verbs import FOR_MANY, LATER, REASONS, VERBS, moved, row


def job_in(status: Status, register, verb: str = "") -> Job:
    """A job in that status, in its third attempt, of a tenant that has a free slot and a worker that is idle."""
    register()
    job = make_job(TenantFactory(queue__num_slots=5), status, attempt=3, queued_at=timezone.now())
    REASONS.get(verb, lambda job: None)(job)
    return job


def ways() -> list[tuple[str, Arrow, str]]:
    """Each statement of each arrow that leads from somewhere: its name in VERBS, the arrow, and the statement."""
    return [
        (arrow.verb if statement == arrow.statements[0] else f"{arrow.verb} by {statement}", arrow, statement)
        for arrow in ARROWS
        if arrow.sources
        for statement in arrow.statements
    ]


def cases():
    """Name, arrow and statuses. A dispatch is a transaction of its own: each status of the claim is a case.

    Left out are the statuses from which the same statement performs another arrow.
    """
    for name, arrow, statement in ways():
        others = [other.sources for other in ARROWS if statement in other.statements and other is not arrow]
        statuses = [one for one in Status if one in arrow.sources or not any(one in sources for sources in others)]
        if arrow.verb == "claim":
            for status in statuses:
                claims = pytest.mark.django_db(transaction=True)
                yield pytest.param(name, arrow, [status], marks=claims, id=f"{name}-{status}")
        else:
            yield pytest.param(name, arrow, statuses, marks=pytest.mark.django_db, id=name.replace(" ", "-"))


def test_every_way_of_an_arrow_is_tried():
    assert set(VERBS) == {name for name, *_ in ways()}


@pytest.mark.parametrize(("name", "arrow", "statuses"), list(cases()))
def test_a_verb_moves_a_job_from_its_own_statuses_and_changes_nothing_elsewhere(
    name, arrow: Arrow, statuses, register, subtests
):
    for status in statuses:
        alone = contextlib.nullcontext() if len(statuses) == 1 else undone()
        with subtests.test(str(status)), alone:
            moves_or_changes_nothing(name, arrow, status, register)


@contextlib.contextmanager
def undone():
    """Nobody else sees what is done here."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def moves_or_changes_nothing(name: str, arrow: Arrow, status: Status, register) -> None:
    job = job_in(status, register, name)
    before = row(job)
    for attempt in (2, 4) if arrow.fenced else ():  # of a stale holder, and one of the future
        assert not VERBS[name](job, attempt)
        assert row(job) == before
        assert not FailedAttempt.objects.exists()
    applied = VERBS[name](job, job.attempt)
    assert applied == (status in arrow.sources)
    if not applied:
        assert row(job) == before
        assert not FailedAttempt.objects.exists()
        return
    if arrow.target is None:
        assert not Job.objects.filter(pk=job.pk).exists()
        return
    job.refresh_from_db()
    assert job.status == arrow.target
    set_witnesses = {column for column in WITNESSES if getattr(job, column) is not None}
    assert set_witnesses == {column for column, statuses in WITNESSES.items() if arrow.target in statuses}
    assert job.attempt == 3 + (arrow.verb in {"claim", "follow"})


@pytest.mark.parametrize(
    ("name", "arrow", "status"),
    [
        pytest.param(name, arrow, min(arrow.sources), marks=case.marks, id=case.id)
        for case in cases()
        for name, arrow, statuses in [case.values]
        if min(arrow.sources) in statuses
    ],
)
def test_an_arrow_leaves_one_line_in_the_log_when_it_is_committed(name, arrow: Arrow, status, request, caplog):
    caplog.set_level("INFO", "jobs")
    job = job_in(status, request.getfixturevalue("register"), name)
    with request.getfixturevalue("django_capture_on_commit_callbacks")(execute=True):
        assert VERBS[name](job, job.attempt)
        early = lines_of(job, caplog)
    after = job.attempt + (arrow.verb in {"claim", "follow"})
    (line,) = lines_of(job, caplog)
    assert re.match(rf"{arrow.verb} job={job.pk} attempt={after}( |$)", line)
    assert early == [] or arrow.verb == "claim", "its transaction is its own"


@pytest.mark.django_db
def test_an_arrow_that_is_rolled_back_leaves_no_line(register, caplog):
    caplog.set_level("INFO", "jobs")
    job = job_in(Status.CREATED, register)
    with contextlib.suppress(LookupError), transaction.atomic():
        assert store.cancel([job.pk], tenant_id=job.tenant_id)
        raise LookupError
    assert lines_of(job, caplog) == []


def lines_of(job: Job, caplog) -> list[str]:
    """Those of arrows; a failure has a record of its own beside its line (test_failures_in_the_log.py)."""
    of_arrows = [record.getMessage() for record in caplog.records if record.levelname == "INFO"]
    return [line for line in of_arrows if re.search(rf" job={job.pk}( |$)", line)]


@pytest.mark.django_db
@pytest.mark.parametrize("status", Status)
def test_only_the_holder_of_a_running_attempt_notes_its_progress(status, register):
    job = job_in(status, register)
    before = row(job)
    holder = Seat(job.worker, job.worker_pid)
    others = [Seat(job.worker, NO_PID + 1), Seat(uuid.uuid4(), job.worker_pid)]
    for attempt in (2, 3, 4):
        assert not any(store.progress(job.pk, attempt, process, 0.5, "half") for process in others)
    assert not any(store.progress(job.pk, attempt, holder, 0.5, "half") for attempt in (2, 4))
    assert row(job) == before
    assert store.progress(job.pk, 3, holder, 0.5, "half") == (status == Status.RUNNING) == (row(job) != before)


@pytest.mark.django_db
@pytest.mark.parametrize("status", Status)
def test_only_the_holder_of_a_running_attempt_stores_its_cursor(status, register):
    job = job_in(status, register)
    before = row(job)
    holder = Seat(job.worker, job.worker_pid)
    others = [Seat(job.worker, NO_PID + 1), Seat(uuid.uuid4(), job.worker_pid)]
    for attempt in (2, 3, 4):
        assert not any(store.checkpoint(job.pk, attempt, process, "7") for process in others)
    assert not any(store.checkpoint(job.pk, attempt, holder, "7") for attempt in (2, 4))
    assert row(job) == before
    assert store.checkpoint(job.pk, 3, holder, "7") == (status == Status.RUNNING) == (row(job) != before)


@pytest.mark.django_db
@pytest.mark.parametrize("status", Status)
def test_only_a_queued_job_is_handed_over_again(status, register, settings):
    settings.JOBS_BEAT_INTERVAL = 3600 * 24  # the worker is alive at that moment, too
    job = job_in(status, register)
    Job.objects.filter(pk=job.pk).update(handed_at=timezone.now())
    before = row(job)
    handed = moved(job, call_at(LATER, store.hand_over_again, patience=0))
    assert handed == (status == Status.QUEUED) == (row(job) != before)
    job.refresh_from_db()
    assert (job.status, job.attempt) == (status, 3)


@pytest.mark.django_db
@pytest.mark.parametrize(("name", "arrow"), [(name, arrow) for name, arrow, _ in ways() if arrow.verb not in FOR_MANY])
def test_a_verb_that_names_a_job_touches_no_other(name, arrow: Arrow, register):
    status = max(arrow.sources)
    job = job_in(status, register, name)
    others = [make_job(job.tenant, status, attempt=3), make_job(TenantFactory(), status, attempt=3)]
    Job.objects.filter(pk__in=[other.pk for other in others]).update(cancel_requested_at=job.cancel_requested_at)
    before = [row(other) for other in others]
    assert VERBS[name](job, 3)
    assert [row(other) for other in others] == before
