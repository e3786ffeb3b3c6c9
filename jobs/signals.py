"""Django signals of the scheduler."""

from django.dispatch import Signal

# A job has died: its retries are used up, its policy said stop, or it crashed too often. Sent once, after the commit,
# by the process that buried it; receivers get `job_id` and `attempt`. One that raises is logged and harms nobody.
job_died = Signal()
