"""System checks: the settings that must be right before any process starts. Each has an id and a hint.

`manage.py` runs every registered check by itself. No other process does: an ASGI or WSGI server only imports its
module, and Celery's Django fix-up calls `run_checks()` and ignores the result. So asgi.py, wsgi.py and celery.py, one
of which starts every other process, call `refuse_unsafe_start`. An AppConfig is no place for it: `manage.py` could not
report the errors in its own way, nor run `collectstatic` in the build of an image, which has no secrets.
"""

import math
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register, run_checks

TAG = "scheduler"
ENVIRONMENTS = ("development", "production")
LOG_FORMATS = ("line", "json")
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
SECRET_KEY_LENGTH = 50  # characters
METRICS_TENANTS = 200  # at most, at /metrics/tenants
TOKEN_LENGTH = 32  # characters
OF_ONE_PROCESS = ("LocMemCache", "DummyCache")  # cache backends that no other process can read
POSITIVE = (
    "JOBS_DEFAULT_TIMEOUT",
    "JOBS_MAX_TIMEOUT",
    "JOBS_TIMEOUT_GRACE",
    "JOBS_CANCEL_GRACE",
    "JOBS_MAX_CRASHES",
    "JOBS_MAX_WAITING",
    "JOBS_MAX_SCHEDULES",
    "JOBS_ATTEMPTS_KEPT",
    "JOBS_DEAD_TTL",
    "JOBS_HISTORY_KEEP",
    "JOBS_LOGS_KEEP",
    "JOBS_DEATH_NOTICE_INTERVAL",
    "JOBS_BEAT_INTERVAL",
    "JOBS_HAND_OVER_TIMEOUT",
    "JOBS_RESULT_TTL",
    "JOBS_RESULT_MAX_BYTES",
    "JOBS_RESULTS_MAX_BYTES",
    "JOBS_STATS_MAX_BYTES",
    "JOBS_ARGS_MAX_BYTES",
    "JOBS_MEMORY_TTL",
    "LOGIN_FAILURES",
    "API_WAITS",
    "API_WAITS_OF_ALL",
)
NOT_NEGATIVE = (
    "JOBS_DEDUP_WINDOW",
    "JOBS_DEFAULT_MEMORY",
    "JOBS_MAX_RETRIES",
    "WEB_THREADS",
    "DB_STATEMENT_TIMEOUT",
    "DB_LOCK_TIMEOUT",
    "API_RATE",
    "SECURE_HSTS_SECONDS",
)

Check = Callable[[], Iterator[CheckMessage]]


def refuse_unsafe_start(**_: Any) -> None:
    """End this process with the failed checks on stderr and status 78 (EX_CONFIG): a restart would not help.

    It is also a receiver of a Celery signal, hence the ignored arguments.
    """
    found = run_checks(tags=[TAG])  # these need only the settings, no loaded apps
    errors = sorted(str(message) for message in found if message.is_serious() and not message.is_silenced())
    if errors:
        sys.stderr.write("\n".join(["Refused to start:", *errors, ""]))
        raise SystemExit(os.EX_CONFIG)


