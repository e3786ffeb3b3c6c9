"""Checks of the ways to the database, once the models are loaded."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DEFAULT_DB_ALIAS, connections, router, transaction

from jobs import store
from jobs.checks import TAG, registered
from jobs.routing import is_ours


@registered(TAG)
def routers() -> Iterator[CheckMessage]:
    """The engine's statements go to one database. A replica is late, and so is what the ORM reads there."""
    ours = [model for model in apps.get_models() if is_ours(model)]
    used = {way(model) for model in ours for way in (router.db_for_read, router.db_for_write)}
    if used != {DEFAULT_DB_ALIAS}:
        yield Error(
            f"DATABASE_ROUTERS send the models of jobs to {', '.join(sorted(used))}.",
            hint='Begin DATABASE_ROUTERS with "jobs.routing.Primary".',
            id="jobs.E016",
        )


@register(Tags.database)
def isolation(
    *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Our guards look again at a row that somebody has changed meanwhile; at another level the statement fails."""
    if DEFAULT_DB_ALIAS not in (databases or ()) or connections[DEFAULT_DB_ALIAS].vendor != "postgresql":
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
