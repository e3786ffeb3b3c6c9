"""The side to which a tenant comes: check its file, store its rows, and open it."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.db import transaction

from jobs import store
from jobs.calls.refusals import InvalidRequest
from jobs.engine.moving import file, schedules, words
from jobs.engine.moving.objects import NeededObjects
from jobs.engine.moving.tables import MOVES
from jobs.engine.verbs.limits import locked_slots
from jobs.engine.verbs.limits import store as store_limits
from jobs.models import Batch, Job, Queue
from jobs.store import moving, results
from jobs.store.moving import MovedTable
from tenants.mirror import owns_tenants
from tenants.models import Change, Member, Moving, Tenant, TenantMove, TenantQueue
from tenants.moving import present_move
from tenants.tenant_model import tenant_of_slug

CELL = 10**12  # numbers of jobs: what an installation needs in its life; so each may have its own
KNOWN = {table.name: table for table in MOVES}
NUMBERED = ("jobs", "job_history", "batches")  # of one series of numbers
MOST_LISTED = 10


class TenantArrival(NamedTuple):
    """The answer to a file.

    rows: how many of each table; {}: it had come before.
    receipt: for the installation that the tenant leaves.
    strangers: the users in the file who are no members here.
    """

    tenant: Tenant
    rows: Counter[str]
    receipt: str
    strangers: list[str]


def take_in(path: Path, *, members: bool, missing: bool) -> TenantArrival:
    """Store what the file of a tenant has, in one transaction. The tenant stays closed until it is opened.

    It may be repeated: a file that has come changes nothing more, and a newer one of the same tenant replaces it.

    members: whether users of the same names here are the same people.
    missing: whether objects of its jobs may be missing here.
    Raises InvalidRequest; then nothing is stored.
    """
    head = file.read_head(path)
    if "move" not in head:
        raise InvalidRequest("file", "is a copy of a tenant's data (--copy): export the tenant with --to")
    written_at = datetime.fromisoformat(head["written_at"])
    with transaction.atomic():
        tenant = tenant_of_slug(head["tenant"]["slug"]) or _new(head)
        row = locked_slots(tenant)
        move = TenantMove.objects.filter(move=head["move"]["id"]).first()
        if move is not None and row.moving == Moving.ARRIVED and move.key == head["move"]["key"]:
            return TenantArrival(tenant, Counter(), move.receipt, [])
        _refuse_another(tenant, row, move, written_at)
        _check(path, tenant, missing=missing)
        rows = _store(path, tenant)
        moving.note_arrival(tenant.pk, head["used"])
        if sequences := set(_sequences(tenant)):
            store.note_sequences(sequences)
        receipt = words.new_receipt(head["move"]["key"])
        said = {"was_paused": head["move"]["was_paused"], "key": head["move"]["key"], "receipt": receipt}
        said["at"] = written_at
        TenantMove.objects.update_or_create(move=head["move"]["id"], defaults={"tenant": tenant, **said})
        limits = head["limits"] | {"moving": Moving.ARRIVED, "paused": True}
        for name, value in limits.items():
            setattr(row, name, value)
        store_limits(row, limits)
        strangers = _let_in(tenant, head["members"]) if members else head["members"]
    return TenantArrival(tenant, rows, receipt, strangers)


def open_tenant(tenant: Tenant, word: str) -> None:
    """Let the tenant's jobs run here. Raises InvalidRequest without the word of the installation that gave it up."""
    with transaction.atomic():
        row = locked_slots(tenant)
        move = present_move(tenant.pk)
        if row.moving not in ("", Moving.ARRIVED) or move is None or move.address:
            raise InvalidRequest("tenant", "has not come here: only what `manage.py tenants import` took in is opened")
        if not words.is_opening(move.key, move.receipt, word):
            raise InvalidRequest("word", "is not what `manage.py tenants moved` printed where the tenant was")
        if row.moving == Moving.ARRIVED:
            schedules.go_on(tenant.pk)
            row.moving, row.paused = "", move.was_paused
            store_limits(row, ["moving", "paused"])


def _new(head: file.Line) -> Tenant:
    slug = head["tenant"]["slug"]
    if not owns_tenants():
        raise InvalidRequest("tenant", f"there is no {slug!r}: add it to this project's tenant model first")
    tenant = Tenant(**head["tenant"])
    tenant.save()
    return tenant


def _refuse_another(tenant: Tenant, row: TenantQueue, move: TenantMove | None, written_at: datetime) -> None:
    """Raise InvalidRequest for a tenant that lives here, or a file that left from here, came before, or is too old."""
    if move is not None and move.address:
        raise InvalidRequest("file", "left from here: it belongs to the other installation")
    if move is not None and row.moving != Moving.ARRIVED:
        raise InvalidRequest("file", "has come before, and its tenant was opened: nothing is to be done")
    last = present_move(tenant.pk)
    if row.moving == Moving.ARRIVED and last is not None and written_at < last.at:
        raise InvalidRequest("file", "is older than the one that has come: the tenant may be given up for that one")
    if row.moving in (Moving.MOVED, Moving.ARRIVED):
        return
    if row.moving or Job.objects.filter(tenant=tenant).exists() or Batch.objects.filter(tenant=tenant).exists():
        raise InvalidRequest("tenant", f"{tenant.jobs_slug} lives here, with jobs of its own")


