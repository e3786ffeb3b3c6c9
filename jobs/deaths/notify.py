"""Notify: tell people which jobs died, however many in one message."""

import threading
from datetime import datetime

from django.conf import settings
from django.db import connection
from django.utils.module_loading import import_string

from jobs import telemetry
from jobs.deaths.unannounced import unannounced


def notify(now: datetime | None = None) -> None:
    """Hand each notifier of JOBS_DEATH_NOTIFIERS the deaths that it has not been told of yet.

    One that raises is logged, and told again the next time; the others are not. `now` is the clock of a test.
    """
    for name in settings.JOBS_DEATH_NOTIFIERS:
        try:
            with unannounced(name, now) as deaths:
                if deaths:
                    import_string(name)(deaths)
        except Exception as error:  # whatever a notifier raises; only its class, since a text may hold an address
            telemetry.noticed("deaths not announced", notifier=name, error=type(error).__name__)


def notify_in_background() -> None:
    """`notify` in a thread of its own: while a mail server thinks, the clock has to promote."""
    threading.Thread(target=_notify_and_close, name="notify", daemon=True).start()


def _notify_and_close() -> None:
    try:
        notify()
    finally:
        connection.close()
