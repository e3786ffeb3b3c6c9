"""System checks of this project's own settings, each with an id and a hint. The others are in jobs/checks/ and
tenants/checks.py.

`manage.py` runs every registered check by itself. No other process does: an ASGI or WSGI server only imports its
module, and Celery's Django fix-up would ignore the result. So asgi.py and wsgi.py call `refuse_unsafe_start`, and a
worker does as jobs/celery.py tells it, with the tag that celery.py names. An AppConfig is no place for it: `manage.py`
could not report the errors in its own way, nor run `collectstatic` in the build of an image, which has no secrets.
"""

import math
from collections.abc import Iterator

from django.conf import settings
from django.core.checks import CheckMessage, Error

from jobs import checks
from jobs.checks import Check, caches, extras, registered

TAG = "scheduler"
ENVIRONMENTS = ("development", "production")
LOG_FORMATS = ("line", "json")
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
SECRET_KEY_LENGTH = 50  # characters
NOT_NEGATIVE = ("WEB_THREADS", "DB_STATEMENT_TIMEOUT", "DB_LOCK_TIMEOUT", "SECURE_HSTS_SECONDS")


def refuse_unsafe_start() -> None:
    """End this process if any of these checks fails, or of the scheduler's, or that of logins: see jobs/checks."""
    from tenants import checks as tenants  # late: it reads the settings

    checks.refuse_unsafe_start(TAG, tenants.TAG)


def _in_production(check: Check) -> Check:
    def only_there() -> Iterator[CheckMessage]:
        if settings.ENVIRONMENT == "production":
            yield from check()

    return only_there


@registered(TAG)
def known_environment() -> Iterator[CheckMessage]:
    """A misspelt "production" would disable all other checks."""
    if settings.ENVIRONMENT not in ENVIRONMENTS:
        yield Error(
            f"ENVIRONMENT is {settings.ENVIRONMENT!r}.",
            hint=f"Set ENVIRONMENT to {' or '.join(ENVIRONMENTS)}.",
            id="scheduler.E001",
        )


@registered(TAG)
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


@registered(TAG)
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


@registered(TAG)
@_in_production
def no_debug() -> Iterator[CheckMessage]:
    """Debug mode shows settings and source on its error pages, and keeps every query in memory."""
    if settings.DEBUG:
        yield Error("DEBUG is on.", hint="Unset DEBUG, or set it to false.", id="scheduler.E004")


@registered(TAG)
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


@registered(TAG)
@_in_production
def shared_cache() -> Iterator[CheckMessage]:
    """The web process cannot read results in the memory of a worker."""
    if caches.of_one_process():
        yield Error(
            "The cache is not shared between processes, so the web could not read any result.",
            hint="Set CACHE_URL to a Redis or Valkey: redis://:password@host:6379/1",
            id="scheduler.E006",
        )


@registered(TAG)
def traces_can_be_sent() -> Iterator[CheckMessage]:
    """A worker's processes would end as soon as they start, again and again."""
    needed = {"otlp": "opentelemetry.exporter.otlp.proto.http", "console": "opentelemetry.sdk"}.get(settings.TRACES)
    if settings.TRACES and needed is None:
        yield Error(f"TRACES is {settings.TRACES!r}.", hint="Set TRACES to otlp, or unset it.", id="scheduler.E012")
    elif needed and not extras.is_there(needed):
        yield Error(
            f"TRACES is {settings.TRACES!r}, but {needed} is not installed.",
            hint="pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http, or unset TRACES.",
            id="scheduler.E012",
        )


@registered(TAG)
def known_log_format() -> Iterator[CheckMessage]:
    """With a misspelt format, whatever reads the log would get lines that it cannot parse."""
    if settings.LOG_FORMAT not in LOG_FORMATS:
        yield Error(
            f"LOG_FORMAT is {settings.LOG_FORMAT!r}.",
            hint=f"Set LOG_FORMAT to {' or '.join(LOG_FORMATS)}.",
            id="scheduler.E010",
        )


@registered(TAG)
def numbers() -> Iterator[CheckMessage]:
    """Refuse senseless numbers before any process starts."""
    for name in NOT_NEGATIVE:
        number = getattr(settings, name)
        if not (math.isfinite(number) and number >= 0):
            yield Error(f"{name} is {number}.", hint=f"Set {name} to a number 0 or greater.", id="scheduler.E008")
