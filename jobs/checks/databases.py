"""Checks of the ways to the database, once the models are loaded."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, router, transaction

from jobs import store
from jobs.checks import TAG, registered
from jobs.store.routing import is_ours


@registered(TAG)
def routers() -> Iterator[CheckMessage]:
    """The engine's statements go to one database. A replica is late, and so is what the ORM reads there."""
    ours = [model for model in apps.get_models() if is_ours(model)]
    used = {way(model) for model in ours for way in (router.db_for_read, router.db_for_write)}
    if used != {DEFAULT_DB_ALIAS}:
        yield Error(
            f"DATABASE_ROUTERS send the models of jobs to {', '.join(sorted(used))}.",
            hint='Begin DATABASE_ROUTERS with "jobs.store.routing.Primary".',
            id="jobs.E016",
        )


def _is_asked(databases: Sequence[str] | None) -> bool:
    return DEFAULT_DB_ALIAS in (databases or ()) and connections[DEFAULT_DB_ALIAS].vendor == "postgresql"


@register(Tags.database)
def isolation(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Our guards look again at a row that somebody has changed meanwhile; at another level the statement fails."""
    if not _is_asked(databases):
        return []
    with transaction.atomic(using=DEFAULT_DB_ALIAS):
        level = store.isolation()
    if level == "read committed":
        return []
    hint = (
        'Remove "isolation_level" from the OPTIONS of DATABASES["default"], and add to their "options": '
        "-c default_transaction_isolation=read\\ committed (behind a pooler: ALTER ROLE ... SET it)."
    )
    return [Error(f"Transactions are {level}, and jobs need read committed.", hint=hint, id="jobs.E017")]


@register(Tags.database)
def numbers(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """After a failover or a restore no number of a job may come again: bodies, messages and results may know it."""
    if not _is_asked(databases):
        return []
    try:
        with transaction.atomic(using=DEFAULT_DB_ALIAS):
            known = store.numbers()
    except DatabaseError:  # no tables yet, a standby, or a provider that keeps from us which server it is
        return []
    command = "manage.py jobs skip-numbers"
    if known.greatest is not None and known.greatest > (known.given or 0):
        told = f"The next job would get number {(known.given or 0) + 1:,}, and there is job {known.greatest:,}."
        return [Error(told, hint=f"Type: {command}", id="jobs.E018")]
    if not known.server_known:
        told = "This PostgreSQL was promoted or restored, and may give jobs numbers that others have had before."
        hint = f"Start a worker, whose clock skips numbers; or type: {command}"
        return [Warning(told, hint=hint, id="jobs.W009")]
    return []
