"""System checks: what the scheduler needs of the project that it runs in. Each has an id, and a hint: the remedy.

`manage.py` runs them by itself. A worker refuses to start with an error; a web process that shall do so calls
`refuse_unsafe_start`. They need only the settings, no loaded apps.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from ipaddress import ip_network
from typing import Any, NoReturn

from django.apps import AppConfig, apps
from django.conf import settings as project
from django.core.checks import CheckMessage, Error, Warning, register, run_checks
from django.db.utils import load_backend

from jobs.celery import celery_app, is_configured
from jobs.conf import ALL_SETTINGS, settings

TAG = "jobs"
OTHERS = {"JOBS_PREFIX", "JOBS_MEMBERSHIP"}  # settings of the app `tenants`
OTHERS |= {f"JOBS_TENANT_{name}" for name in ("MODEL", "MIRROR", "NAME", "SLUG")}
TOKEN_LENGTH = 32  # characters
METRICS_TENANTS = 200  # at most, at /metrics/tenants

Check = Callable[[], Iterator[CheckMessage]]


def refuse_unsafe_start(*tags: str) -> None:
    """Refuse to start if a check fails with an error.

    tags: those of further checks.
    """
    found = run_checks(tags=[TAG, *tags])
    errors = sorted(str(message) for message in found if message.is_serious() and not message.is_silenced())
    if errors:
        refuse_to_start("\n".join(["Refused to start:", *errors]))


def refuse_to_start(why: str) -> NoReturn:
    """End this process with that text on stderr and status 78 (EX_CONFIG): a restart would not help."""
    sys.stderr.write(f"{why}\n")
    raise SystemExit(os.EX_CONFIG)


def registered(tag: str) -> Callable[[Check], Check]:
    """Let Django run a generator of messages as a check with this tag."""

    def with_tag(check: Check) -> Check:
        def messages(*, app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
            return list(check())

        register(messages, tag)
        return check

    return with_tag


def on_postgresql() -> bool:
    """Whether the default database is one, as the backends of django-tenants and PostGIS say, too."""
    backend = load_backend(project.DATABASES["default"]["ENGINE"])
    return bool(backend.DatabaseWrapper.vendor == "postgresql")


@registered(TAG)
def both_apps() -> Iterator[CheckMessage]:
    """The models of jobs point to tenants."""
    if apps.apps_ready and not apps.is_installed("tenants"):  # a web process may ask before they are loaded
        hint = 'Add "tenants" to INSTALLED_APPS.'
        yield Error('INSTALLED_APPS has "jobs" without "tenants", so there are no jobs.', hint=hint, id="jobs.E024")


@registered(TAG)
def postgresql() -> Iterator[CheckMessage]:
    """Slots, the door and the claim need PostgreSQL."""
    if not on_postgresql():
        yield Error(
            "The database is not PostgreSQL.",
            hint='Jobs need PostgreSQL as DATABASES["default"], in tests, too; not beside another default. '
            'ENGINE: "django.db.backends.postgresql" (with DATABASE_URL: postgres://user:password@host:5432/name).',
            id="jobs.E001",
        )


@registered(TAG)
def numbers() -> Iterator[CheckMessage]:
    """Refuse senseless numbers, such as a beat every 0 seconds or results of NaN bytes, before any process starts."""
    for name, setting in ALL_SETTINGS.items():
        if not isinstance(setting.default, int | float):
            continue
        number = getattr(settings, name)
        is_number = isinstance(number, int | float) and math.isfinite(number)
        if not is_number or number < 0 or (number == 0 and not setting.zero):
            wanted = "0 or greater" if setting.zero else "greater than 0"
            yield Error(f"{name} is {number!r}.", hint=f"Set {name} to a number {wanted}.", id="jobs.E002")


@registered(TAG)
def webhook() -> Iterator[CheckMessage]:
    """Nobody would notice that messages to another kind of address never arrive."""
    if settings.JOBS_DEATH_WEBHOOK and not settings.JOBS_DEATH_WEBHOOK.startswith(("https://", "http://")):
        yield Error(
            "JOBS_DEATH_WEBHOOK is not an http:// or https:// URL.",  # the URL is a secret, so it is not shown
            hint="Set JOBS_DEATH_WEBHOOK to https://host/path, or unset it.",
            id="jobs.E003",
        )


@registered(TAG)
def webhook_networks() -> Iterator[CheckMessage]:
    """A mistake would be met when a tenant's first message is posted."""
    for net in settings.JOBS_WEBHOOK_NETWORKS:
        try:
            ip_network(net)
        except ValueError:
            yield Error(
                f"JOBS_WEBHOOK_NETWORKS has {net!r}, which is no network.",
                hint="Set JOBS_WEBHOOK_NETWORKS to networks such as 10.1.0.0/16, or unset it.",
                id="jobs.E025",
            )


