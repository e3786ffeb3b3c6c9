"""The usage of tenants, day by day in UTC, for their bills. Triggers refuse to change a day that is closed."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Q

from plumbing.names import named


class ClosedDay(models.Model):
    """A day whose usage is final. No day before the last closed one gets any usage either.

    kept: by the id of a queue, what the day is billed for: `[targeted, in_time]`, of all tenants.
    """

    day = models.DateField(primary_key=True)
    closed_at = models.DateTimeField()
    kept = models.JSONField(default=dict, db_default={})

    class Meta:
        db_table = named("closed_days")


class UsageDay(models.Model):
    """The attempts of a tenant that this day is billed for, of one job type in one queue with one outcome.

    ended_on: the day on which they ended. An attempt that was found after that day was closed has a later `day`.
    targeted, in_time: as in `Tally`.
    """

    pk = models.CompositePrimaryKey(
        "tenant_id", "day", "queue_id", "source_type", "source_method", "outcome", "ended_on"
    )
    tenant_id = models.BigIntegerField()
    day = models.DateField()
    queue_id = models.BigIntegerField()
    source_type = models.CharField(max_length=200)
    source_method = models.CharField(max_length=100)
    outcome = models.CharField(max_length=9)
    ended_on = models.DateField()
    attempts = models.BigIntegerField()
    microseconds = models.BigIntegerField()  # from start to end of each attempt, summed
    targeted = models.BigIntegerField(db_default=0)  # here and below: an older release writes none
    in_time = models.BigIntegerField(db_default=0)
    units = models.JSONField(null=True)  # what they used, by unit

    class Meta:
        db_table = named("usage_days")
        indexes = (BrinIndex(fields=["day"], name="usage_days_by_day", pages_per_range=32),)
        constraints = (
            models.CheckConstraint(condition=Q(ended_on__lte=F("day")), name="usage_days_not_ahead"),
            models.CheckConstraint(condition=Q(attempts__gt=0, microseconds__gte=0), name="usage_days_of_something"),
        )


class SlotPeak(models.Model):
    """The most slots that the recorder found in use by a tenant on this day; it looks once a minute."""

    pk = models.CompositePrimaryKey("tenant_id", "day")
    tenant_id = models.BigIntegerField()
    day = models.DateField()
    slots = models.PositiveIntegerField()

    class Meta:
        db_table = named("slot_peaks")
        indexes = (BrinIndex(fields=["day"], name="slot_peaks_by_day", pages_per_range=32),)
