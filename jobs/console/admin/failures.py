"""The failed attempts of a job, for people."""

from collections.abc import Iterable

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from jobs.console.admin.timeline import timeline
from jobs.models import AnyFailedAttempt

WRAPPED = "white-space: pre-wrap; overflow-wrap: anywhere"


def failures(attempts: Iterable[AnyFailedAttempt]) -> SafeString | str:
    """A block for each attempt: its error, its times, and the traceback."""
    return (
        format_html_join(
            "",
            '<div class="mb-4"><strong>Attempt {}: {}</strong>'
            f'<div style="{WRAPPED}">{{}}</div>{{}}'
            f'<pre class="text-xs" style="{WRAPPED}">{{}}</pre></div>',
            (
                (
                    failed.attempt,
                    failed.error_class,
                    failed.error,
                    timeline(queued=failed.queued_at, started=failed.start_time, ended=failed.end_time),
                    failed.traceback or "no traceback",
                )
                for failed in attempts
            ),
        )
        or "none"
    )
