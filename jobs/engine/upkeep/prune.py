"""Prune: delete rows that are not needed any more, in batches, so that no table grows for ever."""

from collections.abc import Callable
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

from django.apps import apps
from django.conf import settings as project
from django.core.cache import caches
from django.core.cache.backends.db import DatabaseCache
from django.db import connections, router, transaction
from django.db.models import DurationField, Exists, ExpressionWrapper, F, Model, OuterRef, Q, QuerySet

from jobs import store, telemetry
from jobs.conf import settings
from jobs.engine.upkeep.history import DAY
from jobs.engine.verbs.cancel import cancel
from jobs.models import (
    Batch,
    BatchTally,
    BlockedLoop,
    DeathNotice,
    Job,
    JobEdge,
    JobEvent,
    JobLog,
    JobMemory,
    KeptAnswer,
    Schedule,
    ScheduleRun,
    Stack,
    WebhookEndpoint,
    WebhookHour,
    WebhookMessage,
    WhatIf,
    Worker,
)
from jobs.store import EVERY_TENANT, answers
from jobs.store.rows import rows
from tenants.models import Change
from tenants.tenant_model import all_tenants

BATCH = 1000


def prune() -> None:
    """Delete old rows of the tables beside the jobs."""
    now = store.database_now()
    kept = settings.JOBS_HISTORY_KEEP * DAY
    old = now - timedelta(seconds=kept)
    holding = Job.objects.filter(slot__isnull=False, worker=OuterRef("pk"))
    Worker.objects.filter(~Exists(holding), gone_at__lt=old).delete()
    # A notifier that returns later reports all present dead jobs once more.
    DeathNotice.objects.filter(upto__lt=old).exclude(notifier__in=settings.JOBS_DEATH_NOTIFIERS).delete()
    Schedule.objects.filter(undeclared_at__lt=old).delete()
    # A deleted tenant may have left rows of these models, too.
    for model in (Batch, JobEvent, JobLog, JobMemory, KeptAnswer, Schedule, WebhookEndpoint):
        model._default_manager.exclude(Exists(all_tenants().filter(pk=OuterRef("tenant_id")))).delete()
    endpoint = WebhookEndpoint.objects.filter(pk=OuterRef("endpoint_id"))
    WebhookMessage.objects.exclude(Exists(endpoint)).delete()  # a job may have ended while its endpoint was removed
    WebhookHour.objects.filter(hour__lt=now - timedelta(days=2)).delete()
    _delete_free(KeptAnswer.objects.filter(created_at__lt=now - timedelta(seconds=answers.TTL)))
    _delete_free(JobEvent.objects.filter(kept_until__lt=now))
    _forget_log(ScheduleRun, "at", old)  # no due time comes back: schedules only go forward (I10)
    waits = Job.objects.filter(pk=OuterRef("follower_id"), blocked_at__isnull=False)
    _delete_free(JobEdge.objects.filter(~Exists(waits)))  # their follower waits no longer, or was cancelled
    while forgotten := store.close_forgotten(settings.JOBS_DEAD_TTL, BATCH):
        telemetry.noticed("forgotten batches closed", batches=len(forgotten), first=forgotten[0])
    _all(lambda: store.forget_batches(kept, BATCH))
    BatchTally.objects.exclude(Exists(Batch.objects.filter(pk=OuterRef("pk")))).delete()
    days = ExpressionWrapper(F("tenant__jobs_queue__history_days") * timedelta(days=1), DurationField())
    _delete_free(JobLog.objects.filter(Q(at__lt=old) | Q(at__lt=now - days)))  # few job types have any
    moment = now - timedelta(days=settings.JOBS_LOGS_KEEP)
    _forget_log(Change, "at", moment)
    _forget_log(BlockedLoop, "began_at", moment)
    for asked in (WhatIf, Stack):
        _forget_log(asked, "asked_at", now - timedelta(days=1))
    if apps.is_installed("django.contrib.admin"):
        _forget_log(apps.get_model("admin", "LogEntry"), "action_time", moment)
    if apps.is_installed("django.contrib.sessions"):
        try:
            import_module(project.SESSION_ENGINE).SessionStore.clear_expired()
        except Exception as error:  # the project's code, maybe without the method: it must not end the worker
            telemetry.noticed("sessions not cleared", error=type(error).__name__)
    try:
        _forget_results(now)
    except Exception as error:  # that table may be in another database
        telemetry.noticed("results not cleared", error=type(error).__name__)


def expire_dead() -> int:
    """Delete jobs that have been dead for JOBS_DEAD_TTL seconds; return their number."""
    return _all(lambda: len(store.expire_dead(settings.JOBS_DEAD_TTL)))


def expire_memories() -> int:
    """Delete memories that were not written for JOBS_MEMORY_TTL seconds, but none that a body is writing.

    Return their number.
    """
    written = store.database_now() - timedelta(seconds=settings.JOBS_MEMORY_TTL)
    return _delete_free(JobMemory.objects.filter(touched_at__lt=written).order_by("touched_at"))


def forget_orphans() -> None:
    """End jobs whose tenant or queue was deleted while they were submitted. No worker can run them.

    Jobs of a deleted tenant are deleted, as its deletion does, and its lanes are forgotten. Jobs of a deleted queue are
    cancelled.
    """
    gone = [tenant_id for (tenant_id,) in rows("gone_tenants")]
    if gone:
        store.forget_lanes(gone)
    while orphans := list(Job.objects.filter(tenant_id__in=gone).values_list("pk", flat=True)[:BATCH]):
        Job.objects.filter(pk__in=orphans).delete()
        telemetry.noticed("jobs of deleted tenants deleted", jobs=len(orphans))
    for (job_id,) in rows("without_queue", batch=BATCH):
        cancel(job_id, tenant_id=EVERY_TENANT)
        telemetry.noticed("job of a deleted queue cancelled", job=job_id)


def _forget_results(now: datetime) -> None:
    """Delete expired rows of a cache that is a table: Django does so only when there are too many rows."""
    cache = caches[settings.JOBS_CACHE]
    if isinstance(cache, DatabaseCache):
        model = cache.cache_model_class
        session = connections[router.db_for_write(model)]
        table = session.ops.quote_name(model._meta.db_table)
        with session.cursor() as cursor:
            moment = session.ops.adapt_datetimefield_value(now)
            cursor.execute(f"DELETE FROM {table} WHERE expires < %s", [moment])  # noqa: S608 - a name of the settings


def _all(delete: Callable[[], int]) -> int:
    """Delete batch after batch, until there is none; return the number of deleted rows."""
    total = 0
    while deleted := delete():
        total += deleted
    return total


def _delete_free(unneeded: QuerySet[Any]) -> int:
    """Delete these rows in batches, without locked ones; return their number."""
    return _all(lambda: _delete(unneeded[:BATCH]))


@transaction.atomic
def _delete(unneeded: QuerySet[Any]) -> int:
    """Delete the rows that are not locked; return their number.

    To wait could deadlock: the deletion of a tenant may have locked some of them, and wait for others.
    """
    locked = [row.pk for row in unneeded.only("pk").select_for_update(skip_locked=True, of=("self",))]
    unneeded.model._default_manager.filter(pk__in=locked).delete()
    return len(locked)


def _forget_log(log: type[Model], at: str, moment: datetime) -> None:
    """Delete the oldest rows of a log. Its ids grow with time, so it needs no index on the time."""
    rows = log._default_manager.order_by("pk")
    while True:
        old = [pk for pk, written in rows.values_list("pk", at)[:BATCH] if written < moment]
        if _delete(rows.filter(pk__in=old)) < BATCH:
            break
