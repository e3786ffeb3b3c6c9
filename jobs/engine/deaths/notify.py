"""Notify: tell people which jobs died, in one message for all."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection, transaction
from django.utils.module_loading import import_string

from jobs import telemetry
from jobs.conf import settings
from jobs.engine.process.user_code import in_a_thread
from jobs.models import DeathNotice
from jobs.store.rows import objects

NOTIFIER_SECONDS = 60.0  # for each notifier
SETTLED = 5.0  # seconds after which a death is certainly committed
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Deaths:
    """Jobs of one tenant and job type that died of the same class of error.

    tenant: its slug.
    job_type: "app.model.method".
    count: the number of these jobs.
    sample: the id of the newest job.
    last_error: the error of the newest job.
    last_at: when the last of them died.
    """

    tenant: str
    job_type: str
    error_class: str
    count: int
    sample: int
    last_error: str
    last_at: datetime


@contextmanager
def unannounced(notifier: str) -> Iterator[list[Deaths]]:
    """Yield the deaths that this notifier does not know, the largest group first.

    notifier: its dotted path, the key of its row.
    The deaths count as announced when the block ends without an error, so each is announced at least once. The list is
    empty also while another process is in such a block. Each notifier has its own row, so the failure of one does not
    make the others repeat themselves.
    """
    DeathNotice.objects.get_or_create(notifier=notifier, defaults={"upto": BEGINNING})
    with transaction.atomic():
        notice = DeathNotice.objects.select_for_update(skip_locked=True).filter(notifier=notifier).first()
        if notice is None:
            yield []
            return
        deaths = objects(Deaths, "deaths", since=notice.upto, settled=SETTLED)
        yield deaths
        if deaths:
            notice.upto = max(group.last_at for group in deaths)
            notice.save(update_fields=["upto"])


def notify() -> None:
    """Give each notifier of JOBS_DEATH_NOTIFIERS the deaths that it does not know yet.

    If a notifier raises, its error is logged, and it alone gets the same deaths again next time.
    """
    for name in settings.JOBS_DEATH_NOTIFIERS:
        try:
            with unannounced(name) as deaths:
                if deaths:
                    _tell(name, deaths)
        except BaseException as error:  # one may even exit; log only the class: the text may contain an address
            telemetry.noticed("deaths not announced", notifier=name, error=type(error).__name__)


def _tell(notifier: str, deaths: list[Deaths]) -> None:
    """Call the notifier in a thread of its own, for at most NOTIFIER_SECONDS.

    A notifier that hangs longer keeps no transaction open, and is not called again before its thread has ended.
    """
    thread = f"notifier {notifier}"
    if any(running.name == thread for running in threading.enumerate()):
        raise TimeoutError
    answer = in_a_thread(lambda: import_string(notifier)(deaths), NOTIFIER_SECONDS, thread)
    if answer.error:
        raise answer.error


def notify_in_background() -> None:
    """Run `notify` in a thread of its own: the clock must promote while a mail server is slow."""
    threading.Thread(target=_notify_and_close, name="notify", daemon=True).start()


def _notify_and_close() -> None:
    try:
        notify()
    finally:
        connection.close()
