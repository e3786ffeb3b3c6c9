"""Forecasts of when waiting jobs start, the predictions that were made, and their accuracy. See docs/insight.md.

The recorder writes all of these tables. References are plain numbers, so that nothing here keeps a row
of another table.
"""

from django.db import models
from django.db.models import Q

from plumbing.names import named


class Forecast(models.Model):
    """The starts of jobs at some places in line: in a lane, or of one user in it if its tenant limits its users.

    places: in the order of the line, a list for each: place (job_place), p50, p90, "not before", and the reason why one
    of these is missing. Moments are seconds from made_at.
    reason: why the whole lane has no forecast.
    """

    pk = models.CompositePrimaryKey("tenant_id", "queue_id", "user_key")
    tenant_id = models.BigIntegerField()
    queue_id = models.BigIntegerField()
    user_key = models.CharField(max_length=101)  # "": of all; "@ada": of that user; "@": of jobs without a user
    made_at = models.DateTimeField()
    reason = models.CharField(max_length=20)
    places = models.JSONField()

    class Meta:
        db_table = named("forecasts")


class Prediction(models.Model):
    """The prediction of a job's start, to be compared with the start. Times are seconds from made_at.

    kind: its class.
    raw_*: before the calibration.
    said_*: after the calibration. A class that shows less than both moments keeps them, too.
    ahead_*, past_*: the baselines, by the jobs ahead (their mean run time, the tenant's slots), and by the lane's last
    waits.
    started: when the job started.
    held_*: whether it started by that moment. Null: not known.
    void: no outcome counts, since a person changed what the job waited for, or cancelled it.
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
    """The number of predictions with one reason, since the first: it only grows."""

    reason = models.CharField(max_length=20, primary_key=True)
    predictions = models.BigIntegerField()

    class Meta:
        db_table = named("prediction_totals")


class Calibration(models.Model):
    """The calibration factor of a class and a quantile.

    log: its logarithm.
    outcomes: the number of outcomes so far.
    held: the part of the last predictions that held.
    """

    pk = models.CompositePrimaryKey("kind", "quantile")
    kind = models.CharField(max_length=30)
    quantile = models.FloatField()
    log = models.FloatField()
    outcomes = models.IntegerField()
    held = models.FloatField()

    class Meta:
        db_table = named("calibrations")
