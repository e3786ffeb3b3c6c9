"""What people call the states of a job, beside the names that the API and the operators' pages have for them."""

from jobs.lifecycle import Status

WORDS = {
    Status.BLOCKED: "Blocked",
    Status.SCHEDULED: "Scheduled",
    Status.CREATED: "Waiting",
    Status.QUEUED: "Starting",
    Status.RUNNING: "Running",
    Status.SUCCESS: "Done",
    Status.ERROR: "Failed",
    Status.DEAD: "Given up",
    Status.CANCELLED: "Cancelled",
}
MEANINGS = {
    Status.BLOCKED: "it waits for other jobs",
    Status.SCHEDULED: "for a later time, or for its next try",
    Status.CREATED: "in line for a slot",
    Status.QUEUED: "it has a slot, and a worker is about to start it",
    Status.RUNNING: "a worker runs it",
    Status.SUCCESS: "it ended well",
    Status.ERROR: "it failed, and had no retries",
    Status.DEAD: "its tries are used up",
    Status.CANCELLED: "somebody stopped it, or it had not started in its time",
}
PAUSED = ("Paused", "held", "its kind of job is paused")
TABLE = [(WORDS[status], status.value, MEANINGS[status]) for status in Status] + [PAUSED]  # word, API's name, meaning
