"""The words of the operators' pages that have an explanation as a tooltip."""

from jobs.reading.standing import StandingState

TERMS = {
    "slot": "one job at a time: a tenant has so many, and a job holds one from when it is chosen until it ends",
    "lane": "the jobs of one tenant in one queue, in the order in which they start",
    "place": "where a job stands in its lane; 1 starts next",
    "pool": "the workers that serve some queues",
    "demand": "processes that would be busy if there were enough: what runs, and what could run at once",
    "share": "what a tenant could have got: the processes, shared by weight between those that had work",
    "first in line": "how long the first job of the longest waiting lane has been ready",
    "weight": "who has twice the weight gets twice the time of the workers when they are short",
    "full": "all slots in use while more jobs waited for one; more slots would help",
    "wait for": "the first thing that stops a job now; what stops it after that is on its page",
    "p50": "half of them took no longer",
    "p95": "95 of 100 took no longer",
}
TENANT_STATES = {
    StandingState.PAUSED: "an operator paused it",
    StandingState.NO_SLOTS: "it has 0 slots, so none of its jobs can start",
    StandingState.STARVED: "it only lacks processes, and gets too little of its share",
    StandingState.FULL: "it holds all its slots, and more jobs wait",
    StandingState.LIMITED: "its rate limit, its slots in a queue or one of its jobs holds its jobs back",
    StandingState.WAITING: "its jobs wait for a queue or for a process",
    StandingState.BUSY: "it holds slots, and nothing waits",
    StandingState.IDLE: "nothing runs, and nothing waits",
}
