"""Checks of the ways to the database, and of what it holds, once the models are loaded."""

from collections.abc import Iterator

from django.apps import apps
from django.core.checks import Tags
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, router, transaction
from django.db.migrations.recorder import MigrationRecorder

from jobs.engine import numbers as engine_numbers
from jobs.engine.numbers import Numbers
from jobs.store.routing import is_ours
from jobs.store.rows import rows
from tenants.faults import Fault, check, on_postgresql
from tenants.names import OURS, PREFIX, named

OURS_ALONE = "freed_slots"  # a table that no other app has
SKIP = "manage.py jobs skip-numbers"


@check("jobs.E016")
def routers() -> Iterator[Fault]:
    """The engine's statements go to one database. A replica is late, and so is what the ORM reads there."""
    if not on_postgresql():  # the remedy would send the models there
        return
    ours = [model for model in apps.get_models() if is_ours(model)]
    used = {way(model) for model in ours for way in (router.db_for_read, router.db_for_write)}
    if used != {DEFAULT_DB_ALIAS}:
        hint = 'Begin DATABASE_ROUTERS with "jobs.store.routing.Primary".'
        yield f"DATABASE_ROUTERS send the models of jobs to {', '.join(sorted(used))}.", hint


@check("jobs.E017", Tags.database)
def isolation() -> Iterator[Fault]:
    """Our guards look again at a row that somebody has changed meanwhile; at another level the statement fails."""
    with transaction.atomic(using=DEFAULT_DB_ALIAS), connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        (level,) = cursor.fetchone()
    if level != "read committed":
        hint = 'Remove "isolation_level" from the OPTIONS of DATABASES["default"], and add to their "options": '
        hint += "-c default_transaction_isolation=read\\ committed (behind a pooler: ALTER ROLE ... SET it)."
        yield f"Transactions are {level}, and jobs need read committed.", hint


@check("jobs.E028", Tags.database)
def encoding() -> Iterator[Fault]:
    """Another one lacks letters: a call that has one is refused, and a job whose text has one ends as an error."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        name = cursor.connection.info.parameter_status("server_encoding")
    if name != "UTF8":
        hint = "Dump it, and restore it into one of: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        yield f"The database is encoded in {name}, and texts of jobs may have any letter.", hint


@check("jobs.W012", Tags.database)
def role() -> Iterator[Fault]:
    """The clock makes partitions and drops them, and ends the sessions of frozen workers, those of who logs in."""
    for we, owner in rows("owner_of_tables", table=named("attempts")):
        yield f"Workers of {we} archive nothing: our tables belong to {owner}.", f"GRANT {owner} TO {we};"
    for we, login in rows("roles_of_session"):
        told = f"Workers that log in as {login}, and act as {we}, take back no job of one that is frozen."
        yield told, f"GRANT pg_signal_backend, pg_read_all_stats TO {we};"


@check("jobs.W018", Tags.database)
def vacuum() -> Iterator[Fault]:
    """Each claim leaves dead rows. They cost nothing as long as they are removed; and plans need fresh statistics."""
    ours = [model for label in map(named, OURS) for model in apps.get_app_config(label).get_models()]
    for table, option in rows("vacuum_off", tables=sorted({model._meta.db_table for model in ours})):
        if table:
            hint = f"ALTER TABLE {table} RESET (autovacuum_enabled);"
            yield f"Autovacuum is off for {table}, so nothing removes its dead rows.", hint
        else:
            hint = f"Set {option} = on in PostgreSQL's configuration, and reload it."
            yield f"{option} of PostgreSQL is off, so nothing removes dead rows of jobs.", hint


@check("jobs.E018", Tags.database)
def numbers() -> Iterator[Fault]:
    """After a failover or a restore no number of a job may come again: bodies, messages and results may know it."""
    known = _numbers()
    if known and _are_behind(known):
        told = f"The next job would get number {(known.given or 0) + 1:,}, and there is job {known.greatest:,}."
        yield told, f"Type: {SKIP}"
    if known and known.door_is_behind:
        yield "The door would give out versions that its books have, and find no new work.", f"Type: {SKIP}"


@check("jobs.W009", Tags.database)
def server() -> Iterator[Fault]:
    """What the next leader does, if nobody is told to."""
    known = _numbers()
    if known and not _are_behind(known) and not known.server_known:
        told = "This PostgreSQL was promoted or restored, and may give jobs numbers that others have had before."
        yield told, f"Start a worker, whose clock skips numbers; or type: {SKIP}"


def _numbers() -> Numbers | None:
    """None: no tables yet, a standby, or a provider that keeps from us which server it is."""
    try:
        with transaction.atomic(using=DEFAULT_DB_ALIAS):
            return engine_numbers.numbers()
    except DatabaseError:
        return None


def _are_behind(known: Numbers) -> bool:
    return known.greatest is not None and known.greatest > (known.given or 0)


@check("jobs.E009", Tags.database)
def free_tables() -> Iterator[Fault]:
    """Before the first `migrate`: no table of the project may have a name of ours.

    Django itself compares only the models of the project (`models.E028`), not what else the database holds.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    applied = MigrationRecorder(connection).applied_migrations().keys()
    there = connection.introspection.table_names()
    for label in set(map(named, OURS)) - {app for app, _ in applied}:
        for model in apps.get_app_config(label).get_models():
            if model._meta.managed and not model._meta.proxy and model._meta.db_table in there:
                hint = 'Set JOBS_PREFIX, for example to "scheduler_", before the first migrate.'
                yield f"There is a table {model._meta.db_table!r} already, and it is not ours.", hint, model


@check("jobs.E014", Tags.database)
def no_other_prefix() -> Iterator[Fault]:
    """Under a new one `migrate` would make a second set of tables, without a job."""
    there = connections[DEFAULT_DB_ALIAS].introspection.table_names()
    former = {table.removesuffix(OURS_ALONE) for table in there if table.endswith(OURS_ALONE)}
    if former and PREFIX not in former:
        before = " or ".join(map(repr, sorted(former)))
        hint = f"Set it to {before}: it cannot be changed after the first migrate."
        yield f"JOBS_PREFIX is {PREFIX!r}, but the jobs of this database were made under {before}.", hint


@check("jobs.E029", Tags.database)
def alone() -> Iterator[Fault]:
    """The locks of the clock and the door are those of the database: its schedulers would take them from each other."""
    for (schema,) in rows("other_schedulers", ending=OURS_ALONE):
        told = f"There are tables of jobs in the schema {schema}, too: of two schedulers one would have no clock."
        yield told, "Give each scheduler a database."
