"""System checks of the settings that the scheduler needs. Each has an id, and a hint: the remedy.

`manage.py` runs them by itself. A worker refuses to start with an error; a web process that shall do so calls
`refuse_unsafe_start`. They need only the settings, no loaded apps.
"""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from ipaddress import ip_network
from typing import NoReturn

import psycopg
from django.apps import apps
from django.conf import settings as project
from django.core.checks import run_checks
from django.db import connection

from jobs.celery import is_configured
from jobs.conf import ALL_SETTINGS, settings
from plumbing.faults import NOT_POSTGRESQL, POSTGRESQL_HINT, Fault, check, engine, on_postgresql

TAG = "jobs"
OTHERS = {"JOBS_PREFIX", "JOBS_MEMBERSHIP"}  # settings of the app `tenants`
OTHERS |= {f"JOBS_TENANT_{name}" for name in ("MODEL", "MIRROR", "NAME", "SLUG")}
TOKEN_LENGTH = 32  # characters
OBJECTIVES = (0.95, 0.9999)  # the least and the greatest share of attempts that shall keep their wait targets
METRICS_TENANTS = 200  # at most, at /metrics/tenants


def refuse_unsafe_start(*tags: str) -> None:
    """Refuse to start if a check fails with an error.

    tags: the tags of further checks.
    """
    messages = run_checks(tags=[TAG, *tags])
    errors = sorted(str(message) for message in messages if message.is_serious() and not message.is_silenced())
    if errors:
        refuse_to_start("\n".join(["Refused to start:", *errors]))


def refuse_to_start(why: str) -> NoReturn:
    """End this process with that text on stderr and status 78 (EX_CONFIG): a restart would not help."""
    sys.stderr.write(f"{why}\n")
    raise SystemExit(os.EX_CONFIG)


def refuse_shared_sessions() -> None:
    """Refuse to start behind a pooler that lends one session to many clients, a transaction at a time.

    A variable that a body sets would reach the next tenant's body. A lock of the clock would reach the next client.
    """
    parameters = connection.get_connection_params()
    with (
        suppress(psycopg.Error),  # out of reach: the process that starts tries again
        psycopg.connect(**parameters, autocommit=True) as first,
        psycopg.connect(**parameters) as second,
    ):
        backends = {session.execute("SELECT pg_backend_pid()").fetchone() for session in (first, second)}
        if len(backends) == 1:
            refuse_to_start(
                "A pooler in transaction mode stands before the database: two sessions share one of PostgreSQL's. Let "
                "DATABASE_URL lead to the server itself, or to a pooler in session mode; a web process may keep it, "
                "with the server's own address beside it, DATABASE_DIRECT_URL"
            )


@check("jobs.E024")
def both_apps() -> Iterator[Fault]:
    """The models of jobs refer to tenants."""
    if apps.apps_ready and not apps.is_installed("tenants"):  # a web process may ask before they are loaded
        hint = 'Add "tenants" to INSTALLED_APPS.'
        yield 'INSTALLED_APPS has "jobs" without "tenants", so there are no jobs.', hint


@check("jobs.W010")
def django_postgres() -> Iterator[Fault]:
    """Django wants the app of its PostgreSQL fields. From 6 on it has an error for each of our fields that it knows."""
    if apps.apps_ready and not apps.is_installed("django.contrib.postgres"):
        hint = 'Add "django.contrib.postgres" to INSTALLED_APPS; Django 6 requires it.'
        yield 'INSTALLED_APPS has no "django.contrib.postgres", whose fields jobs have.', hint


@check("jobs.E001")
def postgresql() -> Iterator[Fault]:
    """Slots, the door and the claim need PostgreSQL."""
    if not on_postgresql():
        yield NOT_POSTGRESQL, POSTGRESQL_HINT


