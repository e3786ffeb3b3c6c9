"""Read the jobs that ran at workers that were lost, and were taken back from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from jobs.console.ops.shared.present_queries import look
from jobs.pages.cached import CONDITIONS_SECONDS, cached
from jobs.reading.looking import Worker

MAX_READ = 20_000  # attempts of the last day that died with their process, of all workers
MAX_LISTED = 10  # jobs of a worker


@dataclass(frozen=True)
class TakenBack:
    """The jobs that were taken back from a worker.

    jobs: their number
    listed: the ids of the first MAX_LISTED
    """

    jobs: int
    listed: list[int]

    @property
    def more(self) -> int:
        return self.jobs - len(self.listed)


def taken_back(workers: Iterable[Worker]) -> Mapping[UUID, TakenBack]:
    """Return the jobs that were taken back from those of these workers that were lost; without workers that had none.

    An attempt is known for a day; the job of one that had not started runs again without a trace of it.
    """
    lost = tuple(worker.id for worker in workers if worker.lost)
    return _taken_back(lost) if lost else {}


@cached(CONDITIONS_SECONDS, before={})
def _taken_back(lost: tuple[UUID, ...]) -> Mapping[UUID, TakenBack]:
    rows = look("look_taken_back", workers=[*lost], most=MAX_READ, listed=MAX_LISTED)
    return {worker: TakenBack(jobs, ids) for worker, jobs, ids in rows}
