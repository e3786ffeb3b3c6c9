"""What people call the states of a job, beside the names that the API and the operators' pages have for them."""

from jobs.lifecycle import Status

_STATES = [  # word, API's name, meaning
    ("Blocked", Status.BLOCKED.value, "it waits for other jobs"),
    ("Scheduled", Status.SCHEDULED.value, "for a later time, or for its next try"),
    ("Waiting", Status.CREATED.value, "in line for a slot"),
    ("Starting", Status.QUEUED.value, "it has a slot, and a worker is about to start it"),
    ("Running", Status.RUNNING.value, "a worker runs it"),
    ("Done", Status.SUCCESS.value, "it ended well"),
    ("Failed", Status.ERROR.value, "it failed, and had no retries"),
    ("Given up", Status.DEAD.value, "its tries are used up"),
    ("Cancelled", Status.CANCELLED.value, "somebody stopped it, or it had not started in time"),
]
PAUSED = ("Paused", "held", "its kind of job is paused")
TABLE = [*_STATES, PAUSED]
WORDS = {Status(name): word for word, name, _ in _STATES}