@check("jobs.E002")
def numbers() -> Iterator[Fault]:
    """Refuse senseless numbers, such as a beat every 0 seconds or results of NaN bytes, before any process starts."""
    for name, setting in ALL_SETTINGS.items():
        if not isinstance(setting.default, int | float):
            continue
        number = getattr(settings, name)
        is_number = isinstance(number, int | float) and math.isfinite(number)
        if not is_number or number < 0 or (number == 0 and not setting.zero):
            wanted = "0 or greater" if setting.zero else "greater than 0"
            yield f"{name} is {number!r}.", f"Set {name} to a number {wanted}."


@check("jobs.E031")
def wait_objective() -> Iterator[Fault]:
    """If a lower share sufficed, not even misses alone would burn fast; at 1, a single miss would."""
    least, most = OBJECTIVES
    number = settings.JOBS_WAIT_OBJECTIVE
    if isinstance(number, int | float) and (0 < number < least or most < number < math.inf):  # or E002 tells
        hint = f"Set JOBS_WAIT_OBJECTIVE from {least} to {most}, such as 0.99; for a lower one set longer targets."
        yield f"JOBS_WAIT_OBJECTIVE is {number!r}.", hint


@check("jobs.E003")
def webhook() -> Iterator[Fault]:
    """Messages to another kind of address would never arrive, without a sign."""
    if settings.JOBS_DEATH_WEBHOOK and not settings.JOBS_DEATH_WEBHOOK.startswith(("https://", "http://")):
        hint = "Set JOBS_DEATH_WEBHOOK to https://host/path, or unset it."
        yield "JOBS_DEATH_WEBHOOK is not an http:// or https:// URL.", hint  # it is a secret, so it is not shown


@check("jobs.E025")
def webhook_networks() -> Iterator[Fault]:
    """A mistake would show only when a tenant's first message is posted."""
    for net in settings.JOBS_WEBHOOK_NETWORKS:
        try:
            ip_network(net)
        except ValueError:
            hint = "Set JOBS_WEBHOOK_NETWORKS to networks such as 10.1.0.0/16, or unset it."
            yield f"JOBS_WEBHOOK_NETWORKS has {net!r}, which is no network.", hint


@check("jobs.E011")
def links() -> Iterator[Fault]:
    """Every job would link the same trace without the placeholder, and a link with another scheme could be code."""
    url = settings.JOBS_TRACE_URL
    if url and not (url.startswith(("https://", "http://")) and "{trace_id}" in url):
        hint = "Set JOBS_TRACE_URL to https://host/trace/{trace_id}, as your tracing system has it, or unset it."
        yield f"JOBS_TRACE_URL is {url!r}, not an http:// or https:// URL with {{trace_id}} in it.", hint
    url = settings.JOBS_DOCS_URL
    if url and (not url.startswith(("https://", "http://")) or url.endswith((".md", ".html"))):
        hint = "Set JOBS_DOCS_URL to the folder of the site of `make docs`, like https://host/docs, or unset it."
        yield f"JOBS_DOCS_URL is {url!r}, not the http:// or https:// URL of the documentation's site.", hint


@check("jobs.E004")
def metrics_token() -> Iterator[Fault]:
    """A short token can be guessed, since nothing limits the number of tries."""
    if 0 < len(settings.JOBS_METRICS_TOKEN) < TOKEN_LENGTH:
        hint = "Set JOBS_METRICS_TOKEN to the output of: openssl rand -hex 32. Unset, only this machine may ask."
        yield f"JOBS_METRICS_TOKEN is shorter than {TOKEN_LENGTH} characters.", hint


@check("jobs.E010")
def metrics_of_few_tenants() -> Iterator[Fault]:
    """Each tenant is a label's value, and Prometheus keeps all that it ever saw."""
    if len(settings.JOBS_METRICS_TENANTS) > METRICS_TENANTS:
        hint = f"Name at most {METRICS_TENANTS} in JOBS_METRICS_TENANTS; the pages under /ops/ show all."
        yield f"JOBS_METRICS_TENANTS names {len(settings.JOBS_METRICS_TENANTS)} tenants.", hint


