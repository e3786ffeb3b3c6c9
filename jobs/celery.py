"""Configure a project's Celery app for jobs: `configure(app)`, after the app's own configuration.

Nothing is read before Celery reads the app's settings, so the call is safe in a module that Django's settings import.
"""

from collections.abc import Sequence
from typing import Any

from celery import Celery, signals

from jobs.celery_app import carry_jobs_by
from jobs.checks import refuse_unsafe_start

# The guarantees need these, whatever the project's settings say. What a message needs, its task says: tasks.py.
NEEDED = {
    "worker_prefetch_multiplier": 1,
    "worker_enable_prefetch_count_reduction": False,  # it would miscount after a lost connection
    "CELERY_DB_REUSE_MAX": 1_000_000,  # else Celery's Django fix-up closes the connection before and after every job
}
# Each of these yields to the project's own.
DEFAULTS = {
    "worker_send_task_events": False,
    "broker_connection_retry_on_startup": True,
    "broker_connection_timeout": 2.0,  # seconds; whoever submits waits for it
}
REDIS = {"socket_keepalive": True, "socket_timeout": 30, "socket_connect_timeout": 2, "health_check_interval": 25}
ADDITIONS = (
    "tasks",
    "worker",  # the additions to a worker's parent process
    "processes.child",  # the preparation of its children
    "processes.fork",  # and the memory that they share
)


def configure(app: Celery, checks: Sequence[str] = ()) -> None:
    """Let the app carry jobs, and all its workers run jobs and nothing else: tasks need workers of another app.

    checks: tags of the project's system checks with whose errors its workers refuse to start, besides those of jobs.
    """
    carry_jobs_by(app)
    app.add_defaults(lambda: _needed(app))
    for name in ADDITIONS:
        app.autodiscover_tasks(["jobs"], related_name=name)

    def check(instance: Any, **_: Any) -> None:
        if instance.app is app:  # a project's other apps need nothing of this
            refuse_unsafe_start(*checks)

    signals.celeryd_init.connect(check, weak=False)  # sent by workers only, once Django's apps are loaded


def is_redis(broker_url: str | Sequence[str] | None) -> bool:
    """Whether the broker is Redis or Valkey, perhaps behind sentinels. The first of several addresses decides."""
    first = broker_url if isinstance(broker_url, str) else next(iter(broker_url or ()), "")
    return first.startswith(("redis", "sentinel"))  # also rediss


def _needed(app: Celery) -> dict[str, Any]:
    """Called by Celery when it has read the app's settings; what is returned goes before them."""
    conf: Any = app.conf
    conf.defaults[-1].update(DEFAULTS)
    needed: dict[str, Any] = dict(NEEDED)
    if is_redis(conf.broker_url):
        needed["worker_disable_prefetch"] = True  # no message waits at a busy worker; RabbitMQ: processes/prefetch.py
        needed["broker_transport_options"] = {**REDIS, **(conf.broker_transport_options or {})}
    else:  # RabbitMQ closes the channel if a message waits at a worker for its consumer_timeout; else the worker ends
        needed["broker_channel_error_retry"] = True
    # Celery looks for the name with the prefix first, in all places.
    prefix = getattr(app, "namespace", None)
    return needed | ({f"{prefix}_{name.upper()}": value for name, value in needed.items()} if prefix else {})
