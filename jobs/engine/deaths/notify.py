"""Notify: tell people which jobs died, in one message for all."""

import threading
from datetime import datetime

from django.db import connection
from django.utils.module_loading import import_string

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.deaths.unannounced import unannounced


def notify(now: datetime | None = None) -> None:
    """Give each notifier of JOBS_DEATH_NOTIFIERS the deaths that it does not know yet.

    If one raises, the error is logged, and only it gets them again next time. `now` is the clock of a test.
    """
    for name in settings.JOBS_DEATH_NOTIFIERS:
        try:
            with unannounced(name, now) as deaths:
                if deaths:
                    import_string(name)(deaths)
        except Exception as error:  # log only the class: the text may contain an address
            telemetry.noticed("deaths not announced", notifier=name, error=type(error).__name__)


def notify_in_background() -> None:
    """Run `notify` in a thread of its own: the clock must promote while a mail server is slow."""
    threading.Thread(target=_notify_and_close, name="notify", daemon=True).start()


def _notify_and_close() -> None:
    try:
        notify()
    finally:
        connection.close()
