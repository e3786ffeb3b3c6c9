"""Every setting of the scheduler with its default. A project gives another value in its settings, by the same name."""

from typing import Any, Generic, Self, TypeVar, overload

from django.conf import settings as project

T = TypeVar("T")


class Setting(Generic[T]):
    """A setting. Read from an object, it gives the value in the project's settings, or else the default.

    A number must be greater than 0; with `zero`, it may be 0. `jobs/checks/` refuses others.
    """

    default: T

    def __init__(self, default: T, *, zero: bool = False) -> None:
        self.default = default
        self.zero = zero

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, settings: None, owner: type) -> Self: ...
    @overload
    def __get__(self, settings: object, owner: type) -> T: ...
    def __get__(self, settings: object | None, owner: type) -> Self | T:
        return self if settings is None else getattr(project, self.name, self.default)


class Settings:
    """The settings: code reads `settings.JOBS_DEDUP_WINDOW`. Times are seconds, unless a comment says otherwise."""

    # Submitting
    JOBS_DEDUP_WINDOW = Setting(600.0, zero=True)  # seconds in which an identical job is not started twice
    JOBS_MAX_WAITING = Setting(100_000)  # waiting jobs of a tenant, unless it has its own limit
    JOBS_MAX_EVENTS = Setting(10_000)  # events of a tenant that are kept, before it tells no more over HTTP
    JOBS_MAX_SCHEDULES = Setting(1000)  # schedules that a tenant may make itself
    JOBS_ARGS_MAX_BYTES = Setting(262_144)
    JOBS_STATS_MAX_BYTES = Setting(16_384)
    # Execution
    JOBS_DEFAULT_TIMEOUT = Setting(300.0)  # seconds that a job may run, unless it or its queue has a limit
    JOBS_MAX_TIMEOUT = Setting(3600.0)  # seconds, the longest that an HTTP call may request
    JOBS_MAX_RETRIES = Setting(20, zero=True)  # the most that an HTTP call may request
    JOBS_TIMEOUT_GRACE = Setting(5.0)  # seconds between the soft and the hard time limit
    JOBS_CANCEL_GRACE = Setting(10.0)  # seconds that a running job has to stop by itself, before its process is ended
    JOBS_MAX_CRASHES = Setting(3)  # crashes after which a job is dead
    JOBS_UNKNOWN_PATIENCE = Setting(900.0, zero=True)  # seconds until a job of an unknown type ends as an error
    JOBS_AROUND = Setting("")  # the path of a function of the running job; its context manager surrounds the body
    JOBS_DEFAULT_MEMORY = Setting(0, zero=True)  # MiB that a job's process may use, unless @job sets it; 0: any
    JOBS_LONGEST_HOLD = Setting(3600.0)  # seconds that a job may hold its lane or its queue; a longer time is cut
    JOBS_EVENT_TTL = Setting(86_400.0)  # seconds that an event is kept; another one of its name is refused then
    JOBS_LOG_TRACEBACKS = Setting(True, zero=True)  # whether the log has texts and tracebacks of bodies' errors
    # Workers
    JOBS_BEAT_INTERVAL = Setting(5.0)  # seconds; a worker that misses three beats is gone
    JOBS_BEAT_FILE = Setting("")  # a file that a worker touches at each beat: probes look at its age
    JOBS_HAND_OVER_TIMEOUT = Setting(10.0)  # seconds until a message that no worker took counts as lost
    JOBS_LIGHT_DATABASE_THREADS = Setting(8)  # threads of a light process for the database calls of its bodies
    # Results in the cache
    JOBS_CACHE = Setting("default")  # the name in CACHES of the one with the results
    JOBS_RESULT_TTL = Setting(3600)
    JOBS_RESULT_MAX_BYTES = Setting(5_000_000)
    JOBS_RESULTS_MAX_BYTES = Setting(100_000_000)  # of all results of a tenant together
    # How long rows are kept
    JOBS_ARCHIVE_AFTER = Setting(1.0)  # days until an ended job moves from the table jobs into the history
    JOBS_HISTORY_KEEP = Setting(400.0)  # days that the history is kept, 13 months
    JOBS_LOGS_KEEP = Setting(400.0)  # days that the audit log, the admin's log and that of blocked loops are kept
    JOBS_ATTEMPTS_KEPT = Setting(691_200.0)  # seconds that the log of attempts is kept; its days are dropped whole
    JOBS_USAGE_KEEP = Setting(1100.0)  # days that the usage of tenants is kept, three years
    JOBS_DEAD_TTL = Setting(2_592_000.0)  # seconds until a dead job is deleted; before, it can be revived
    JOBS_MEMORY_TTL = Setting(7_776_000.0)  # seconds that a job type's memory is kept after its last change
    # Deaths
    JOBS_DEATH_NOTICE_INTERVAL = Setting(60.0)  # seconds between two messages about deaths
    JOBS_DEATH_NOTIFIERS = Setting(["jobs.engine.deaths.channels.mail", "jobs.engine.deaths.channels.webhook"])
    JOBS_WEBHOOK_NETWORKS = Setting[list[str]]([])  # networks for tenants' endpoints, beside the internet
    JOBS_DEATH_WEBHOOK = Setting("")  # a URL that gets JSON when jobs died
    # Queues that `migrate` makes if they are missing, with the fields of each: {"mail": {"concurrency": 2}}
    JOBS_QUEUES = Setting[dict[str, dict[str, Any]]]({})
    # Health
    JOBS_WAIT_OBJECTIVE = Setting(0.99)  # the share of attempts that shall keep the wait target of their queue
    # Interfaces
    JOBS_MASKED_ARGS = Setting(  # words; pages show ••• for an argument whose name contains one
        ["password", "passwd", "passphrase", "secret", "token", "api_key", "credential"]
    )
    JOBS_API_RATE = Setting(100.0, zero=True)  # requests per second of a tenant or operator to a web process; 0: any
    JOBS_API_WAITS = Setting(100)  # open long polls and event streams of a tenant at a web process
    JOBS_API_WAITS_OF_ALL = Setting(500)  # the same of all tenants; each holds a file descriptor
    JOBS_TRACE_URL = Setting("")  # the URL of a trace in your tracing system, with {trace_id}, for operators' pages
    JOBS_DOCS_URL = Setting("")  # the URL of the site that `make docs` makes; Health, commands and mails link to it
    JOBS_METRICS_TOKEN = Setting("")  # the token of /metrics; without it only this machine may read them
    JOBS_METRICS_TENANTS = Setting[list[str]]([])  # slugs of the tenants, at most 200, at /metrics/tenants


settings = Settings()
ALL_SETTINGS: dict[str, Setting[Any]] = {name: one for name, one in vars(Settings).items() if isinstance(one, Setting)}


def documented(page: str) -> str:
    """Return where a page of the documentation is: on the site at JOBS_DOCS_URL, or its file.

    page: such as "runbooks/no_clock".
    """
    site = settings.JOBS_DOCS_URL.rstrip("/")
    return f"{site}/{page}.html" if site else f"docs/{page}.md"
