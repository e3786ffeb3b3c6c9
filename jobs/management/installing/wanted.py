"""Find what the project lacks, from the messages of the system checks; with the lines of settings for each."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pkgutil import walk_packages

from django.apps import apps
from django.conf import settings as project
from django.core.checks import CheckMessage, run_checks
from django.db import DEFAULT_DB_ALIAS

from jobs import worker
from jobs.celery import celery_app, is_configured
from jobs.checks import TAG

TABLE = """CACHES["jobs"] = {  # or a Redis; then: manage.py createcachetable
    "BACKEND": "django.core.cache.backends.db.DatabaseCache",
    "LOCATION": "jobs_cache",
    "OPTIONS": {"MAX_ENTRIES": 100_000},  # the default, 300, drops many early
}
JOBS_CACHE = "jobs\""""
POSTGRESQL = """DATABASES["default"] = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": "PROJECT",  # and HOST, USER, PASSWORD, unless libpq has them
    "CONN_MAX_AGE": None,
    "OPTIONS": {"prepare_threshold": 2},
}"""
# The lines of settings that fix what a check found, by its id, in their order in the module. Others have only a hint.
LINES = {
    "jobs.E024": 'INSTALLED_APPS = [*INSTALLED_APPS, "tenants"]',
    "jobs.W010": 'INSTALLED_APPS = [*INSTALLED_APPS, "django.contrib.postgres"]',
    "shared": "",  # made of the missing apps
    "jobs.W007": 'MIDDLEWARE = [*MIDDLEWARE, "tenants.middleware.audited"]',
    "jobs.E026": 'MIDDLEWARE = [*MIDDLEWARE, "django.contrib.messages.middleware.MessageMiddleware"]',
    "jobs.E008": "USE_TZ = True",
    "jobs.E001": POSTGRESQL,
    "jobs.E027": 'DATABASES["default"]["AUTOCOMMIT"] = True',
    "jobs.W011": 'DATABASES["default"].pop("TIME_ZONE")',
    "jobs.W002": 'DATABASES["default"]["CONN_MAX_AGE"] = None',
    "jobs.W003": 'DATABASES["default"].setdefault("OPTIONS", {})["prepare_threshold"] = 2',
    "jobs.E016": 'DATABASE_ROUTERS = ["jobs.routing.Primary", *DATABASE_ROUTERS]',
    "jobs.W001": TABLE,
    "jobs.W006": TABLE,
    "jobs.E019": TABLE,
    "broker": 'CELERY_BROKER_URL = "postgresql://"',
}
NO_BROKER = "No broker is set. The database can be the broker; or give a redis:// or amqp:// address."


@dataclass(frozen=True)
class SetupStep:
    """Something that the project lacks.

    id: the id of the check
    why: the reason
    hint: what to do
    lines: the lines of settings; "" if only the hint says what to do
    """

    id: str
    why: str
    hint: str
    lines: str


def wanted(*, server: bool) -> list[SetupStep]:
    """Return what is missing, in the order of its settings. Raises nothing.

    server: whether PostgreSQL answers, so that the checks of the database can run
    """
    package = project.SETTINGS_MODULE.partition(".")[0]
    steps = [
        SetupStep(
            message.id or "",
            message.msg,
            message.hint or "",
            LINES.get(message.id or "", "").replace("PROJECT", package),
        )
        for message in _messages(server)
    ]
    if any(step.id == "jobs.E001" for step in steps):  # its lines contain the lines of these
        steps = [step for step in steps if step.id not in ("jobs.W002", "jobs.W003")]
    elif not server:
        steps.append(
            SetupStep("server", "PostgreSQL does not answer, so the checks of the database did not run.", "", "")
        )
    if not broker():
        steps.append(SetupStep("broker", NO_BROKER, "", LINES["broker"]))
    steps += [*_shared_apps(), *_worker()]
    order = list(LINES)
    return sorted(steps, key=lambda step: order.index(step.id) if step.id in order else len(order))


def _shared_apps() -> Iterator[SetupStep]:
    """Yield the apps that SHARED_APPS lacks: django-tenants makes shared tables for the apps in it alone."""
    shared = getattr(project, "SHARED_APPS", None)
    if shared is not None:
        there = {name.partition(".apps.")[0] for name in shared}  # an app may be named by its configuration
        lacking = [f'"{app}"' for app in ("django.contrib.postgres", "tenants", "jobs") if app not in there]
        if lacking:
            lines = f"SHARED_APPS = [*SHARED_APPS, {', '.join(lacking)}]"
            yield SetupStep("shared", "The tables of jobs belong to no single tenant's schema.", "", lines)


def _worker() -> Iterator[SetupStep]:
    """Import the modules of a worker. An import fails if an installed package has an unsuitable version."""
    if not apps.is_installed("tenants"):  # no model of ours can be imported
        return
    why = ""
    for _, name, _ in walk_packages(worker.__path__, f"{worker.__name__}."):
        try:
            import_module(name)
        except Exception as error:
            why = why or f"{type(error).__name__}: {error}"
    if why:
        hint = "Install a version of the named package that jobs work with; pip check may name it."
        yield SetupStep("worker", f"A worker could not start: {why}.", hint, "")


def _messages(server: bool) -> Iterator[CheckMessage]:
    loadable = ["urls"] if apps.is_installed("tenants") else []  # a module of addresses may import pages of ours
    for tag in (TAG, "tenants", "models", *loadable, *(["database"] if server else [])):
        try:
            databases = [DEFAULT_DB_ALIAS] if server else None
            messages = run_checks(tags=[tag], databases=databases, include_deployment_checks=True)
        except Exception as error:  # any check may fail, also one of another package
            yield CheckMessage(30, f"The checks of {tag} could not run: {type(error).__name__}: {error}", id=tag)
            continue
        yield from (
            message
            for message in messages
            if (message.id or "").startswith(("jobs.", "tenants.")) and not message.is_silenced()
        )


def broker() -> str:
    """Return the address of the broker that the project sets; "" if it sets none.

    Celery would then try a RabbitMQ on this host.
    """
    address = os.environ.get("CELERY_BROKER_URL") or getattr(project, "CELERY_BROKER_URL", "")
    return str(address or (is_configured() and celery_app().conf.broker_url) or "")
