"""Watch a project's Celery tasks: write down when each was sent, started and ended, and whose it was.

To be copied into that project, so it imports nothing of this one. Nothing changes for the tasks: a message gets two
headers, and a worker writes one line for each task that ended.
"""

import json
import os
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from celery import signals

SENT_AT, TENANT = "jobs_sent_at", "jobs_tenant"  # headers

TenantName = Callable[[str, Any, Any], object]  # of the task's name, its args and its kwargs


def record(path: str, tenant: TenantName) -> None:
    """Record the tasks of this process in that file, which several may share. Call it where the Celery app is made.

    tenant: called in the process that sends a task; returns the name of its tenant. If it raises, nothing fails, and
    the tenant is recorded as "unknown".
    """
    begun: dict[str, float] = {}

    def note_sent(sender: str = "", headers: dict[str, Any] | None = None, body: Any = None, **_: Any) -> None:
        if headers is not None and "task" in headers:
            args, kwargs, *_rest = body
            headers[SENT_AT] = _ready_at(headers.get("eta"))  # also of a retry, which has the headers of the first try
            headers[TENANT] = _name(tenant, sender, args, kwargs)

    def note_begin(task_id: str = "", **_: Any) -> None:
        begun[task_id] = time.time()

    def note_end(task_id: str = "", task: Any = None, **_: Any) -> None:
        started, sent = begun.pop(task_id, None), getattr(task.request, SENT_AT, None)
        if started is None or sent is None:  # it was sent by a process that does not record, or called plainly
            return
        line = {
            "task": task.name,
            "tenant": getattr(task.request, TENANT, "unknown"),
            "queue": (task.request.delivery_info or {}).get("routing_key", ""),
            "ready": sent,
            "started": started,
            "ended": time.time(),
        }
        _append(path, f"{json.dumps(line)}\n")

    signals.before_task_publish.connect(note_sent, weak=False)
    signals.task_prerun.connect(note_begin, weak=False)
    signals.task_postrun.connect(note_end, weak=False)


def _ready_at(eta: str | None) -> float:
    """The moment from which a task waits: now, or when it may start."""
    return max(time.time(), datetime.fromisoformat(eta).timestamp()) if eta else time.time()


def _name(tenant: TenantName, task: str, args: Any, kwargs: Any) -> str:
    try:
        return str(tenant(task, args, kwargs))
    except Exception:  # watching must not fail what is watched
        return "unknown"


def _append(path: str, line: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode())  # one write: whole, whoever else writes
    finally:
        os.close(file)
