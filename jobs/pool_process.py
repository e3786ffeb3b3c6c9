"""What a process of a worker's pool does before its first job: it takes its place."""

import os
import signal
from typing import Any

from billiard.process import current_process
from billiard.util import set_pdeathsig  # type: ignore[attr-defined]  # not in its stubs
from celery import signals
from django.db import DEFAULT_DB_ALIAS, connections

from jobs import store, tasks
from jobs.desk import desk
from jobs.engine.place import Place
from jobs.time_limit import Timer

_pool: list[str] = []  # the one that this worker serves; noted in the parent


@signals.celeryd_after_setup.connect
def note_pool(instance: Any, **_: Any) -> None:
    """The children know it from their parent."""
    _pool[:] = instance.app.amqp.queues.consume_from


@signals.worker_process_init.connect
def take_place(**_: Any) -> None:
    """Its number at the desk, its process group, its sessions."""
    # It must not outlive its parent: nobody would know of the job it goes on running (Linux).
    set_pdeathsig(signal.SIGKILL)
    os.setpgid(0, 0)  # what a body starts ends with it
    desk.sit_down(current_process().index)  # type: ignore[attr-defined]  # the pool sets it
    _name_sessions(f"jobs:{tasks.WORKER_ID.hex}:{os.getpid()}")
    tasks.take_place(
        Place(
            tasks.WORKER_ID,
            next(iter(_pool), None),
            limit=Timer(),
            speaking=store.OwnSession().speaking,
            draining=lambda: desk.drains,
        )
    )


def _name_sessions(name: str) -> None:
    """By this name they are ended when the process is dead, or its worker was declared gone; and PostgreSQL looks
    whether somebody is still there while a statement runs."""
    options = connections.settings[DEFAULT_DB_ALIAS]["OPTIONS"]
    options["application_name"] = name
    options["options"] = f"{options.get('options', '')} -c client_connection_check_interval=5s"
