"""The facts of the report about what the project has, one line each. A missing or broken thing is a line, too."""

import platform
from collections.abc import Callable
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import psycopg
from django.apps import apps
from django.conf import settings as project
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from jobs.celery import celery_app, is_configured
from jobs.conf import settings
from jobs.management.installing.host_app import host_app
from jobs.management.installing.wanted import broker
from plumbing.addresses import address

PAGES = {"jobs_ops:overview": "operators' pages", "jobs_members:jobs": "members' pages"}
OLDEST = 15  # PostgreSQL


def facts() -> list[tuple[str, str]]:
    looks: list[tuple[str, Callable[[], str]]] = [
        ("Versions", _versions),
        ("PostgreSQL", server),
        ("Tenants", lambda: getattr(project, "JOBS_TENANT_MODEL", "tenants.Tenant, the default")),
        ("Keys", lambda: f"{_last(project.DEFAULT_AUTO_FIELD)}; ours are BigAutoField, whatever yours are"),
        ("Time zones", lambda: f"USE_TZ is {project.USE_TZ}"),
        ("Cache", lambda: f"{settings.JOBS_CACHE}: {_last(project.CACHES[settings.JOBS_CACHE]['BACKEND'])}"),
        ("Broker", _broker),
        ("Celery app", _celery),
        ("Admin", _admin),
        ("Templates", _templates),
        ("Addresses", _addresses),
    ]
    return [(name, _fact(look)) for name, look in looks]


def server() -> str:
    """Return the version of PostgreSQL, and whether it compiles plans (jit)."""
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor != "postgresql":
        return f"{connection.vendor}, but jobs need PostgreSQL"
    with _session(connection) as session:
        settings = session.execute("SELECT current_setting('server_version'), current_setting('jit')")
        number, jit = settings.fetchone() or ("0", "unknown")
    old = "" if int(number.partition(".")[0]) >= OLDEST else f": too old, {OLDEST} is needed"
    return f"{number}{old}; jit is {jit}, which the engine's own sessions switch off"


def answers() -> bool:
    """Return whether the default database is a PostgreSQL that answers."""
    connection = connections[DEFAULT_DB_ALIAS]
    try:
        if connection.vendor == "postgresql":
            _session(connection).close()
            return True
    except Exception:  # whatever its library raises
        return False
    return False


def _session(connection: BaseDatabaseWrapper) -> psycopg.Connection[Any]:
    """Open a session without the project's pool, which waits half a minute for a server that does not answer."""
    return psycopg.connect(**connection.get_connection_params())


def _last(path: object) -> str:
    return str(path).rpartition(".")[2]


def _fact(look: Callable[[], str]) -> str:
    try:
        return look()
    except Exception as error:  # anything may be missing here
        return f"unknown: {type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _versions() -> str:
    names = {"Django": "Django", "Celery": "celery", "kombu": "kombu", "psycopg": "psycopg"}
    versions = [f"{name} {version(package)}" for name, package in names.items()]
    return ", ".join([f"Python {platform.python_version()}", *versions])


def _broker() -> str:
    named = broker()
    return urlsplit(named).scheme if named else "none is set"  # the scheme alone: the address may have a password


def _celery() -> str:
    if is_configured():
        return f"{celery_app().main} carries jobs"
    theirs = host_app()
    return f"{theirs.module} exists, but carries no jobs" if theirs else "none"


def _admin() -> str:
    return "has pages for queues, slots, members and keys" if apps.is_installed("django.contrib.admin") else "none"


def _templates() -> str:
    first = _last(project.TEMPLATES[0]["BACKEND"]) if project.TEMPLATES else "no engine"
    return f"{first} comes first; Django's engine renders ours, whichever is first"


def _addresses() -> str:
    if not apps.is_installed("tenants"):  # a module of addresses may import pages of ours
        return 'not known before "tenants" is in INSTALLED_APPS'
    return ", ".join(f"{what} {'included' if address(name) else 'not included'}" for name, what in PAGES.items())
