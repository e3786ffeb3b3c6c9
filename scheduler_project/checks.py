"""System checks: what must be right before anything starts, each with an id, and what to set instead.

`manage.py` runs every registered check by itself. Nobody else does: an ASGI or WSGI server only imports its module,
and Celery's Django fix-up calls `run_checks()` and drops what it returns. So asgi.py, wsgi.py and celery.py, through
one of which every other process starts, call `refuse_unsafe_start`. An AppConfig would not do: `manage.py` could then
not report the errors in its own way, nor run `collectstatic` where an image is built and no secret is at hand.
"""

import math
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register, run_checks

TAG = "scheduler"
ENVIRONMENTS = ("development", "production")
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
SECRET_KEY_LENGTH = 50  # characters
OF_ONE_PROCESS = ("LocMemCache", "DummyCache")  # cache backends that no other process can read
POSITIVE = (
    "JOBS_DEFAULT_TIMEOUT",
    "JOBS_MAX_TIMEOUT",
    "JOBS_TIMEOUT_GRACE",
    "JOBS_CANCEL_GRACE",
    "JOBS_MAX_CRASHES",
    "JOBS_MAX_WAITING",
    "JOBS_MAX_SCHEDULES",
    "JOBS_DEAD_TTL",
    "JOBS_DEATH_NOTICE_INTERVAL",
    "JOBS_BEAT_INTERVAL",
    "JOBS_HAND_OVER_TIMEOUT",
    "JOBS_RESULT_TTL",
    "JOBS_RESULT_MAX_BYTES",
    "JOBS_RESULTS_MAX_BYTES",
    "JOBS_STATS_MAX_BYTES",
    "JOBS_ARGS_MAX_BYTES",
    "LOGIN_FAILURES",
    "API_WAITS",
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
    """End this process with the failed checks on stderr and status 78 (EX_CONFIG), which no restart would change.

    A Celery signal's receiver as well, hence the ignored arguments.
    """
    found = run_checks(tags=[TAG])  # these need the settings only, no loaded apps
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
    """A misspelt "production" would switch every other check off."""
    if settings.ENVIRONMENT not in ENVIRONMENTS:
        yield Error(
            f"ENVIRONMENT is {settings.ENVIRONMENT!r}.",
            hint=f"Set ENVIRONMENT to {' or '.join(ENVIRONMENTS)}.",
            id="scheduler.E001",
        )


@_registered
@_in_production
def no_embedded_engines() -> Iterator[CheckMessage]:
    """They live and die with the command that started them, on one disk, without a replica or a backup."""
    if settings.EMBEDDED_ENGINES and not settings.ALLOW_EMBEDDED_IN_PRODUCTION:
        yield Error(
            f"The embedded {' and '.join(settings.EMBEDDED_ENGINES)} would serve production.",
            hint="Set DATABASE_URL, CELERY_BROKER_URL and CACHE_URL to servers, or, knowing that the data lives as "
            "long as this machine's disk, ALLOW_EMBEDDED_IN_PRODUCTION=true.",
            id="scheduler.E002",
        )


@_registered
@_in_production
def secret_key() -> Iterator[CheckMessage]:
    """Whoever knows it can sign sessions: everybody knows the default, and a short one can be found."""
    key = settings.SECRET_KEY
    if len(key) < SECRET_KEY_LENGTH or key.startswith("insecure-"):
        yield Error(
            f"SECRET_KEY is the default one, or shorter than {SECRET_KEY_LENGTH} characters.",
            hint="Set SECRET_KEY to the output of: openssl rand -hex 32",
            id="scheduler.E003",
        )


@_registered
@_in_production
def no_debug() -> Iterator[CheckMessage]:
    """Its error pages show settings and source to anybody, and it keeps every query in memory."""
    if settings.DEBUG:
        yield Error("DEBUG is on.", hint="Unset DEBUG, or set it to false.", id="scheduler.E004")


@_registered
@_in_production
def allowed_hosts() -> Iterator[CheckMessage]:
    """With "*" a forged Host header gets into links; with the default nobody gets in."""
    hosts = set(settings.ALLOWED_HOSTS)
    if "*" in hosts or hosts <= LOOPBACK:
        yield Error(
            f"ALLOWED_HOSTS is {','.join(settings.ALLOWED_HOSTS)!r}.",
            hint="Set ALLOWED_HOSTS to the names users type, with commas: scheduler.example.com",
            id="scheduler.E005",
        )


@_registered
@_in_production
def shared_cache() -> Iterator[CheckMessage]:
    """A result that a worker puts into its own memory is never seen by the web process."""
    if settings.CACHES["default"]["BACKEND"].rpartition(".")[2] in OF_ONE_PROCESS:
        yield Error(
            "The cache is not shared between processes, so that no result would be found.",
            hint="Set CACHE_URL to a Redis or Valkey: redis://:password@host:6379/1",
            id="scheduler.E006",
        )


@_registered
def postgresql() -> Iterator[CheckMessage]:
    """Slots, the door and the claim are PostgreSQL's work; no other database will do."""
    if settings.DATABASES["default"]["ENGINE"] != "django.db.backends.postgresql":
        yield Error(
            "The database is not PostgreSQL.",
            hint="Set DATABASE_URL to postgres://user:password@host:5432/name",
            id="scheduler.E007",
        )


@_registered
def webhook() -> Iterator[CheckMessage]:
    """Nobody would miss the messages that an address of another kind never gets."""
    if settings.JOBS_DEATH_WEBHOOK and not settings.JOBS_DEATH_WEBHOOK.startswith(("https://", "http://")):
        yield Error(
            "JOBS_DEATH_WEBHOOK is no http:// or https:// URL.",  # which is a secret: it is not shown
            hint="Set JOBS_DEATH_WEBHOOK to https://host/path, or unset it.",
            id="scheduler.E009",
        )


@_registered
def numbers() -> Iterator[CheckMessage]:
    """A worker that beats every 0 seconds, or NaN bytes of result: refused here, not met at three in the morning."""
    for names, fits, wanted in (
        (POSITIVE, operator.gt, "greater than 0"),
        (NOT_NEGATIVE, operator.ge, "0 or greater"),
    ):
        for name in names:
            number = getattr(settings, name)
            if not (math.isfinite(number) and fits(number, 0)):
                yield Error(f"{name} is {number}.", hint=f"Set {name} to a number {wanted}.", id="scheduler.E008")
