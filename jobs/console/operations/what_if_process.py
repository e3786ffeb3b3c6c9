"""Answer a what-if in a process of its own, bounded in memory and time: a replay must not occupy a web process.

`start` starts the process, and the process runs `main`. It goes on if the web process ends.
"""

import os
import resource
import signal
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from enum import StrEnum

SECONDS = 120  # for which an answer may take
MEMORY = 1 << 30  # bytes
NICE = 10
MODULE = "jobs.console.operations.what_if_process"


class State(StrEnum):
    """The state of a what-if.

    LOST: its process ended without an answer, since it took too long or too much memory
    """

    REPLAYING = "replaying"
    ANSWERED = "answered"
    REFUSED = "refused"
    LOST = "lost"


def state_of(asked_at: datetime, ended_at: datetime | None, refused: str, now: datetime) -> State:
    if ended_at is not None:
        return State.REFUSED if refused else State.ANSWERED
    return State.REPLAYING if now - asked_at < timedelta(seconds=2 * SECONDS) else State.LOST


def start(pk: int) -> None:
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, str(pk)],
        env=os.environ | paths,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    threading.Thread(target=process.wait, name="what-if", daemon=True).start()  # without it a zombie would stay


def answer(pk: int) -> None:
    """Answer the stored question in this process, and store the answer."""
    from jobs import store  # not before the settings are known
    from jobs.calls.refusals import InvalidRequest
    from jobs.console.operations import what_if
    from jobs.models import WhatIf
    from jobs.reading import replay

    row = WhatIf.objects.get(pk=pk)
    try:
        asked = row.question
        question = what_if.Question.of(asked["since"], asked["until"], asked["changes"], now=store.database_now())
        if not replay.begin_alone():
            raise InvalidRequest("what-if", "another one is being replayed; ask again in a minute")
        row.answer = what_if.stored(what_if.told(question))
    except InvalidRequest as refused:
        row.refused = str(refused)[:500]
    except MemoryError:
        row.refused = "the replay takes too much memory; ask for a shorter time"
    row.ended_at = store.database_now()
    row.save(update_fields=["answer", "refused", "ended_at"])


def main(pk: int) -> None:
    """Answer the question with bounded time and memory, and at a low priority."""
    signal.alarm(SECONDS)
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    import django

    django.setup()
    answer(pk)


if __name__ == "__main__":
    main(int(sys.argv[1]))
