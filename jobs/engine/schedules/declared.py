"""Schedules that code declares: `@job(every=..., for_each_tenant=...)` has a row for each tenant that opted in.

The code of the leader may not be the only one. While a release is rolled out or back, the other release may lead; and
another app may serve another pool. So a schedule that this code does not declare sleeps until it is declared again. It
keeps its history and the changes that people made.
"""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Case, QuerySet, Value, When
from django.db.models.functions import Now

from jobs import store, telemetry
from jobs.authoring.decorator import Spec
from jobs.calls import functions, registry
from jobs.calls.registry import Target
from jobs.engine.schedules.plan import first_due, move
from jobs.models import Schedule
from tenants.mirror import ids_of

UNDECLARED = "No code declares it any more, or not for this tenant."
FIELDS = ("every", "cron", "tz", "jitter", "catch_up", "overlap")


def declare() -> int:
    """Update the rows to match the code and the tenants that opted in; return the number of changes.

    While a module cannot be imported, its declarations are unknown: then no schedule is put to sleep.
    """
    broken = functions.discover()
    recurring = [target for target in registry.targets() if target.spec.recurs and not registry.is_inherited(target)]
    declared = {str(target): target for target in recurring if _is_possible(target)}
    asleep = 0 if broken else _put_to_sleep(Schedule.objects.exclude(name__in=declared))
    return asleep + sum(_declare(name, target) for name, target in declared.items())


def _is_possible(target: Target) -> bool:
    if not target.class_level:
        telemetry.noticed("schedule not declared", schedule=str(target), error="it is no @classmethod")
    return target.class_level


def _declare(name: str, target: Target) -> int:
    assert target.spec.for_each_tenant is not None  # noqa: S101 - for the type checker: the decorator says so
    try:
        wanted = ids_of(target.spec.for_each_tenant())
    except BaseException as error:  # the project's code, which may even exit; the present schedules go on
        telemetry.noticed("schedule not declared", schedule=name, error=type(error).__name__)
        return 0
    with transaction.atomic():
        rows = {row.tenant_id: row for row in Schedule.objects.filter(declared=True, name=name)}
        asleep = _put_to_sleep(Schedule.objects.filter(pk__in=[rows[tenant].pk for tenant in rows.keys() - wanted]))
        awake = _wake([row.pk for tenant, row in rows.items() if tenant in wanted and row.undeclared_at])
        made = _make(name, target, wanted - rows.keys())
        changed = _change(target.spec, (row for tenant, row in rows.items() if tenant in wanted))
    return asleep + awake + made + changed


def _put_to_sleep(schedules: QuerySet[Schedule]) -> int:
    """Put those of these schedules to sleep that were declared: none is due any more. Return their number.

    A reason for which a schedule has paused itself stays.
    """
    because = Case(When(paused_because="", then=Value(UNDECLARED)), default="paused_because")
    sleeping = {"next_due": None, "next_at": None, "undeclared_at": Now(), "paused_because": because}
    asleep = schedules.filter(declared=True, undeclared_at=None).update(**sleeping)
    if asleep:
        telemetry.noticed("schedules sleep: the code of this worker does not declare them", schedules=asleep)
    return asleep


def _wake(pks: list[int]) -> int:
    """Wake schedules; return their number. `_make` sets their next due times, from now on.

    A schedule that people had paused stays paused.
    """
    because = Case(When(paused_because=UNDECLARED, then=Value("")), default="paused_because")
    return Schedule.objects.filter(pk__in=pks).update(undeclared_at=None, paused_because=because)


def _make(name: str, target: Target, tenants: Iterable[int]) -> int:
    now = store.database_now()
    rule = {field: getattr(target.spec, field) for field in FIELDS}
    call = {"source_type": target.source_type, "source_method": target.method}
    made = Schedule.objects.bulk_create(
        [Schedule(tenant_id=tenant, name=name, declared=True, starts_at=now, **call, **rule) for tenant in tenants],
        ignore_conflicts=True,  # a tenant's own schedule of that name stays
    )
    fresh = list(Schedule.objects.filter(declared=True, name=name, next_at=None, paused=False, undeclared_at=None))
    _move(fresh)
    return len(made)


def _change(spec: Spec, rows: Iterable[Schedule]) -> int:
    other = [row for row in rows if any(getattr(row, field) != getattr(spec, field) for field in FIELDS)]
    for row in other:
        for field in FIELDS:
            setattr(row, field, getattr(spec, field))
    _move(other)
    return len(other)


def _move(rows: list[Schedule]) -> None:
    now = store.database_now()
    list(Schedule.objects.filter(pk__in=[row.pk for row in rows]).in_turn())
    for row in rows:
        move(row, None if row.paused else first_due(row, now))
    Schedule.objects.bulk_update(rows, [*FIELDS, "next_due", "next_at"], batch_size=1000)