def _check(path: Path, tenant: Tenant, *, missing: bool) -> None:
    """Read the whole file once, and raise InvalidRequest if something stands against it."""
    limits = {field.name for field in TenantQueue._meta.concrete_fields}
    if unknown := file.read_head(path)["limits"].keys() - limits:
        raise _newer(f"the limit {min(unknown)}")
    columns = {name: moving.columns_of(table) for name, table in KNOWN.items()}
    last, ahead, queues, wanted = moving.last_number(), False, set[str](), NeededObjects(tenant.pk)
    for name, row in file.read(path):
        if name == "results":
            continue
        _refuse_strange(name, row, columns)
        if KNOWN[name].of_queue:
            queues.add(row["queue"])
        if name in NUMBERED:
            ahead |= last < row["id"] and row["id"] // CELL == last // CELL
        if name == "schedules" or (name == "jobs" and row["end_time"] is None):
            wanted.add(row)
    if ahead:
        cure = f"manage.py jobs skip-numbers --by {CELL}"
        raise InvalidRequest("file", f"has numbers that this installation would give to other jobs; first run: {cure}")
    if absent := sorted(queues - set(Queue.objects.values_list("name", flat=True))):
        listed = ", ".join(absent)
        raise InvalidRequest("queue", f"{listed} does not exist here; first run: manage.py queues add NAME")
    _refuse_missing(wanted.refused(missing=missing))


def _refuse_strange(name: str, row: file.Line, columns: dict[str, set[str]]) -> None:
    """Raise InvalidRequest for a row that this release cannot store whole."""
    if name not in KNOWN:
        raise _newer(name)
    made = {"queue"} if KNOWN[name].of_queue else set()
    if strange := {column for column in row if not column.endswith(":")} - made - columns[name]:
        raise _newer(f"{name}.{min(strange)}")


def _refuse_missing(refused: list[str]) -> None:
    if refused:
        more = len(refused) - MOST_LISTED
        listed = "; ".join(refused[:MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")
        raise InvalidRequest("objects", f"{listed}. Copy them first, or allow it: --missing-objects allow")


def _newer(what: str) -> InvalidRequest:
    return InvalidRequest("file", f"is of a newer release, which has {what}: update this installation first")


def _store(path: Path, tenant: Tenant) -> Counter[str]:
    # The tenant has moved from here before, or an older file of it has come: these rows are the newer ones.
    moving.depart([table for table in MOVES if table.name != "changes"], tenant.pk)
    queues = dict(Queue.objects.values_list("name", "pk"))
    noted = set(Change.objects.filter(tenant_id=tenant.pk).values_list("at", "verb", "kind", "subject_id"))
    now, counts = store.database_now(), Counter[str]()
    for name, lines in groupby(file.read(path), key=itemgetter(0)):
        found = (row for _, row in lines)
        if name == "results":
            for row in found:
                results.take_over(row, tenant.pk, now)
            continue
        table = KNOWN[name]
        parents = moving.names_of_parents(table.parent, tenant.pk) if table.parent else {}
        for some in _in_parts(found):
            if name in NUMBERED:
                _refuse_taken([row["id"] for row in some])
            rows = [_ours(table, row, tenant.pk, queues, parents) for row in some]
            if name == "changes":
                rows = [row for row in rows if _noted(row) not in noted]
            if rows:
                moving.write_rows(table, rows)
            counts[name] += len(rows)
    return counts


def _ours(
    table: MovedTable, row: file.Line, tenant_id: int, queues: dict[str, int], parents: dict[str, int]
) -> dict[str, Any]:
    """Return the row with the numbers of this installation."""
    row |= {name: tenant_id for name in table.tenants if row.get(name) is not None}
    if table.of_queue:
        row["queue_id"] = queues[row.pop("queue")]
    if parent := table.parent:
        row[parent.column] = parents[row.pop(f"{parent.column}:")]
    if table.name == "webhook_endpoints":
        row["taken_until"] = None
    return row


def _noted(row: file.Line) -> tuple[Any, ...]:
    return datetime.fromisoformat(row["at"]), row["verb"], row["kind"], row["subject_id"]


def _refuse_taken(ids: list[int]) -> None:
    if taken := moving.numbers_taken(ids):
        why = "both installations gave out the same numbers. Each needs its own from its first job on"
        raise InvalidRequest("file", f"has job {taken[0]}, which is another one here: {why}: docs/sizing.md")


def _in_parts(rows: Iterator[file.Line]) -> Iterator[list[file.Line]]:
    some: list[file.Line] = []
    for row in rows:
        some.append(row)
        if len(some) == moving.A_STATEMENT:
            yield some
            some = []
    if some:
        yield some


def _sequences(tenant: Tenant) -> Iterator[tuple[int, str]]:
    waiting = Job.objects.filter(tenant=tenant, blocked_at__isnull=False).exclude(sequence=None)
    for name in waiting.values_list("sequence", flat=True).distinct():
        yield tenant.pk, name or ""


def _let_in(tenant: Tenant, names: list[str]) -> list[str]:
    """Make the users of these names members, and return the names of those who cannot be."""
    users = get_user_model()
    found = users._default_manager.filter(**{f"{users.USERNAME_FIELD}__in": names})
    taken = set(Member.objects.exclude(tenant=tenant).values_list("user", flat=True))
    free = {user.get_username(): user for user in found if user.pk not in taken}
    for user in free.values():
        Member.objects.get_or_create(user=user, defaults={"tenant": tenant})
    return [name for name in names if name not in free]
