"""The words of people for the states of a job, beside their names in the API and on the operators' pages."""

from jobs.lifecycle import Status

_STATES = [  # word, API's name, meaning
    ("Blocked", Status.BLOCKED.value, "it waits for other jobs, for its turn in a sequence, or for an event"),
    ("Scheduled", Status.SCHEDULED.value, "for a later time, or for its next try"),
    ("Waiting", Status.CREATED.value, "in line for a slot"),
    ("Starting", Status.QUEUED.value, "it has a slot, and a worker is about to start it"),
    ("Running", Status.RUNNING.value, "a worker runs it"),
    ("Done", Status.SUCCESS.value, "it succeeded"),
    ("Failed", Status.ERROR.value, "it failed, and had no retries"),
    ("Given up", Status.DEAD.value, "its tries are used up"),
    ("Cancelled", Status.CANCELLED.value, "it was stopped, or it did not start in time"),
]
PAUSED = ("Paused", "held", "its kind of job is paused, or a budget is used up")
TABLE = [*_STATES, PAUSED]
WORDS = {Status(name): word for word, name, _ in _STATES}
