"""The side that a tenant leaves: close it, write its file, give it up; or take it back."""

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from jobs.calls.refusals import InvalidRequest
from jobs.engine.door import dispatch
from jobs.engine.moving import file, schedules, words
from jobs.engine.moving.tables import MOVES
from jobs.engine.verbs.limits import locked_slots
from jobs.engine.verbs.limits import store as store_limits
from jobs.lifecycle import Status
from jobs.models import AnyJob, Job, WebhookEndpoint
from jobs.store import database_now, moving, results
from tenants.models import Change, Member, Moving, Tenant, TenantMove, TenantQueue
from tenants.moving import present_move

LOOK_SECONDS = 0.5  # between two looks whether its jobs have ended
MOST_LISTED = 5  # jobs
NOT_HANDED_OUT = {"tenants_apikey", "webhook_endpoints", "kept_answers", "changes"}
LIMITS_NOT_MOVED = {"id", "tenant", "moving", "paused"}


class StillRunning(InvalidRequest):
    """Jobs of the closed tenant still run. It stays closed; the export may be repeated."""


def close(tenant: Tenant, address: str) -> TenantMove:
    """Let the tenant start no jobs and take none from outside, until it is opened, here or there.

    Its running jobs go on; those with checkpoints are asked to give their slots back. Raises InvalidRequest.
    """
    address = address.rstrip("/")
    if not address.startswith(("https://", "http://")):
        raise InvalidRequest("to", "must be the address of the other installation, such as https://b.example.com")
    with transaction.atomic():
        row = locked_slots(tenant)
        move = present_move(tenant.pk)
        if row.moving == "":
            move = TenantMove.objects.create(tenant=tenant, move=uuid.uuid4(), address=address, was_paused=row.paused)
            schedules.stop(tenant.pk)
            _set(row, Moving.CLOSING, paused=True)
        elif move is None or row.moving not in (Moving.CLOSING, Moving.EXPORTED):
            raise InvalidRequest("tenant", _why_not(row.moving, move))
        elif move.address != address:
            raise InvalidRequest("to", f"the tenant is on its way to {move.address}; --abort takes that back")
    return move


def close_and_write(
    tenant: Tenant, address: str, path: Path, seconds: float, tell: Callable[[str], None]
) -> Counter[str]:
    """Close the tenant, wait until none of its jobs runs, and write its file; return the number of rows of each table.

    It may be repeated, after whatever failure: the tenant stays closed, and the file is written anew.

    seconds: how long to wait. Raises StillRunning then.
    tell: shows a person, in words, what this waits for.
    """
    move = close(tenant, address)
    _wait(tenant, time.monotonic() + seconds, tell)
    # A sender that has an endpoint now changes nothing any more; what it has posted may be posted there again.
    WebhookEndpoint.objects.filter(tenant=tenant).update(
        turn=F("turn") + 1, taken_until=datetime.max.replace(tzinfo=UTC)
    )
    move.key = words.new_key()  # of this file: a receipt for an older one is refused
    counts, waiting = _write(tenant, path, move)
    with transaction.atomic():
        row = locked_slots(tenant)
        if row.moving not in (Moving.CLOSING, Moving.EXPORTED):
            path.unlink()
            raise InvalidRequest("tenant", "was taken back, or given up, while its file was written")
        _set(row, Moving.EXPORTED, paused=True)
        # Afterwards: what the audit log has since then is a change that the file does not have.
        TenantMove.objects.filter(pk=move.pk).update(key=move.key, waiting=waiting, at=Now())
    return counts


def copy(tenant: Tenant, path: Path) -> Counter[str]:
    """Write the tenant's data and close nothing; return the number of rows of each table. It moves nowhere."""
    return _write(tenant, path, None)[0]


def take_back(tenant: Tenant) -> None:
    """Open the tenant here again, instead of there. Raises InvalidRequest if it was given up, or does not move."""
    with transaction.atomic():
        row = locked_slots(tenant)
        move = present_move(tenant.pk)
        if move is None or row.moving not in (Moving.CLOSING, Moving.EXPORTED):
            raise InvalidRequest("tenant", _why_not(row.moving, move))
        WebhookEndpoint.objects.filter(tenant=tenant).update(taken_until=None)
        schedules.go_on(tenant.pk)
        _set(row, "", paused=move.was_paused)


