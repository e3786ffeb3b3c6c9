"""Say in a few words what holds the jobs of a tenant, with the queue that it is about."""

from collections.abc import Mapping
from dataclasses import dataclass

from jobs.allocation.gates import Gate
from jobs.reading.looking import Queue
from jobs.reading.standing import StandingState, TenantStanding

WORDS = {
    Gate.LANE_HELD: "held in {queue}",
    Gate.LANE_FULL: "slots in {queue}",
    Gate.QUEUE_PAUSED: "paused: {queue}",
    Gate.QUEUE_HELD: "held: {queue}",
    Gate.QUEUE_FULL: "limit of {queue}",
    Gate.QUEUE_RATE: "rate of {queue}",
    Gate.TENANT_RATE: "its rate",
    Gate.NO_WORKER: "no worker",
    Gate.POOL_FULL: "no process",
    Gate.USER_FULL: "slots of a user",
    Gate.NEXT: "its turn",
}
NAMED = (StandingState.WAITING, StandingState.LIMITED)  # states that do not say what the jobs wait for
MAX_NAMED = 2  # reasons of a tenant


@dataclass(frozen=True)
class WaitsFor:
    """A reason why jobs of a tenant wait.

    queue: the one that it names; None: none
    """

    words: str
    queue: Queue | None

    @property
    def is_paused(self) -> bool:
        """Return whether the queue is paused, so that one button opens it."""
        return self.queue is not None and self.queue.paused


def waits_for(standing: TenantStanding, queues: Mapping[int, Queue]) -> list[WaitsFor]:
    """Return the reasons with the most jobs; in a state that says it already, only paused queues.

    queues: those of the look that the standing is from
    """
    found: dict[str, WaitsFor] = {}
    for cut in sorted(standing.cuts, key=lambda cut: -cut.jobs):
        if cut.gate in WORDS and (standing.state in NAMED or cut.gate is Gate.QUEUE_PAUSED):
            words = WORDS[cut.gate].format(queue=queues[cut.queue_id].name)
            found[words] = WaitsFor(words, queues[cut.queue_id] if "{queue}" in WORDS[cut.gate] else None)
    return [*found.values()][:MAX_NAMED]
