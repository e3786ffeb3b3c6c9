"""Put a job's state into words for its tenant, without any facts about other tenants, machines or operators."""

from jobs.allocation.gates import Gate
from jobs.lifecycle import Status
from jobs.models import EXPIRED, JobRow
from jobs.reading.explain.explanation import Explanation
from jobs.reading.status_words import PAUSED as PAUSED_TYPE
from jobs.reading.status_words import WORDS
from plumbing.text import count_of_jobs

ENDS = {
    Status.SUCCESS: "It is done.",
    Status.ERROR: "It failed.",
    Status.DEAD: "It failed, and will not be tried again.",
    Status.CANCELLED: "It was cancelled.",
}
PAUSED = "Jobs of this kind are paused for now."
FIRST = "Nothing holds it up: it starts next."
BEHIND = "Nothing holds it up: the jobs before it in line go first."
TOO_LATE = "It was cancelled: it had not started in time."
REPLACED = "It was cancelled, {reason}."
GOES_ON = "It goes on from where it stopped."
BUSY = "Every worker is busy."
SCHEDULES = {
    "on": "On",
    "late": "Late",
    "paused": "Paused",
    "paused itself": "Paused",
    "undeclared": "Off",
    "ended": "Ended",
}
REASONS = {  # by gate; `reason` has the sentences of the other gates
    Gate.HELD: PAUSED,
    Gate.BUDGET: "{sentence}",  # of its tenant alone
    Gate.TENANT_PAUSED: "Your jobs are paused for now.",
    Gate.NO_SLOTS: "You have no slots, so no job can start.",
    Gate.SLOTS_FULL: "All of your slots are in use ({used} of {limit}).",
    Gate.LANE_HELD: "{sentence}",
    Gate.LANE_FULL: "Your slots in its queue are in use ({used} of {limit}).",
    Gate.QUEUE_PAUSED: "Its queue is paused for now.",
    Gate.QUEUE_HELD: "{sentence}",  # it names no job of another tenant
    Gate.QUEUE_FULL: "Its queue runs as many jobs as it may at once.",
    Gate.QUEUE_RATE: "Its queue has reached its rate limit: it starts a little later.",
    Gate.TENANT_RATE: "Your jobs have reached their rate limit: it starts a little later.",
    Gate.USER_FULL: "Its user has reached the limit of jobs at once ({used} of {limit}).",
    Gate.NO_WORKER: "No worker is ready for it yet.",
    Gate.POOL_FULL: BUSY,
    Gate.SEQUENCE: "{sentence}",  # it names only jobs of its tenant
    Gate.EVENT: "{sentence}",
    Gate.SCHEDULED: "It waits for its time.",
    Gate.QUEUED: "A worker is about to start it.",
    Gate.RUNNING: "It is running.",
}

FOR_ALL = {  # of many jobs that wait for the same, where the words differ
    Gate.TENANT_PAUSED: "Your jobs are paused for now. Ask your operator.",
    Gate.NO_SLOTS: "You have no slots, so no job can start. Ask your operator.",
    Gate.LANE_FULL: "Your slots in their queue are in use ({used} of {limit}).",
    Gate.QUEUE_PAUSED: "Their queue is paused for now. Ask your operator.",
    Gate.QUEUE_FULL: "Their queue runs as many jobs as it may at once.",
    Gate.QUEUE_RATE: "Their queue has reached its rate limit: they start a little later.",
    Gate.TENANT_RATE: "Your jobs have reached their rate limit: they start a little later.",
    Gate.NO_WORKER: "No worker is ready for them yet.",
}


def for_all(why: Explanation) -> str:
    """Return what many jobs wait for, of which this is the first, in a sentence."""
    words = FOR_ALL.get(why.gate, REASONS[why.gate])
    return words.format(used=why.used, limit=why.limit, sentence=why.sentence)


def reason(why: Explanation) -> str:
    """Return what the job waits for, or does, or how it ended, in a sentence."""
    return f"{_reason(why)} {GOES_ON}" if why.goes_on else _reason(why)


def _reason(why: Explanation) -> str:
    match why.gate:
        case Gate.BLOCKED:
            return "It waits for another job." if why.used == 1 else f"It waits for {count_of_jobs(why.used or 0)}."
        case Gate.NEXT:
            return FIRST if why.place == 1 else BEHIND
        case Gate.ENDED if why.reason is not None:
            return TOO_LATE if why.reason == EXPIRED else REPLACED.format(reason=why.reason)
        case Gate.ENDED:
            return f"{ENDS[why.status]} {why.stops}".rstrip()
        case Gate.SCHEDULED if why.used is not None:  # a retry
            return f"It failed, and will be tried again (retry {why.used}{_of_limit(why.limit)})."
        case gate:
            return REASONS[gate].format(used=why.used, limit=why.limit, sentence=why.sentence)


def _of_limit(limit: int | None) -> str:
    return "" if limit is None else f" of {limit}"


def word(job: JobRow) -> str:
    """Return the status in one word."""
    return PAUSED_TYPE[0] if job.is_held else WORDS[Status(job.status)]
