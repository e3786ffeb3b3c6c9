"""Read which bodies of light pools blocked the event loop of their process, while all other seats of it stood still."""

from dataclasses import dataclass
from uuid import UUID

from jobs.store.rows import objects
from plumbing.text import duration, printable

MAX_NOW = 20  # blocked loops that are read
MAX_COUNTED = 10_000  # blocks
MAX_OF_JOB = 5  # attempts and places


@dataclass(frozen=True)
class BlockNow:
    """An event loop that is blocked.

    job_type: "" if it is not known which job blocks it; job_id is None then.
    others: the other seats of the process that hold an attempt.
    seconds: since when, at least.
    """

    worker: UUID
    pool: str
    job_type: str
    job_id: int | None
    place: str
    others: int
    seconds: float

    @property
    def sentence(self) -> str:
        """Return what happens, and where in the code."""
        who = f"Job {self.job_id} ({self.job_type})" if self.job_id else "An unknown body"
        others = "1 other attempt stands" if self.others == 1 else f"{self.others:,} other attempts stand"
        at = f" It is at {printable(self.place)}." if self.place else ""
        return f"{who} has blocked an event loop of pool {self.pool} for {duration(self.seconds)}: {others} still.{at}"


@dataclass(frozen=True)
class BlocksOfType:
    """Blocks that are over, of a pool and a job type ("": unknown).

    seconds: of all of them together.
    job_id, place: of the last one.
    """

    pool: str
    job_type: str
    times: int
    seconds: float
    job_id: int | None
    place: str


@dataclass(frozen=True)
class BlocksOfAttempt:
    """Blocks by one line of the body of an attempt.

    seconds: of those that are over, all together; None: of none is known how long it took.
    others: the most other seats of the process that held an attempt.
    goes_on: whether the last one is not over.
    """

    attempt: int
    place: str
    times: int
    seconds: float | None
    others: int
    goes_on: bool

    @property
    def sentence(self) -> str:
        """Return what happened, up to the place."""
        seats = "other seat" if self.others == 1 else f"other {self.others:,} seats"
        often = "" if self.times == 1 else f" {self.times:,} times"
        length = "" if self.seconds is None else f" for {duration(self.seconds)}"
        in_all = " in all" if often and length else ""
        now = ", and blocks them now" if self.goes_on and often else ""
        verb = "blocks" if self.goes_on and not often else "blocked"
        return f"Attempt {self.attempt}: its body {verb} the {seats} of its process{often}{length}{in_all}{now}"


def now() -> list[BlockNow]:
    """Return the loops that are blocked now, the longest blocked ones first."""
    return objects(BlockNow, "blocks_now", most=MAX_NOW)


def lately(seconds: float) -> list[BlocksOfType]:
    """Return the blocks that began in the last seconds and are over, by pool; the types with most of them first."""
    return objects(BlocksOfType, "blocks_lately", lately=seconds, most=MAX_COUNTED)


def of_job(job_id: int) -> list[BlocksOfAttempt]:
    """Return the blocks by the body of a job, those of the last attempts first. For operators only."""
    return objects(BlocksOfAttempt, "blocks_of_job", job_id=job_id, most=MAX_OF_JOB)
