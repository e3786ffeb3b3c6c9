"""The questions of operators about other limits, and the answers. See docs/insight.md."""

from django.db import models
from django.db.models.functions import Now

from plumbing.names import named


class WhatIf(models.Model):
    """A question about other limits, and its answer.

    A process of its own answers it. If it has no `ended_at` after a while, the process was killed: it took too much.

    question, answer: documents of jobs.insight.what_if.
    refused: why there is no answer.
    """

    asked_at = models.DateTimeField(db_default=Now())
    asked_by = models.CharField(max_length=200)
    question = models.JSONField()
    answer = models.JSONField(null=True)
    refused = models.CharField(max_length=500, default="", db_default="")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = named("what_ifs")
        default_permissions = ()
