"""Start the process that answers a what-if (`what_if_answer.py`): a replay must not occupy a web process.

It goes on if the web process ends.
"""

import os
import subprocess
import sys
import threading
from datetime import datetime, timedelta
from enum import StrEnum

SECONDS = 120  # for which an answer may take
MODULE = "jobs.insight.what_if_answer"


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
