"""The moments of a job, to the millisecond, each with the seconds since the previous one."""

from datetime import datetime

from django.utils.html import format_html_join
from django.utils.safestring import SafeString


def timeline(**moments: datetime | None) -> SafeString:
    """Make one line for each moment that is not None, in the given order."""
    lines, before = [], None
    for name, moment in moments.items():
        if moment is None:
            continue
        since = "" if before is None else f"{(moment - before).total_seconds():+.3f} s"
        lines.append((name.replace("_", " "), f"{moment:%Y-%m-%d %H:%M:%S.%f}"[:-3], since))
        before = moment
    return format_html_join("", "<div>{} {} {}</div>", lines)
