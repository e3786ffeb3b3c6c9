"""Write a system check of Django as a generator of faults, under its id."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS
from django.db.utils import load_backend

Fault = tuple[str, str] | tuple[str, str, object]  # what is wrong, the remedy, and perhaps the model
Check = Callable[[], Iterator[Fault]]
NOT_POSTGRESQL = "The database is not PostgreSQL."
POSTGRESQL_HINT = (
    'Jobs need PostgreSQL as DATABASES["default"], in tests, too; not beside another default. ENGINE: '
    '"django.db.backends.postgresql" (with DATABASE_URL: postgres://user:password@host:5432/name).'
)


def check(identity: str, tag: str = "", *, deploy: bool = False) -> Callable[[Check], Check]:
    """Let Django run a generator of faults as a check with this tag. A check whose id has a W only warns.

    identity: the id of the check, such as tenants.E001.
    tag: the tag; without one, the part of the id before the dot.
        A check with the tag `database` runs when Django is asked for the checks of the default database.
    deploy: run the check only when Django is asked for the checks of a deployment.
    """
    kind = Warning if ".W" in identity else Error

    def with_tag(faults: Check) -> Check:
        def messages(
            *, app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **_: Any
        ) -> list[CheckMessage]:
            if tag == Tags.database and (DEFAULT_DB_ALIAS not in (databases or ()) or not on_postgresql()):
                return []
            return [kind(text, hint, next(iter(subject), None), identity) for text, hint, *subject in faults()]

        register(messages, tag or identity.partition(".")[0], deploy=deploy)
        return faults

    return with_tag


def on_postgresql() -> bool:
    """Return whether the default database is PostgreSQL; the backends of django-tenants and PostGIS count, too."""
    return bool(engine().vendor == "postgresql")


def engine() -> Any:
    """Return the class of the default database's connections."""
    return load_backend(settings.DATABASES["default"]["ENGINE"]).DatabaseWrapper
