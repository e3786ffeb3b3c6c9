"""The stacks of running bodies that operators have asked for."""

from django.db import models
from django.db.models.functions import Now

from plumbing.names import named


class Stack(models.Model):
    """A question for the stack of an attempt, and the answer of its worker. It is kept for a day.

    text: files, lines and functions, the innermost first; "": there is none.
    note: why there is none.
    """

    job_id = models.BigIntegerField()
    attempt = models.PositiveIntegerField()
    asked_at = models.DateTimeField(db_default=Now())
    answered_at = models.DateTimeField(null=True)
    text = models.TextField(default="", db_default="")
    note = models.CharField(max_length=200, default="", db_default="")

    class Meta:
        db_table = named("stacks")
        default_permissions = ()
        indexes = [models.Index(fields=["job_id"], name="stacks_of_job")]