def _registered(check: Check) -> Check:
    def messages(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
        return list(check())

    register(messages, TAG)
    return check


def _in_production(check: Check) -> Check:
    def only_there() -> Iterator[CheckMessage]:
        if settings.ENVIRONMENT == "production":
            yield from check()

    return only_there


@_registered
def known_environment() -> Iterator[CheckMessage]:
    """A misspelt "production" would disable all other checks."""
    if settings.ENVIRONMENT not in ENVIRONMENTS:
        yield Error(
            f"ENVIRONMENT is {settings.ENVIRONMENT!r}.",
            hint=f"Set ENVIRONMENT to {' or '.join(ENVIRONMENTS)}.",
            id="scheduler.E001",
        )


@_registered
@_in_production
def no_embedded_engines() -> Iterator[CheckMessage]:
    """Embedded engines end with the command that started them, and have one disk, no replica and no backup."""
    if settings.EMBEDDED_ENGINES and not settings.ALLOW_EMBEDDED_IN_PRODUCTION:
        yield Error(
            f"ENVIRONMENT is production, but it would use the embedded {' and '.join(settings.EMBEDDED_ENGINES)}.",
            hint="Set DATABASE_URL, CELERY_BROKER_URL and CACHE_URL to servers. Or accept that this machine's disk "
            "holds the only copy of the data, and set ALLOW_EMBEDDED_IN_PRODUCTION=true.",
            id="scheduler.E002",
        )


@_registered
@_in_production
def secret_key() -> Iterator[CheckMessage]:
    """The key signs sessions: everybody knows the default, and a short key can be guessed."""
    key = settings.SECRET_KEY
    if len(key) < SECRET_KEY_LENGTH or key.startswith("insecure-"):
        yield Error(
            f"SECRET_KEY is the default, or shorter than {SECRET_KEY_LENGTH} characters.",
            hint="Set SECRET_KEY to the output of: openssl rand -hex 32",
            id="scheduler.E003",
        )


@_registered
@_in_production
def no_debug() -> Iterator[CheckMessage]:
    """Debug mode shows settings and source on its error pages, and keeps every query in memory."""
    if settings.DEBUG:
        yield Error("DEBUG is on.", hint="Unset DEBUG, or set it to false.", id="scheduler.E004")


@_registered
@_in_production
def allowed_hosts() -> Iterator[CheckMessage]:
    """With "*", links may contain a forged Host header; with the default, no user has access."""
    hosts = set(settings.ALLOWED_HOSTS)
    if "*" in hosts or hosts <= LOOPBACK:
        yield Error(
            f"ALLOWED_HOSTS is {','.join(settings.ALLOWED_HOSTS)!r}.",
            hint="Set ALLOWED_HOSTS to the host names of the site, separated by commas: scheduler.example.com",
            id="scheduler.E005",
        )


@_registered
@_in_production
def shared_cache() -> Iterator[CheckMessage]:
    """The web process cannot read results in the memory of a worker."""
    if settings.CACHES["default"]["BACKEND"].rpartition(".")[2] in OF_ONE_PROCESS:
        yield Error(
            "The cache is not shared between processes, so the web could not read any result.",
            hint="Set CACHE_URL to a Redis or Valkey: redis://:password@host:6379/1",
            id="scheduler.E006",
        )


@_registered
def postgresql() -> Iterator[CheckMessage]:
    """Slots, the door and the claim need PostgreSQL."""
    if settings.DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
        yield Error(
            "The database is not PostgreSQL.",
            hint="Set DATABASE_URL to postgres://user:password@host:5432/name",
            id="scheduler.E007",
        )


@_registered
def webhook() -> Iterator[CheckMessage]:
    """Nobody would notice that messages to another kind of address never arrive."""
    if settings.JOBS_DEATH_WEBHOOK and not settings.JOBS_DEATH_WEBHOOK.startswith(("https://", "http://")):
        yield Error(
            "JOBS_DEATH_WEBHOOK is not an http:// or https:// URL.",  # the URL is a secret, so it is not shown
            hint="Set JOBS_DEATH_WEBHOOK to https://host/path, or unset it.",
            id="scheduler.E009",
        )


@_registered
def metrics_token() -> Iterator[CheckMessage]:
    """A short token can be guessed, and nothing throttles who tries."""
    if 0 < len(settings.METRICS_TOKEN) < TOKEN_LENGTH:
        yield Error(
            f"METRICS_TOKEN is shorter than {TOKEN_LENGTH} characters.",
            hint="Set METRICS_TOKEN to the output of: openssl rand -hex 32. Unset, only this machine may ask.",
            id="scheduler.E011",
        )


@_registered
def metrics_of_few_tenants() -> Iterator[CheckMessage]:
    """Each tenant is a label's value, and Prometheus keeps all that it ever saw."""
    if len(settings.JOBS_METRICS_TENANTS) > METRICS_TENANTS:
        yield Error(
            f"JOBS_METRICS_TENANTS names {len(settings.JOBS_METRICS_TENANTS)} tenants.",
            hint=f"Name at most {METRICS_TENANTS} in JOBS_METRICS_TENANTS; the pages under /ops/ show all.",
            id="scheduler.E013",
        )


@_registered
def traces_can_be_sent() -> Iterator[CheckMessage]:
    """A worker's processes would end as soon as they start, again and again."""
    needed = {"otlp": "opentelemetry.exporter.otlp.proto.http", "console": "opentelemetry.sdk"}.get(settings.TRACES)
    if settings.TRACES and needed is None:
        yield Error(f"TRACES is {settings.TRACES!r}.", hint="Set TRACES to otlp, or unset it.", id="scheduler.E012")
    elif needed and not _is_installed(needed):
        yield Error(
            f"TRACES is {settings.TRACES!r}, but {needed} is not installed.",
            hint="pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http, or unset TRACES.",
            id="scheduler.E012",
        )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


@_registered
def known_log_format() -> Iterator[CheckMessage]:
    """With a misspelt format, whatever reads the log would get lines that it cannot parse."""
    if settings.LOG_FORMAT not in LOG_FORMATS:
        yield Error(
            f"LOG_FORMAT is {settings.LOG_FORMAT!r}.",
            hint=f"Set LOG_FORMAT to {' or '.join(LOG_FORMATS)}.",
            id="scheduler.E010",
        )


@_registered
def numbers() -> Iterator[CheckMessage]:
    """Refuse senseless numbers, such as a beat every 0 seconds or results of NaN bytes, before any process starts."""
    archived = {f"JOBS_ARCHIVE_AFTER_{status.upper()}": days for status, days in settings.JOBS_ARCHIVE_AFTER.items()}
    numbers_by_name = archived | {name: getattr(settings, name) for name in (*POSITIVE, *NOT_NEGATIVE)}
    for names, fits, wanted in (
        ((*POSITIVE, *archived), operator.gt, "greater than 0"),
        (NOT_NEGATIVE, operator.ge, "0 or greater"),
    ):
        for name in names:
            number = numbers_by_name[name]
            if not (math.isfinite(number) and fits(number, 0)):
                yield Error(f"{name} is {number}.", hint=f"Set {name} to a number {wanted}.", id="scheduler.E008")
