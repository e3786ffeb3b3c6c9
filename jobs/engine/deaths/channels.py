"""The notifiers: functions that JOBS_DEATH_NOTIFIERS names by dotted path. They tell people that jobs died.

Each takes a sequence of Deaths, the largest group first. If it raises, or takes longer than a minute, it gets the same
deaths again at the next interval.
Messages name tenants, job types, ids and errors, never arguments or results.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from django.core.mail import mail_admins

from jobs.conf import documented, settings
from jobs.engine.deaths.notify import Deaths
from plumbing.text import count_of_jobs, in_chat, in_one_line

WEBHOOK_TIMEOUT = 10.0  # seconds
GROUPS_SHOWN = 50
ERROR_SHOWN = 300  # characters


def mail(deaths: Sequence[Deaths]) -> None:
    """Send one mail to ADMINS, if there are any. Raises the errors of the mail backend."""
    mail_admins(headline(deaths), text(deaths))


def webhook(deaths: Sequence[Deaths]) -> None:
    """POST JSON to JOBS_DEATH_WEBHOOK, if it is set. Raises OSError unless the answer is 2xx.

    Chat services show `text`; programs read `deaths`.
    """
    if not settings.JOBS_DEATH_WEBHOOK:
        return
    body = {
        "text": in_chat(text(deaths)),
        "count": _total(deaths),
        "deaths": [_as_json(g) for g in deaths[:GROUPS_SHOWN]],
        "runbook": documented("runbooks/deaths"),
    }
    request = urllib.request.Request(  # noqa: S310 - an operator's URL; jobs/checks/ allows only http(s)
        settings.JOBS_DEATH_WEBHOOK, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        urllib.request.build_opener(_NoRedirect).open(request, timeout=WEBHOOK_TIMEOUT).close()
    except urllib.error.HTTPError as refused:
        refused.close()  # it has the connection
        raise


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects: a redirected POST becomes a GET without a body, and would look delivered."""

    def redirect_request(self, *_: Any) -> None:
        return None


def headline(deaths: Sequence[Deaths]) -> str:
    """Return the number of deaths in one line."""
    return f"{count_of_jobs(_total(deaths))} died"


def text(deaths: Sequence[Deaths]) -> str:
    """Return the text of a message, with two lines for each group.

    Line breaks in a tenant's text are removed: a further line could look like the group of another tenant.
    """
    lines = [f"{headline(deaths)}:", ""]
    for group in deaths[:GROUPS_SHOWN]:
        lines += [
            f"{group.count:,} x {group.job_type} of {group.tenant}: {group.error_class}",
            f"    for example job {group.sample}: {group.last_error[:ERROR_SHOWN]}",
        ]
    if rest := deaths[GROUPS_SHOWN:]:
        lines.append(f"and {_total(rest):,} in {len(rest):,} more groups")
    what = f"Revive or discard them in the dead-letter queue: {documented('runbooks/deaths')}"
    return "\n".join(map(in_one_line, [*lines, "", what]))


def _total(deaths: Sequence[Deaths]) -> int:
    return sum(group.count for group in deaths)


def _as_json(group: Deaths) -> dict[str, Any]:
    return {
        "tenant": group.tenant,
        "job_type": group.job_type,
        "error_class": group.error_class,
        "count": group.count,
        "sample_job": group.sample,
        "last_error": group.last_error[:ERROR_SHOWN],
        "last_at": group.last_at.isoformat(),
    }
