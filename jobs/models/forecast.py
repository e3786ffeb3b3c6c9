"""When waiting jobs start: what is said now, what was said, and how often it held. See docs/insight.md.

The recorder writes all of it. References are plain numbers, so that nothing here keeps a row of another table.
"""

from django.db import models
from django.db.models import Q

from tenants.names import named


class Forecast(models.Model):
    """Of a lane, or of one user in it if its tenant limits its users: when jobs at some places in line start.

    places: in the order of the line; of each its place (job_place), then, in seconds from made_at: p50, p90, not before
    when; and the reason why one is missing. reason: why nothing is said of the whole lane.
    """

    pk = models.CompositePrimaryKey("tenant_id", "queue_id", "user_key")
    tenant_id = models.BigIntegerField()
    queue_id = models.BigIntegerField()
    user_key = models.CharField(max_length=101)  # "": of all; "@ada": of that user; "@": of nobody
    made_at = models.DateTimeField()
    reason = models.CharField(max_length=20)
    places = models.JSONField()

    class Meta:
        db_table = named("forecasts")


class Prediction(models.Model):
    """What was said of a job, to be compared with when it started. Seconds from made_at.

    kind: its class. raw: before the calibration; said: after; both are kept for classes that say less than both, too.
    ahead, past: the baselines: jobs ahead by their mean run time and the tenant's slots; the last waits of the lane.
    started: when it did. held_50, held_90: whether it did by then; null: not known. void: nobody can tell, since a
    person changed what it waited for, or cancelled it.
    """

    job_id = models.BigIntegerField()
    made_at = models.DateTimeField()
    kind = models.CharField(max_length=30)
    reason = models.CharField(max_length=20)
    raw_50 = models.FloatField()
    raw_90 = models.FloatField()
    said_50 = models.FloatField()
    said_90 = models.FloatField()
    ahead_50 = models.FloatField(null=True)
    ahead_90 = models.FloatField(null=True)
    past_50 = models.FloatField(null=True)
    past_90 = models.FloatField(null=True)
    started = models.FloatField(null=True)
    held_50 = models.BooleanField(null=True)
    held_90 = models.BooleanField(null=True)
    void = models.BooleanField(default=False, db_default=False)

    class Meta:
        db_table = named("predictions")
        indexes = [
            models.Index(fields=["made_at"], name="predictions_by_time"),
            models.Index(fields=["job_id"], condition=Q(started__isnull=True, void=False), name="predictions_open"),
        ]


class PredictionTotal(models.Model):
    """The predictions since the first, by their reason: the numbers only grow."""

    reason = models.CharField(max_length=20, primary_key=True)
    predictions = models.BigIntegerField()

    class Meta:
        db_table = named("prediction_totals")


class Calibration(models.Model):
    """The factor of a class and a quantile: its logarithm, the outcomes so far, and the part of the last that held."""

    pk = models.CompositePrimaryKey("kind", "quantile")
    kind = models.CharField(max_length=30)
    quantile = models.FloatField()
    log = models.FloatField()
    outcomes = models.IntegerField()
    held = models.FloatField()

    class Meta:
        db_table = named("calibrations")
