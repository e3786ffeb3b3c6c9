"""What the tenant's jobs do now, for the list of its members: their numbers, the first ones, and what many wait for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Sum

from jobs.allocation.gates import Gate
from jobs.lifecycle import FINAL, HOLDING, WAITING, Status
from jobs.models import Job, Queue, TenantHour
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.portal import words
from jobs.reading import queries
from jobs.reading.explain.explanation import explain
from jobs.reading.queries import GroupUnderWay

MOST = 1000  # jobs of a kind that are counted; of the ready ones, in each queue
A_FEW = 5  # waiting jobs of one kind that are listed
MANY = 3  # jobs that wait for the same, from which on one sentence tells it for all of them
FAILED = frozenset({Status.ERROR, Status.DEAD})
# The filters of the list, by their name in the address; the other names are those of single statuses.
GROUPS = {"waiting": WAITING, "running": HOLDING, "failed": FAILED, "ended": FINAL}
OF_A_JOB = {Gate.NEXT, Gate.USER_FULL}  # the reason of the first job in line is not that of the others


@dataclass(frozen=True)
class Fold:
    """Jobs that wait for the same.

    jobs: their number.
    is_more: whether there are more of them.
    queues: the ids of their queues.
    why: the reason in a sentence.
    """

    jobs: int
    is_more: bool
    queues: tuple[int, ...]
    why: str


@dataclass(frozen=True)
class UnderWay:
    """The jobs that have not ended.

    waiting, running: their numbers.
    is_more: whether more of them wait.
    shown: the ids of the first ones: those that run, then those that wait.
    folds: what many of them wait for.
    """

    waiting: int
    running: int
    is_more: bool
    shown: list[int]
    folds: list[Fold]

    @property
    def told(self) -> frozenset[int]:
        """The queues whose jobs need no reason of their own."""
        return frozenset(queue for fold in self.folds for queue in fold.queues)


def under_way(tenant_id: int, most_explained: int) -> UnderWay:
    """Read the jobs of the tenant that have not ended.

    most_explained: for so many queues one sentence tells why their jobs wait.
    """
    groups = queries.groups_under_way(tenant_id, MOST, A_FEW * A_FEW)
    waiting = [group for group in groups if group.status in WAITING]
    holding = [group for group in groups if group.status in HOLDING]
    ready = [group for group in waiting if group.status == Status.CREATED]
    first = {status: [group for group in waiting if group.status == status] for status in sorted(WAITING)}
    return UnderWay(
        waiting=sum(group.jobs for group in waiting),
        running=sum(group.jobs for group in holding),
        is_more=any(group.jobs >= MOST for group in waiting),
        shown=[
            *sorted((pk for group in holding for pk in group.ids), reverse=True)[: A_FEW * A_FEW],
            *(pk for alike in first.values() for pk in [pk for group in alike for pk in group.ids][:A_FEW]),
        ],
        folds=_folds(ready[:most_explained], lambda pk: _reason(pk, tenant_id)),
    )


def _folds(ready: Sequence[GroupUnderWay], reason: Callable[[int], str]) -> list[Fold]:
    alike: dict[str, list[GroupUnderWay]] = {}
    for group in ready:
        if why := reason(group.ids[0]):
            alike.setdefault(why, []).append(group)
    folds = [
        Fold(
            sum(group.jobs for group in groups),
            any(group.jobs >= MOST for group in groups),
            tuple(group.queue_id for group in groups),
            why,
        )
        for why, groups in alike.items()
    ]
    return [fold for fold in folds if fold.jobs >= MANY]


def _reason(job_id: int, tenant_id: int) -> str:
    """Return why the job waits, and what to do; "" if that is its own affair, or it has just started."""
    why = explain(job_id, tenant_id=tenant_id)
    if why is None or why.status != Status.CREATED or why.gate in OF_A_JOB:
        return ""
    return words.for_all(why)


def in_line(tenant_id: int, queues: Sequence[int], upto: int) -> list[int]:
    """Return the ids of up to MOST ready jobs of the tenant, of these queues or of all. Index: jobs_claim.

    upto: the highest id.
    """
    among = queues or list(Queue.objects.values_list("pk", flat=True))
    ready = Job.objects.filter(tenant=tenant_id, queue__in=among, ready_at__isnull=False, pk__lte=upto)
    return sorted(ready.values_list("pk", flat=True)[:MOST])


@cached(PAST_SECONDS, before=0)
def failed_since(tenant_id: int, since: datetime) -> int:
    """Return how many jobs of the tenant failed since that hour, as the recorder counted them."""
    hours = TenantHour.objects.filter(tenant_id=tenant_id, hour__gte=since, outcome__in=FAILED)
    return hours.aggregate(failed=Sum("attempts"))["failed"] or 0