def give_up(tenant: Tenant, receipt: str) -> str:
    """Give the tenant up for good, against the receipt of the installation that has its rows; return the opening word.

    Its jobs and all that would act here are deleted; its history stays. Raises InvalidRequest.
    """
    with transaction.atomic():
        row = locked_slots(tenant)
        move = present_move(tenant.pk)
        if move is None or row.moving not in (Moving.EXPORTED, Moving.MOVED):
            raise InvalidRequest("tenant", _why_not(row.moving, move))
        if not words.is_receipt(move.key, receipt):
            raise InvalidRequest("receipt", "is not what `manage.py tenants import` printed for the last file")
        if row.moving == Moving.MOVED:
            if receipt != move.receipt:
                raise InvalidRequest("receipt", "is of another installation than the one that got the tenant")
            return words.opening(move.key, receipt)  # again
        _refuse_changes(move)
        moving.depart([table for table in MOVES if table.goes], tenant.pk)
        TenantMove.objects.filter(pk=move.pk).update(receipt=receipt)
        _set(row, Moving.MOVED, paused=True)
    return words.opening(move.key, receipt)


def _refuse_changes(move: TenantMove) -> None:
    """Raise InvalidRequest if the tenant has changed since its file was written: that would be lost."""
    tenant = {"tenant_id": move.tenant_id}
    by_people = Change.objects.filter(**tenant, at__gt=move.at)
    by_code = AnyJob.objects.filter(**tenant, status=Status.CANCELLED, reason=None, end_time__gt=move.at)
    waiting = Job.objects.filter(**tenant, end_time=None).count()
    if move.waiting is None or waiting > move.waiting or by_people.exists() or by_code.exists():
        raise InvalidRequest("tenant", "was changed here after its file was written: export and import it again")


def _set(row: TenantQueue, state: str, *, paused: bool) -> None:
    row.moving, row.paused = state, paused
    store_limits(row, ["moving", "paused"])


def _wait(tenant: Tenant, until: float, tell: Callable[[str], None]) -> None:
    """Wait until no transaction can bring a job any more, no job runs, and the door has heard of all that ended."""
    writers, told = moving.writers_of_jobs(), ""
    while True:
        writers &= moving.writers_of_jobs()
        jobs, news = moving.under_way_of_tenant(tenant.pk)
        if not writers and not jobs and not news:
            return
        listed = ", ".join(map(str, jobs[:MOST_LISTED])) + (", ..." if len(jobs) > MOST_LISTED else "")
        why = f"{len(jobs)} jobs run: {listed}" if jobs else "others have not committed what they submitted"
        if news and not jobs:
            dispatch.dispatch()
            why = "the news of its last ends is read"
        if time.monotonic() > until:
            remedy = "It stays closed: repeat this command, cancel those jobs, or take it back with --abort"
            raise StillRunning("tenant", f"{why}. {remedy}")
        if why != told:
            tell(f"Waiting: {why}.")
            told = why
        time.sleep(LOOK_SECONDS)


def _write(tenant: Tenant, path: Path, move: TenantMove | None) -> tuple[Counter[str], int]:
    """Write the file; return the number of rows of each table, and how many of its jobs have not ended."""
    with moving.snapshot():
        waiting = Job.objects.filter(tenant=tenant, end_time=None).count()
        return file.write(path, _head(tenant, move), _rows(tenant) if move else _without_secrets(tenant)), waiting


def _head(tenant: Tenant, move: TenantMove | None) -> dict[str, Any]:
    limits = TenantQueue.of(tenant)
    fields = [field for field in TenantQueue._meta.concrete_fields if field.name not in LIMITS_NOT_MOVED]
    members = Member.objects.filter(tenant=tenant).select_related("user")
    head = {
        "tenant": {"slug": tenant.jobs_slug, "name": tenant.jobs_name},
        "written_at": database_now().isoformat(),
        "limits": {field.name: field.value_from_object(limits) for field in fields},
        "members": sorted(member.user.get_username() for member in members),
        "used": moving.read_book(tenant.pk),
    }
    if move is not None:
        head["move"] = {
            "id": str(move.move),
            "to": move.address,
            "was_paused": move.was_paused,
            "key": move.key,
        }
    return head


def _rows(tenant: Tenant) -> Iterator[tuple[str, str]]:
    for table in MOVES:
        yield from ((table.name, row) for row in moving.read_rows(table, tenant.pk))
    yield from (("results", row) for row in results.carried(tenant.pk))


def _without_secrets(tenant: Tenant) -> Iterator[tuple[str, str]]:
    """Return the rows for a person: without what opens doors, and without what operators did."""
    yield from ((table, row) for table, row in _rows(tenant) if table not in NOT_HANDED_OUT)


def _why_not(state: str, move: TenantMove | None) -> str:
    address = "another installation" if move is None else move.address
    reasons: dict[str, str] = {
        Moving.MOVED: f"has moved to {address} for good; to have it here again, export it there",
        Moving.ARRIVED: "has come and waits for its opening word: `manage.py tenants open`",
        Moving.CLOSING: f"is on its way to {address}, and its file is not written yet: export it again",
        Moving.EXPORTED: f"is on its way to {address}",
    }
    return reasons.get(state, "does not move")
