"""The gates in a few words, for many jobs at once; `explain` has a sentence for one job."""

from jobs.allocation.gates import Gate

GATES = {
    Gate.TENANT_PAUSED: "their tenant is paused",
    Gate.NO_SLOTS: "their tenant has no slots",
    Gate.SLOTS_FULL: "slots of their own tenant",
    Gate.QUEUE_PAUSED: "their queue is paused",
    Gate.QUEUE_FULL: "the queue's concurrency limit",
    Gate.QUEUE_RATE: "the queue's rate limit",
    Gate.TENANT_RATE: "the tenant's rate limit",
    Gate.NO_WORKER: "a live worker of their pool",
    Gate.POOL_FULL: "a free process of their pool",
    Gate.NEXT: "nothing: the next dispatch takes them",
}
