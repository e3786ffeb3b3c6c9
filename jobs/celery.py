"""Configure a project's Celery app for jobs: `configure(app)`, after the app's own configuration.

Nothing is read before Celery reads the app's settings, so the call is safe in a module that Django's settings import.
"""

from collections.abc import Sequence
from typing import Any

from celery import Celery, current_app
from kombu.transport import TRANSPORT_ALIASES

# The guarantees need these, whatever the project's settings say. worker/message.py has the options of a message.
NEEDED = {
    "worker_prefetch_multiplier": 1,
    # Our messages are JSON. A worker that accepts pickle would run any code that an attacker writes into the broker.
    **{"accept_content": ["json"], "task_serializer": "json", "result_serializer": "json"},
    # A job has its own time limit, which also records its end; and its message waits for no rate limit of tasks.
    **{"task_time_limit": None, "task_soft_time_limit": None, "task_annotations": None},
    "worker_disable_rate_limits": True,
    "task_create_missing_queues": True,  # of the pools
    # A refusal of the broker that passes must not end the worker. Redis refuses while it is a replica, or may not run a
    # command; RabbitMQ closes a channel on which a message waited at a worker for its consumer_timeout.
    "broker_channel_error_retry": True,
    "worker_enable_prefetch_count_reduction": False,  # it would miscount after a lost connection
    "worker_direct": False,  # a second queue for each worker, which serves one pool
    "CELERY_DB_REUSE_MAX": 1_000_000,  # else Celery's Django fix-up closes the connection before and after every job
}
# The project's own settings go before these.
DEFAULTS = {
    "worker_send_task_events": False,
    "worker_hijack_root_logger": False,  # else a worker would take off the handlers of the project's LOGGING
    "broker_connection_retry_on_startup": True,
    "broker_connection_timeout": 2.0,  # seconds; a submit waits for it
}
REDIS = {
    **{"socket_keepalive": True, "socket_timeout": 30, "socket_connect_timeout": 2, "health_check_interval": 25},
    # A worker keeps no copy in Redis of what it has taken: two trips a message, one of them before its job starts.
    # A message that is lost with its worker is sent again after ten seconds; that copy would return after an hour.
    "ack_emulation": False,
}
ADDITIONS = (
    "worker.message",
    "worker.bootstrap",  # the additions to a worker's parent process
    "worker.forked",  # the preparation of its processes
)

# "postgresql://": the project's own database carries the messages.
TRANSPORT_ALIASES["postgresql"] = "jobs.worker.postgresql:Transport"

_app: Celery | None = None  # None: Celery's current one
_checks: tuple[str, ...] = ()


def configure(app: Celery, checks: Sequence[str] = ()) -> None:
    """Let the app carry jobs, and all its workers run jobs and nothing else: tasks need workers of another app.

    checks: tags of the project's system checks with whose errors its workers refuse to start, besides those of jobs.
    """
    global _app, _checks
    _app, _checks = app, tuple(checks)
    app.add_defaults(lambda: _needed(app))
    for name in ADDITIONS:
        app.autodiscover_tasks(["jobs"], related_name=name)


def celery_app() -> Celery:
    """Return the app that carries jobs; Celery's current one if none is configured, which `jobs.E005` refuses."""
    return current_app if _app is None else _app


def is_configured() -> bool:
    return _app is not None


def checks_of_workers() -> tuple[str, ...]:
    """Return the tags of the project's checks with whose errors its workers refuse to start."""
    return _checks


def is_redis(broker_url: str | Sequence[str] | None) -> bool:
    """Return whether the broker is Redis or Valkey, or sentinels of it. The first of several addresses decides."""
    first = broker_url if isinstance(broker_url, str) else next(iter(broker_url or ()), "")
    return first.startswith(("redis", "sentinel"))  # also rediss


def _needed(app: Celery) -> dict[str, Any]:
    """Return the settings that go before the app's own. Celery calls this when it has read those."""
    conf: Any = app.conf
    conf.defaults[-1].update(DEFAULTS)
    needed: dict[str, Any] = dict(NEEDED)
    if is_redis(conf.broker_url):
        needed["broker_transport_options"] = {**REDIS, **(conf.broker_transport_options or {})}
    # Celery looks for the name with the prefix first, in all places.
    prefix = getattr(app, "namespace", None)
    return needed | ({f"{prefix}_{name.upper()}": value for name, value in needed.items()} if prefix else {})