@check("jobs.E005")
def celery_is_configured() -> Iterator[Fault]:
    """Jobs need the additions to the workers and their settings; without them none would run, or some twice."""
    if not is_configured():
        hint = "Make an app for jobs, call jobs.celery.configure(app), and import that module in the __init__.py of "
        hint += "the project's package. manage.py jobs install --check writes the lines."
        yield "Celery's app does not carry jobs.", hint


@check("jobs.E007")
def sessions_of_their_own() -> Iterator[Fault]:
    """The engine opens sessions beside Django's, with other options; a pool would hand one out as the other."""
    of_others = any("pool" in kind.__module__ for kind in engine().__mro__)  # as django-db-geventpool's
    if of_others or project.DATABASES["default"].get("OPTIONS", {}).get("pool"):
        hint = 'Remove "pool" from the OPTIONS of DATABASES["default"], or take an ENGINE that has none, and set its '
        hint += "CONN_MAX_AGE to None."
        yield "The database connections come from a pool in the process.", hint


@check("jobs.E027")
def statements_commit() -> Iterator[Fault]:
    """Django cannot tell when a transaction ends without AUTOCOMMIT: it refuses on_commit, which a dispatch uses."""
    if not project.DATABASES["default"].get("AUTOCOMMIT", True):
        yield "AUTOCOMMIT of the database is off.", 'Remove "AUTOCOMMIT" from DATABASES["default"].'


@check("jobs.E008")
def times_have_zones() -> Iterator[Fault]:
    """A moment without a time zone cannot be compared with the database's clock."""
    if not project.USE_TZ:
        yield "USE_TZ is False.", "Set USE_TZ to True."


@check("jobs.W011")
def the_database_tells_utc() -> Iterator[Fault]:
    """The pages say that their times are in UTC."""
    if (zone := project.DATABASES["default"].get("TIME_ZONE")) not in (None, "UTC"):
        yield f"The database returns times in {zone}.", 'Remove "TIME_ZONE" from DATABASES["default"].'


@check("jobs.W002")
def connections_last() -> Iterator[Fault]:
    """A new connection costs milliseconds at every job, but changes no outcome. Other databases have other options."""
    if on_postgresql() and project.DATABASES["default"].get("CONN_MAX_AGE", 0) == 0:
        yield "Each request opens a new connection.", 'Add "CONN_MAX_AGE": None to DATABASES["default"].'


@check("jobs.W003")
def plans_last() -> Iterator[Fault]:
    """A new plan costs milliseconds, too."""
    if on_postgresql() and not project.DATABASES["default"].get("OPTIONS", {}).get("prepare_threshold"):
        hint = 'Add "prepare_threshold": 2 to the OPTIONS of DATABASES["default"].'
        yield "PostgreSQL plans each claim anew.", hint


@check("jobs.W005")
def known_names() -> Iterator[Fault]:
    """A misspelt setting would have no effect."""
    known = {*ALL_SETTINGS, *OTHERS}
    for name in dir(project):
        if name.startswith("JOBS_") and name not in known:
            alike = get_close_matches(name, known, 1)
            hint = f"Did you mean {alike[0]}?" if alike else "Remove it; jobs/conf.py lists all settings."
            yield f"{name} is no setting of the scheduler.", hint


@check("jobs.W007")
def changes_are_audited() -> Iterator[Fault]:
    """Without an actor, changes in the admin are not in the audit log."""
    if "tenants.middleware.audited" not in project.MIDDLEWARE:
        hint = 'Add "tenants.middleware.audited" to MIDDLEWARE, after AuthenticationMiddleware.'
        yield "The audit log does not know who changes something.", hint


from jobs.checks import brokers, caches  # noqa: E402, F401 - they register their checks, with the names above