@registered(TAG)
def links() -> Iterator[CheckMessage]:
    """Without the placeholder every job would link the same trace; with another scheme a link could be code."""
    url = settings.JOBS_TRACE_URL
    if url and not (url.startswith(("https://", "http://")) and "{trace_id}" in url):
        yield Error(
            f"JOBS_TRACE_URL is {url!r}, not an http:// or https:// URL with {{trace_id}} in it.",
            hint="Set JOBS_TRACE_URL to https://host/trace/{trace_id}, as your tracing system has it, or unset it.",
            id="jobs.E011",
        )
    url = settings.JOBS_DOCS_URL
    if url and (not url.startswith(("https://", "http://")) or url.endswith((".md", ".html"))):
        yield Error(
            f"JOBS_DOCS_URL is {url!r}, not the http:// or https:// URL of the documentation's site.",
            hint="Set JOBS_DOCS_URL to the folder of the site of `make docs`, like https://host/docs, or unset it.",
            id="jobs.E011",
        )


@registered(TAG)
def metrics_token() -> Iterator[CheckMessage]:
    """A short token can be guessed, and nothing throttles who tries."""
    if 0 < len(settings.JOBS_METRICS_TOKEN) < TOKEN_LENGTH:
        yield Error(
            f"JOBS_METRICS_TOKEN is shorter than {TOKEN_LENGTH} characters.",
            hint="Set JOBS_METRICS_TOKEN to the output of: openssl rand -hex 32. Unset, only this machine may ask.",
            id="jobs.E004",
        )


@registered(TAG)
def metrics_of_few_tenants() -> Iterator[CheckMessage]:
    """Each tenant is a label's value, and Prometheus keeps all that it ever saw."""
    if len(settings.JOBS_METRICS_TENANTS) > METRICS_TENANTS:
        yield Error(
            f"JOBS_METRICS_TENANTS names {len(settings.JOBS_METRICS_TENANTS)} tenants.",
            hint=f"Name at most {METRICS_TENANTS} in JOBS_METRICS_TENANTS; the pages under /ops/ show all.",
            id="jobs.E010",
        )


@registered(TAG)
def celery_is_configured() -> Iterator[CheckMessage]:
    """Without the additions to its workers and their settings, no job would run, or some twice."""
    if not is_configured():
        yield Error(
            "Celery's app does not carry jobs.",
            hint="Where the app is made, call jobs.celery.configure(app); and import that module in the __init__.py "
            "of the project's package.",
            id="jobs.E005",
        )
    elif celery_app().conf.task_always_eager:
        yield Error(
            "CELERY_TASK_ALWAYS_EAGER would run jobs inside the dispatch that claims them.",
            hint="Unset CELERY_TASK_ALWAYS_EAGER; to call a method at once, leave out .async_",
            id="jobs.E006",
        )


@registered(TAG)
def sessions_of_their_own() -> Iterator[CheckMessage]:
    """The engine opens sessions beside Django's, with other options; a pool would hand one out as the other."""
    if project.DATABASES["default"].get("OPTIONS", {}).get("pool"):
        yield Error(
            "The database connections come from a pool in the process.",
            hint='Remove "pool" from the OPTIONS of DATABASES["default"], and set its CONN_MAX_AGE to None.',
            id="jobs.E007",
        )


@registered(TAG)
def times_have_zones() -> Iterator[CheckMessage]:
    """A moment without a time zone cannot be compared with the database's clock."""
    if not project.USE_TZ:
        yield Error("USE_TZ is False.", hint="Set USE_TZ to True.", id="jobs.E008")


@registered(TAG)
def connections() -> Iterator[CheckMessage]:
    """Each costs milliseconds at every job, but changes no outcome. Other databases have other options."""
    if not on_postgresql():
        return
    database = project.DATABASES["default"]
    options = database.get("OPTIONS", {})
    for missed, message, hint, identity in (
        (database.get("CONN_MAX_AGE", 0) == 0, "Each request connects anew.", '"CONN_MAX_AGE": None', "jobs.W002"),
        (not options.get("prepare_threshold"), "Each claim is planned anew.", '"prepare_threshold": 2', "jobs.W003"),
    ):
        if missed:
            where = 'DATABASES["default"]' if "CONN" in hint else 'the OPTIONS of DATABASES["default"]'
            yield Warning(message, hint=f"Add {hint} to {where}.", id=identity)


@registered(TAG)
def known_names() -> Iterator[CheckMessage]:
    """A misspelt setting would have no effect."""
    known = {*ALL_SETTINGS, *OTHERS}
    for name in dir(project):
        if name.startswith("JOBS_") and name not in known:
            alike = get_close_matches(name, known, 1)
            hint = f"Did you mean {alike[0]}?" if alike else "Remove it; jobs/conf.py lists all settings."
            yield Warning(f"{name} is no setting of the scheduler.", hint=hint, id="jobs.W005")


@registered(TAG)
def changes_are_audited() -> Iterator[CheckMessage]:
    """Without an actor, changes in the admin are not in the audit log."""
    if "tenants.middleware.audited" not in project.MIDDLEWARE:
        yield Warning(
            "The audit log does not hear who changes something.",
            hint='Add "tenants.middleware.audited" to MIDDLEWARE, after AuthenticationMiddleware.',
            id="jobs.W007",
        )


from jobs.checks import brokers, caches  # noqa: E402, F401 - register their checks, by what is above
