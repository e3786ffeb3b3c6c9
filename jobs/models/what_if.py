"""What an operator asked about other limits, and the answer. See docs/insight.md."""

from django.db import models
from django.db.models.functions import Now

from tenants.names import named


class WhatIf(models.Model):
    """question, answer: documents of jobs.console.operations.what_if. refused: why there is no answer.

    A process of its own answers it. One that has no end after a while was killed: it was too much.
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
