"""System checks of this project's own settings, each with an id and a hint. The others are in jobs/checks/ and
tenants/checks.py.

`manage.py` runs every registered check by itself. No other process does: an ASGI or WSGI server only imports its
module, and Celery's Django fix-up would ignore the result. So asgi.py and wsgi.py call `refuse_unsafe_start`. For a
worker, jobs/celery.py calls it, with the tag from celery.py. An AppConfig is no place for that call: `manage.py` could
not report the errors in its own way, nor run `collectstatic` in the build of an image, which has no secrets.
"""

import math
from collections.abc import Iterator

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.storage import staticfiles_storage

from jobs import checks
from jobs.checks import caches, extras
from plumbing.faults import Check, Fault, check

TAG = "scheduler"
ENVIRONMENTS = ("development", "production")
LOG_FORMATS = ("line", "json")
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
SECRET_KEY_LENGTH = 50  # characters
NOT_NEGATIVE = ("WEB_THREADS", "DB_STATEMENT_TIMEOUT", "DB_LOCK_TIMEOUT", "HSTS_SECONDS")


def refuse_unsafe_start() -> None:
    """End this process if a check fails: one of this module, of the scheduler (jobs/checks), or of tenants and logins.

    End it also if its dispatches would run in sessions that a pooler shares between clients.
    """
    from tenants import checks as tenants  # late: it reads the settings

    checks.refuse_unsafe_start(TAG, tenants.TAG)
    if "direct" not in settings.DATABASES:
        checks.refuse_shared_sessions()


def _in_production(faults: Check) -> Check:
    def only_there() -> Iterator[Fault]:
        if settings.ENVIRONMENT == "production":
            yield from faults()

    return only_there


@check("scheduler.E001")
def known_environment() -> Iterator[Fault]:
    """Check ENVIRONMENT: a misspelt "production" would disable all other checks."""
    if settings.ENVIRONMENT not in ENVIRONMENTS:
        hint = f"Set ENVIRONMENT to {' or '.join(ENVIRONMENTS)}."
        yield f"ENVIRONMENT is {settings.ENVIRONMENT!r}.", hint


@check("scheduler.E002")
@_in_production
def no_embedded_engines() -> Iterator[Fault]:
    """Refuse embedded engines: they end with the command that started them, and have no replica and no backup."""
    if settings.EMBEDDED_ENGINES and not settings.ALLOW_EMBEDDED_IN_PRODUCTION:
        hint = "Set DATABASE_URL, CELERY_BROKER_URL and CACHE_URL to servers. Or accept that this machine's disk holds "
        hint += "the only copy of the data, and set ALLOW_EMBEDDED_IN_PRODUCTION=true."
        engines = " and ".join(settings.EMBEDDED_ENGINES)
        yield f"ENVIRONMENT is production, but it would use the embedded {engines}.", hint


@check("scheduler.E003")
@_in_production
def secret_key() -> Iterator[Fault]:
    """Check SECRET_KEY, which signs sessions, and its former values, which are valid, too.

    The default is public, and a short key can be guessed.
    """
    if _is_weak(settings.SECRET_KEY):
        hint = "Set SECRET_KEY to the output of: openssl rand -hex 32"
        yield f"SECRET_KEY is the default, or shorter than {SECRET_KEY_LENGTH} characters.", hint
    if any(map(_is_weak, settings.SECRET_KEY_FALLBACKS)):
        hint = "Set SECRET_KEY_FALLBACKS to former values of SECRET_KEY, separated by commas, or unset it."
        yield f"SECRET_KEY_FALLBACKS has the default, or a key shorter than {SECRET_KEY_LENGTH} characters.", hint


def _is_weak(key: str) -> bool:
    return len(key) < SECRET_KEY_LENGTH or key.startswith("insecure-")


@check("scheduler.E004")
@_in_production
def no_debug() -> Iterator[Fault]:
    """Refuse debug mode: its error pages show settings and source, and it keeps every query in memory."""
    if settings.DEBUG:
        yield "DEBUG is on.", "Unset DEBUG, or set it to false."


@check("scheduler.E005")
@_in_production
def allowed_hosts() -> Iterator[Fault]:
    """Check ALLOWED_HOSTS. With "*", links may contain a forged Host header; with the default, no user has access."""
    hosts = set(settings.ALLOWED_HOSTS)
    if "*" in hosts or hosts <= LOOPBACK:
        hint = "Set ALLOWED_HOSTS to the host names of the site, separated by commas: scheduler.example.com"
        yield f"ALLOWED_HOSTS is {','.join(settings.ALLOWED_HOSTS)!r}.", hint


@check("scheduler.E006")
@_in_production
def shared_cache() -> Iterator[Fault]:
    """Refuse a cache of one process: the web process cannot read results in the memory of a worker."""
    if caches.of_one_process():
        hint = "Set CACHE_URL to a Redis or Valkey: redis://:password@host:6379/1"
        yield "The cache is not shared between processes, so the web could not read any result.", hint


@check("scheduler.W001", "pages")
@_in_production
def collected_static_files() -> Iterator[Fault]:
    """Look for the files of pages, as after an upgrade. Only `manage.py` does: a worker shows no page."""
    hashed_files: dict[str, str] | None = getattr(staticfiles_storage, "hashed_files", None)
    if hashed_files is None:  # a storage without a manifest
        return
    files = (path for finder in get_finders() for path, _ in finder.list(["CVS", ".*", "*~"]))  # as collectstatic
    missing = sorted({*files} - {*hashed_files})
    if missing:
        hint = "Type manage.py collectstatic --no-input, then restart the web processes."
        yield f"{len(missing)} static files are not collected, such as {missing[0]}: pages end as error 500.", hint


@check("scheduler.E012")
def traces_can_be_sent() -> Iterator[Fault]:
    """Check TRACES. Without the library, a worker's processes would end as soon as they start, again and again."""
    needed = {"otlp": "opentelemetry.exporter.otlp.proto.http", "console": "opentelemetry.sdk"}.get(settings.TRACES)
    if settings.TRACES and needed is None:
        yield f"TRACES is {settings.TRACES!r}.", "Set TRACES to otlp, or unset it."
    elif needed and not extras.is_there(needed):
        hint = "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http, or unset TRACES."
        yield f"TRACES is {settings.TRACES!r}, but {needed} is not installed.", hint


@check("scheduler.E010")
def known_log_format() -> Iterator[Fault]:
    """Check LOG_FORMAT. With a misspelt format, the reader of the log would get lines that it cannot parse."""
    if settings.LOG_FORMAT not in LOG_FORMATS:
        hint = f"Set LOG_FORMAT to {' or '.join(LOG_FORMATS)}."
        yield f"LOG_FORMAT is {settings.LOG_FORMAT!r}.", hint


@check("scheduler.E013")
def known_path() -> Iterator[Fault]:
    """Check FORCE_SCRIPT_NAME: links and the paths of cookies start with it unchanged."""
    path = settings.FORCE_SCRIPT_NAME
    if path is not None and (not path.startswith("/") or path.endswith("/")):
        hint = "Set FORCE_SCRIPT_NAME to a path that starts with a slash and ends without one, /scheduler, or unset it."
        yield f"FORCE_SCRIPT_NAME is {path!r}.", hint


@check("scheduler.E008")
def numbers() -> Iterator[Fault]:
    """Refuse senseless numbers before any process starts."""
    for name in NOT_NEGATIVE:
        number = getattr(settings, name)
        if not (math.isfinite(number) and number >= 0):
            yield f"{name} is {number}.", f"Set {name} to a number 0 or greater."
