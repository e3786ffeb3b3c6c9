"""Calls that do not just join an identical job.

The newest call wins: the last of identical calls runs, and the jobs of the earlier calls make way for it. Or calls are
gathered: they are appended to a job that waits.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from jobs import store
from jobs.authoring.current import caller
from jobs.calls.request import DEBOUNCE, GATHER, NEWEST_WINS, SUPERSEDE, JobRequest
from jobs.engine.door import dispatch
from jobs.engine.verbs.audit import note_job
from jobs.store import GoingOn


class IdenticalCalls:
    """The requests of a submit that do not join identical jobs. False if there are none.

    behind: by the number of a request, the running job that must end before the request's job starts.
    """

    def __init__(self, requests: Sequence[JobRequest]) -> None:
        self._requests = requests
        self._last = {
            request.identity: index
            for index, request in enumerate(requests)
            if request.dedup_key and request.identical in NEWEST_WINS
        }
        self._gathered = {
            index: request
            for index, request in enumerate(requests)
            if request.dedup_key and request.identical == GATHER
        }
        self._old: list[tuple[int, int]] = []  # each job that has made way, and the number of the request
        self.behind: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._last or self._gathered)

    def last(self, index: int) -> int:
        """Return the number of the last request that is identical to this one: that request counts."""
        return self._last.get(self._requests[index].identity, index) if self._wins(index) else index

    def lock_identities(self) -> None:
        """Keep other transactions from submitting such calls with the same identities until this one ends."""
        if self:
            gathered = (request.identity for request in self._gathered.values())
            store.lock_identities((tenant_id, key) for tenant_id, key in chain(self._last, gathered) if key is not None)

    def gather(self) -> Mapping[int, GoingOn]:
        """Append gathered calls to the jobs that have room for them; return these, by number of request."""
        if not self._gathered:
            return {}
        going_on = store.gather(self._gathered.items())
        if any(job.due_at is None for job in going_on.values()):
            dispatch.on_commit()  # a claim may skip the rows while they are locked
        return going_on

    def take(self, holders: Iterable[tuple[int, int]]) -> Mapping[int, GoingOn]:
        """Make jobs with the identity of these requests give way; return those that go on, by number of request.

        If the call is debounced, a job without an attempt so far goes on, with the new arguments.

        holders: pairs of the number of a request and the id of a job.
        """
        others = [(index, job_id) for index, job_id in holders if self._wins(index)]
        if joined := [job_id for index, job_id in holders if not self._wins(index)]:
            store.give_up_key(joined)
        if not others:
            return {}
        debounced = {job_id: index for index, job_id in others if self._requests[index].identical == DEBOUNCE}
        kept = store.debounce([(job_id, self._requests[index]) for job_id, index in debounced.items()])
        going_on = {debounced[job.id]: job for job in kept}
        old = [(index, job_id) for index, job_id in others if index not in going_on]
        ahead = store.make_way([job_id for _, job_id in old])
        self.behind |= {index: first for index, job_id in old if (first := ahead.get(job_id))}
        self._old += [(job_id, index) for index, job_id in old if job_id != caller().id]
        return going_on

    def replace(self, ids: Mapping[int, int]) -> None:
        """Cancel the waiting ones of the jobs that have made way. The running ones may finish, or are asked to stop.

        ids: the new jobs, by the numbers of their requests.
        """
        replaced = store.replace({old: ids[index] for old, index in self._old})
        for job in replaced:
            note_job("replaced", job.id, job.tenant_id)
        running = {self.behind[index]: index for index in self.behind if self.behind[index] != caller().id}
        stopping = [job_id for job_id, index in running.items() if self._requests[index].identical == SUPERSEDE]
        for job_id in store.outdate({job_id: ids[index] for job_id, index in running.items()}, stopping):
            note_job("asked to stop", job_id, self._requests[running[job_id]].tenant_id)
        if self._old:
            dispatch.on_commit()

    def _wins(self, index: int) -> bool:
        return self._requests[index].identical in NEWEST_WINS
