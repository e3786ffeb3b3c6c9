"""Django signals of the scheduler."""

from django.dispatch import Signal

# A job has died: its retries are used up, its policy said stop, or it crashed too often. The process that buried it
# sends this once, after the commit; receivers get `job_id` and `attempt`. A receiver's exception is only logged.
job_died = Signal()
