"""Cancel, revive and discard jobs, one or many: what each verb does, its outcomes, and the sentence for each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import UUID

from django.db.models import Q

from jobs.engine.verbs import cancel as cancelling
from jobs.engine.verbs import revive as reviving
from jobs.engine.verbs.cancel import Cancellation
from jobs.lifecycle import FINAL, Status
from jobs.models import ERASED, Job
from jobs.reading import listing
from jobs.reading.listing import Sought
from jobs.store import EVERY_TENANT
from plumbing.text import count_of_jobs
from tenants import audit

BATCH = 100  # jobs in one transaction: one dispatch for all of them, and short locks


@dataclass(frozen=True)
class Outcome:
    """An outcome of a verb, in words.

    predicate: the words after "Job 7"
    sentence: a sentence with {} for the number of jobs
    applied: whether the jobs were changed
    """

    predicate: str
    sentence: str
    applied: bool = True


@dataclass(frozen=True)
class Verb:
    """Something that an operator does to jobs.

    warning: what it will do, for the page that asks for a confirmation
    possible: which jobs it can change, in words
    statuses: the statuses of the jobs that it can change
    apply: do it to some jobs; returns the name of the outcome of each
    can: a further condition on the jobs that it can change
    asks: whether it asks for a confirmation, however few the jobs are
    """

    name: str
    doing: str
    help: str
    warning: str
    possible: str
    statuses: frozenset[Status]
    apply: Callable[[Sequence[int]], Mapping[int, str]]
    outcomes: Mapping[str, Outcome]
    can: Q = field(default_factory=Q)
    asks: bool = False

    def each(self, ids: Sequence[int], *, bulk: UUID | None, filters: str = "") -> dict[int, str]:
        """Apply the verb to these jobs; return the outcome of each, in their order.

        Each BATCH of jobs is a transaction; what an earlier one has done stays done.

        bulk: the UUID of one entry in the audit log for all jobs; without it each job has its own
        filters: the filters that chose the jobs, for that entry
        """
        outcomes = dict.fromkeys(ids, "")
        for first in range(0, len(ids), BATCH):
            with audit.in_bulk(bulk, filters):
                # In the order of their ids, so that two such calls cannot deadlock.
                outcomes |= self.apply(sorted(ids[first : first + BATCH]))
        return outcomes

    def next(self, sought: Sought, most: int, *, before: int | None = None) -> tuple[list[int], int | None]:
        """Return the ids of the newest matching jobs that the verb can change; and `before` for the next call."""
        changeable = replace(sought, others=sought.others & Q(status__in=self.statuses) & self.can)
        return listing.ids(changeable, most, before=before, looks=listing.LOOKS)

    def applied(self, outcomes: Iterable[str]) -> list[str]:
        """Return the outcomes of the jobs that were changed."""
        return [name for name in outcomes if self.outcomes[name].applied]

    def summary(self, outcomes: Mapping[str, int]) -> str:
        """Return sentences about these numbers of jobs, by outcome."""
        return " ".join(
            outcome.sentence.format(count_of_jobs(outcomes[name]))
            for name, outcome in self.outcomes.items()
            if outcomes.get(name)
        )


def _each(verb: Callable[[int], bool], done: str, ids: Sequence[int]) -> dict[int, str]:
    return {job_id: done if verb(job_id) else SKIPPED for job_id in ids}


def _discard(ids: Sequence[int]) -> dict[int, str]:
    stopping = set(
        Job.objects.filter(pk__in=ids, died_at__isnull=False, sequence_stops=True).values_list("pk", flat=True)
    )
    outcomes = _each(reviving.discard, "discarded", ids)
    return {job_id: "let on" if job_id in stopping and said != SKIPPED else said for job_id, said in outcomes.items()}


SKIPPED = "skipped"
CANCEL = Verb(
    name="cancel",
    doing="Cancelling",
    help="Cancel waiting jobs; ask running jobs to stop.",
    warning="Waiting jobs end as cancelled. Running jobs are asked to stop.",
    possible="Only jobs that have not ended can be cancelled.",
    statuses=frozenset(Status) - FINAL,
    apply=partial(cancelling.cancel_all, tenant_id=EVERY_TENANT),
    outcomes={
        Cancellation.CANCELLED: Outcome("is cancelled", "Cancelled {}."),
        Cancellation.REQUESTED: Outcome(
            "is running and was asked to stop", "Asked {} to stop: running until the code stops."
        ),
        Cancellation.TOO_LATE: Outcome("has ended", "Too late for {}: already ended.", applied=False),
    },
)
REVIVE = Verb(
    name="revive",
    doing="Reviving",
    help="Give failed, dead or cancelled jobs a new series of attempts.",
    warning="Each gets a new series of attempts.",
    possible="Only jobs with status error, dead or cancelled can be revived, and only while their arguments are kept.",
    statuses=FINAL - {Status.SUCCESS},
    apply=partial(_each, partial(reviving.revive, tenant_id=EVERY_TENANT), "revived"),
    outcomes={
        "revived": Outcome("waits again with a new series of attempts", "Revived {}."),
        SKIPPED: Outcome(
            "was skipped", "Skipped {}: under way, succeeded, or their arguments were erased.", applied=False
        ),
    },
    can=~Q(dedup_key=ERASED),
)
DISCARD = Verb(
    name="discard",
    doing="Discarding",
    help="Remove jobs from the dead letters.",
    warning="They leave the dead letters for good, and stay as cancelled jobs.",
    possible="Only dead jobs can be discarded.",
    statuses=frozenset({Status.DEAD}),
    apply=_discard,
    outcomes={
        "discarded": Outcome("is discarded", "Discarded {}."),
        "let on": Outcome(
            "is discarded, and its sequence goes on", "Discarded {} that stopped a sequence: it goes on."
        ),
        SKIPPED: Outcome("was skipped", "Skipped {}: not dead.", applied=False),
    },
    asks=True,
)
