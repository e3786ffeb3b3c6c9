"""The newest call wins: of identical calls the last one is run, and the jobs of the earlier ones make way for it."""

from collections.abc import Iterable, Mapping, Sequence

from jobs import store
from jobs.authoring.current import caller
from jobs.calls.request import DEBOUNCE, JOIN, SUPERSEDE, JobRequest
from jobs.engine import dispatch
from jobs.engine.audit import note_job
from jobs.store import Gathered


class Newest:
    """The requests of a submit that do not join identical jobs. False if there are none.

    behind: by number of the request, the running job that must end before its job starts.
    """

    def __init__(self, requests: Sequence[JobRequest]) -> None:
        self._requests = requests
        self._last = {
            one.identity: index for index, one in enumerate(requests) if one.dedup_key and one.identical != JOIN
        }
        self._old: list[tuple[int, int]] = []  # jobs that have made way, and for which request
        self.behind: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._last)

    def last(self, index: int) -> int:
        """The number of the last request that is identical to this one: the one that counts."""
        return self._last.get(self._requests[index].identity, index) if self._wins(index) else index

    def lock_identities(self) -> None:
        """Let no other transaction submit such calls of the same identities until this one ends."""
        if self._last:
            store.lock_identities((tenant_id, key) for tenant_id, key in self._last if key is not None)

    def take(self, holders: Iterable[tuple[int, int]]) -> Mapping[int, Gathered]:
        """Let the jobs make way that have the identity of these requests; return those that go on, with new arguments.

        A job that has not got its first attempt goes on if the call is debounced.
        """
        others = [(index, job_id) for index, job_id in holders if self._wins(index)]
        if joined := [job_id for index, job_id in holders if not self._wins(index)]:
            store.give_up_key(joined)
        if not others:
            return {}
        debounced = {job_id: index for index, job_id in others if self._requests[index].identical == DEBOUNCE}
        gathered = store.gather([(job_id, self._requests[index]) for job_id, index in debounced.items()])
        going_on = {debounced[one.id]: one for one in gathered}
        old = [(index, job_id) for index, job_id in others if index not in going_on]
        ahead = store.make_way([job_id for _, job_id in old])
        self.behind |= {index: first for index, job_id in old if (first := ahead.get(job_id))}
        self._old += [(job_id, index) for index, job_id in old if job_id != caller().id]
        return going_on

    def replace(self, ids: Mapping[int, int]) -> None:
        """Cancel what waits of the jobs that have made way; what runs may finish, or is asked to stop.

        ids: of the new jobs, by the numbers of their requests.
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
        return self._requests[index].identical != JOIN
