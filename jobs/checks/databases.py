"""Checks of the connections to the database and of its contents, once the models are loaded."""

from collections.abc import Iterator

from django.apps import apps
from django.core.checks import Tags
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, router, transaction
from django.db.migrations.recorder import MigrationRecorder

from jobs.calls import registry
from jobs.engine.upkeep import id_gaps as engine_ids
from jobs.engine.upkeep.id_gaps import IdCounters
from jobs.models import Pool, Queue
from jobs.routing import is_ours
from jobs.store.rows import rows
from plumbing.faults import Fault, check, on_postgresql
from plumbing.names import OURS, PREFIX, named

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
        hint = 'Begin DATABASE_ROUTERS with "jobs.routing.Primary".'
        yield f"DATABASE_ROUTERS send the models of jobs to {', '.join(sorted(used))}.", hint


@check("jobs.E017", Tags.database)
def isolation() -> Iterator[Fault]:
    """Our guards read a row again if another transaction has changed it; at another level the statement fails."""
    with transaction.atomic(using=DEFAULT_DB_ALIAS), connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SHOW transaction_isolation")
        (level,) = cursor.fetchone()
    if level != "read committed":
        hint = 'Remove "isolation_level" from the OPTIONS of DATABASES["default"], and add to their "options": '
        hint += "-c default_transaction_isolation=read\\ committed (behind a pooler: ALTER ROLE ... SET it)."
        yield f"Transactions are {level}, and jobs need read committed.", hint


@check("jobs.E028", Tags.database)
def encoding() -> Iterator[Fault]:
    """Another encoding lacks letters: it refuses a call that has one, and a job whose text has one ends as an error."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        name = cursor.connection.info.parameter_status("server_encoding")
    if name != "UTF8":
        hint = "Dump it, and restore it into one of: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        yield f"The database is encoded in {name}, and texts of jobs may have any letter.", hint


@check("jobs.W012", Tags.database)
def role() -> Iterator[Fault]:
    """The clock makes and drops partitions. It also ends the sessions of frozen workers, which the login role owns."""
    for we, owner in rows("owner_of_tables", table=named("attempts")):
        yield f"Workers of {we} cannot archive: the tables of jobs belong to {owner}.", f"GRANT {owner} TO {we};"
    for we, login in rows("roles_of_session"):
        text = f"Workers that log in as {login}, and act as {we}, cannot take back the job of a frozen worker."
        yield text, f"GRANT pg_signal_backend, pg_read_all_stats TO {we};"


@check("jobs.W018", Tags.database)
def vacuum() -> Iterator[Fault]:
    """Each claim leaves dead rows, which cost nothing if autovacuum removes them; and plans need fresh statistics."""
    ours = [model for label in map(named, OURS) for model in apps.get_app_config(label).get_models()]
    for table, option in rows("vacuum_off", tables=sorted({model._meta.db_table for model in ours})):
        if table:
            hint = f"ALTER TABLE {table} RESET (autovacuum_enabled);"
            yield f"Autovacuum is off for {table}, so nothing removes its dead rows.", hint
        else:
            hint = f"Set {option} = on in PostgreSQL's configuration, and reload it."
            yield f"{option} of PostgreSQL is off, so nothing removes dead rows of jobs.", hint


@check("jobs.W019", Tags.database)
def light_pools() -> Iterator[Fault]:
    """A light pool without threads runs only `async def`, so each submit of another job type is refused."""
    tables = connections[DEFAULT_DB_ALIAS].introspection.table_names()
    if not {Pool._meta.db_table, Queue._meta.db_table} <= {*tables}:
        return
    light = Pool.objects.filter(kind=Pool.Kind.LIGHT, threads=False).values("name")
    for queue in Queue.objects.filter(pool__in=light).order_by("name"):
        if unfit := registry.not_async([queue.name]):
            hint = f"Make them `async def`, or type: manage.py queues set {queue.name} --pool POOL, an ordinary one; "
            hint += f"or, if they only wait: manage.py queues pool {queue.pool} --threads"
            yield f"Pool {queue.pool} of queue {queue.name} is light, and refuses {', '.join(unfit)}.", hint


@check("jobs.E018", Tags.database)
def numbers() -> Iterator[Fault]:
    """No number of a job may come again after a failover or a restore: bodies, messages and results may refer to it."""
    known = _numbers()
    if known and _are_behind(known):
        text = f"The next job would get number {(known.given or 0) + 1:,}, but job {known.greatest:,} exists already."
        yield text, f"Type: {SKIP}"
    if known and known.door_is_behind:
        yield "The door would give out versions that its books already have, and find no new work.", f"Type: {SKIP}"


@check("jobs.W009", Tags.database)
def server() -> Iterator[Fault]:
    """The next leading clock skips the numbers, unless an operator does so before."""
    known = _numbers()
    if known and not _are_behind(known) and not known.server_known:
        text = "This PostgreSQL was promoted or restored, and may give jobs numbers that others have had before."
        yield text, f"Start a worker, whose clock skips numbers; or type: {SKIP}"


def _numbers() -> IdCounters | None:
    """Return the numbers; None without tables, on a standby, or if the provider hides which server it is."""
    try:
        with transaction.atomic(using=DEFAULT_DB_ALIAS):
            return engine_ids.counters()
    except DatabaseError:
        return None


def _are_behind(known: IdCounters) -> bool:
    return known.greatest is not None and known.greatest > (known.given or 0)


@check("jobs.E009", Tags.database)
def free_tables() -> Iterator[Fault]:
    """No table of the project may have a name of ours before the first `migrate`.

    Django itself compares only the models of the project (`models.E028`), not other tables in the database.
    """
    connection = connections[DEFAULT_DB_ALIAS]
    applied = MigrationRecorder(connection).applied_migrations().keys()
    there = connection.introspection.table_names()
    for label in set(map(named, OURS)) - {app for app, _ in applied}:
        for model in apps.get_app_config(label).get_models():
            if model._meta.managed and not model._meta.proxy and model._meta.db_table in there:
                hint = 'Set JOBS_PREFIX, for example to "scheduler_", before the first migrate.'
                yield f"There is a table {model._meta.db_table!r} already, and it does not belong to jobs.", hint, model


@check("jobs.E014", Tags.database)
def no_other_prefix() -> Iterator[Fault]:
    """With a new prefix, `migrate` would make a second set of tables, without a job."""
    there = connections[DEFAULT_DB_ALIAS].introspection.table_names()
    former = {table.removesuffix(OURS_ALONE) for table in there if table.endswith(OURS_ALONE)}
    if former and PREFIX not in former:
        before = " or ".join(map(repr, sorted(former)))
        hint = f"Set it to {before}: it cannot be changed after the first migrate."
        yield f"JOBS_PREFIX is {PREFIX!r}, but the jobs of this database were made under {before}.", hint


@check("jobs.E029", Tags.database)
def alone() -> Iterator[Fault]:
    """The locks of clock and door are the database's: two schedulers in it would take them from each other."""
    for (schema,) in rows("other_schedulers", ending=OURS_ALONE):
        text = f"There are tables of jobs in the schema {schema}, too: of two schedulers one would have no clock."
        yield text, "Give each scheduler a database."
