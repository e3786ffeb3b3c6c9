"""The verbs for many jobs: what each does to a job, and what is said of what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from jobs.authoring.text import count_of_jobs
from jobs.engine import cancel as cancelling
from jobs.engine import revive as reviving
from jobs.engine.cancel import Cancellation
from jobs.lifecycle import FINAL, Status
from jobs.store import EVERY_TENANT


@dataclass(frozen=True)
class Outcome:
    """said: to the operator, about a number of jobs. applied: whether the jobs were changed."""

    said: str
    applied: bool = True


@dataclass(frozen=True)
class Verb:
    """statuses: of the jobs that it can change. warning: what it will do. apply: to a job; the name of an outcome."""

    name: str
    doing: str
    warning: str
    statuses: frozenset[Status]
    apply: Callable[[int], str]
    outcomes: Mapping[str, Outcome]
    asks: bool = False  # however few the jobs

    def applied(self, outcomes: Mapping[str, int]) -> int:
        """The number of jobs that were changed."""
        return sum(count for name, count in outcomes.items() if self.outcomes[name].applied)

    def told(self, outcomes: Mapping[str, int]) -> str:
        """Sentences about these numbers of jobs."""
        return " ".join(
            outcome.said.format(count_of_jobs(outcomes[name]))
            for name, outcome in self.outcomes.items()
            if outcomes.get(name)
        )


def _done_or_skipped(verb: Callable[[int], bool], job_id: int) -> str:
    return "done" if verb(job_id) else "skipped"


CANCEL = Verb(
    name="cancel",
    doing="Cancelling",
    warning="Waiting jobs end as cancelled. Running jobs are asked to stop.",
    statuses=frozenset(Status) - FINAL,
    apply=partial(cancelling.cancel, tenant_id=EVERY_TENANT),
    outcomes={
        Cancellation.CANCELLED: Outcome("Cancelled {}."),
        Cancellation.REQUESTED: Outcome("Asked {} to stop: running until the code stops."),
        Cancellation.TOO_LATE: Outcome("Too late for {}: already ended.", applied=False),
    },
)
REVIVE = Verb(
    name="revive",
    doing="Reviving",
    warning="Each gets a new series of attempts.",
    statuses=FINAL - {Status.SUCCESS},
    apply=partial(_done_or_skipped, partial(reviving.revive, tenant_id=EVERY_TENANT)),
    outcomes={
        "done": Outcome("Revived {}."),
        "skipped": Outcome("Skipped {}: under way, ended well, or their arguments were erased.", applied=False),
    },
)
DISCARD = Verb(
    name="discard",
    doing="Discarding",
    warning="They leave the dead letters for good, and stay as cancelled jobs.",
    statuses=frozenset({Status.DEAD}),
    apply=partial(_done_or_skipped, reviving.discard),
    outcomes={"done": Outcome("Discarded {}."), "skipped": Outcome("Skipped {}: not dead.", applied=False)},
    asks=True,
)
