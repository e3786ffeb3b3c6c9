"""Batches: jobs that belong together. One job can run when all have ended, and one when all have succeeded.

These two are stored with the batch, as jobs that it blocks. So each runs once, whichever process dies.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

from django.db import transaction

from jobs import store
from jobs.authoring.current import caller
from jobs.authoring.exceptions import Cancelled
from jobs.calls.compose import user_key
from jobs.calls.refusals import InvalidRequest
from jobs.calls.request import JobRequest, requests_of
from jobs.conf import settings
from jobs.engine.door import dispatch
from jobs.engine.submitting.submit import submit_all
from jobs.models import Job
from jobs.store import Progress
from tenants.models import Tenant

AT_ONCE = 1000  # jobs in one statement


class Batch:
    """A batch that exists.

    id: its number, which `after` takes like the id of a job.
    """

    def __init__(self, batch_id: int, tenant_id: int) -> None:
        self.id = batch_id
        self.tenant_id = tenant_id

    def add(self, requests: Iterable[JobRequest] | JobRequest) -> list[int]:
        """Add jobs, in the caller's transaction; return their ids in order.

        A running job of the batch may add jobs even to a closed batch, which cannot be complete before that job ends.
        Raises InvalidRequest. In a job that was asked to stop it raises Cancelled, since the batch may be cancelled;
        then nothing is added.
        """
        if caller().ask_cancelled():  # `check_cancelled` may have looked too long ago
            raise Cancelled("stopped on request")
        requests = requests if isinstance(requests, Iterable) else [requests]
        ids: list[int] = []
        with transaction.atomic():
            for some in _in_parts(requests):
                ids += self._add(some)
        return ids

    def _add(self, requests: list[JobRequest]) -> list[int]:
        for index, request in enumerate(requests):
            if request.tenant_id != self.tenant_id:
                raise InvalidRequest("tenant", "is not the one of the batch", index)
            if self.id in request.predecessors:
                field = "after" if self.id in request.after else "after_end"
                raise InvalidRequest(field, "names the batch that the job is to be in: neither would ever end", index)
        submitted = submit_all([request.within(self.id) for request in requests])
        new = sum(not job.deduplicated for job in submitted)
        running = caller()
        who: dict[str, Any] = {"tenant_id": self.tenant_id, "caller": running.id, "attempt": running.attempt}
        if not store.grow_batch(self.id, new, **who):
            raise InvalidRequest("batch", "is closed: only its own running jobs can add to it")
        return [job.id for job in submitted]

    def progress(self) -> Progress:
        """Return the counts of the batch's jobs by their state, at most a second old."""
        return store.read_batches([self.id], tenant_id=self.tenant_id)[0]


class NewBatch:
    """A batch that is being made.

    If its tenant is known, it is stored at once, so that a rollback inside the block does not remove it. Otherwise its
    first job decides the tenant, and the batch is stored with that job.
    """

    def __init__(self, name: str, user: str, tenant_id: int | None) -> None:
        self._name, self._user, self._tenant_id = name, user, tenant_id
        self._stored = None if tenant_id is None else open_batch(name, user, tenant_id)

    @property
    def id(self) -> int:
        return self.stored.id

    def add(self, requests: Iterable[JobRequest] | JobRequest) -> list[int]:
        """Add jobs; return their ids in order. Raises InvalidRequest."""
        some = requests_of(requests if isinstance(requests, Iterable) else [requests])
        if not some:
            return []
        if self._tenant_id is None:
            self._tenant_id = some[0].tenant_id
        return self.stored.add(some)

    def progress(self) -> Progress:
        """Return the counts of the batch's jobs by their state, at most a second old."""
        return self.stored.progress()

    @property
    def stored(self) -> Batch:
        self._stored = self._stored or open_batch(self._name, self._user, self._tenant_id)
        return self._stored


@contextmanager
def batch(
    name: str,
    *,
    on_success: JobRequest | None = None,
    on_end: JobRequest | None = None,
    user: Any = None,
    tenant: Tenant | None = None,
) -> Iterator[NewBatch]:
    """Make a batch: `with batch("nightly", on_success=report.async_.publish.request()) as nightly: nightly.add(...)`.

    on_success: a job that runs once, when all jobs of the batch have succeeded, also after a revival.
    on_end: a job that runs once, when all jobs of the batch have ended.
    user: a user of the tenant, or the user's key.
    tenant: needed outside of a job, if the batch has no jobs and neither of these two.
    All is stored in the caller's transaction, or in one of its own. Raises InvalidRequest.
    """
    owner = tenant or caller().tenant
    callbacks = requests_of(request for request in (on_success, on_end) if request)
    owners = [request.tenant_id for request in callbacks] + ([owner.pk] if owner else [])
    with transaction.atomic():
        new = NewBatch(name, user_key(user), owners[0] if owners else None)
        yield new
        call_back(new.stored, on_success=on_success, on_end=on_end)
        close(new.stored)


def open_batch(name: str, user: str, tenant_id: int | None) -> Batch:
    """Store an empty, open batch. Raises InvalidRequest."""
    if tenant_id is None:
        raise InvalidRequest("tenant", "is unknown: an empty batch needs tenant=")
    if not 0 < len(name) <= 200 or "\x00" in name:  # noqa: PLR2004
        raise InvalidRequest("name", "must be text of 1 to 200 characters")
    number = store.open_batch(name, user, tenant_id=tenant_id)
    if number is None:
        raise InvalidRequest("tenant", "does not exist")
    return Batch(number, tenant_id)


def call_back(batch: Batch, *, on_success: JobRequest | None = None, on_end: JobRequest | None = None) -> list[int]:
    """Store the jobs that wait for the batch; return their ids. Raises InvalidRequest."""
    ids: list[int] = []
    for request, field, patience in (
        (on_success, "after", {"after_patience": settings.JOBS_DEAD_TTL}),
        (on_end, "after_end", {}),
    ):
        if request is not None:
            if request.tenant_id != batch.tenant_id:
                raise InvalidRequest("tenant", "of a job after the batch is not the one of the batch")
            waits: dict[str, Any] = {field: (*getattr(request, field), batch.id), **patience}
            ids += [submit_all([replace(request.alone(), **waits)])[0].id]  # each batch has its own
    return ids


def close(batch: Batch) -> bool:
    """Close the batch: only its own running jobs can add to it from now on. Return False if it was closed already."""
    closed = store.close_batch(batch.id, tenant_id=batch.tenant_id)
    if closed:
        dispatch.on_commit()
    return closed


def batch_of(job_id: int) -> Batch | None:
    job = Job.objects.filter(pk=job_id).only("batch_id", "tenant_id").first()
    return None if job is None or job.batch_id is None else Batch(job.batch_id, job.tenant_id)


def _in_parts(requests: Iterable[JobRequest]) -> Iterator[list[JobRequest]]:
    left = iter(requests)
    while some := requests_of(islice(left, AT_ONCE)):
        yield some
