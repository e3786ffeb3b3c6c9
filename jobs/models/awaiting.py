"""Jobs that wait for others: the edges between them, and the news of those that others wait for."""

from django.db import models
from django.db.models import Q

from plumbing.names import named


class JobEdge(models.Model):
    """A blocked job, the follower, waits for its predecessor, a job or a batch. The end of the wait deletes the row.

    whatever: whether any end of the predecessor is enough.
    patience: seconds in which a predecessor that ended without success may be revived. None: no such time.
    until: the end of that time. None: the predecessor has not ended without success.
    """

    pk = models.CompositePrimaryKey("predecessor_id", "follower_id")
    predecessor_id = models.BigIntegerField()
    follower_id = models.BigIntegerField()
    whatever = models.BooleanField(default=False, db_default=False)
    patience = models.FloatField(null=True)
    until = models.DateTimeField(null=True)

    class Meta:
        db_table = named("job_edges")
        default_permissions = ()
        indexes = [
            models.Index(fields=["follower_id"], name="job_edges_of_follower"),
            models.Index(fields=["until"], condition=Q(until__isnull=False), name="job_edges_until"),
        ]


class JobEnd(models.Model):
    """News for the reader of ends, which takes the row: of an awaited job, a batch, a sequence, or an event.

    The job or the batch has ended, was revived or closed, or has got followers. A job of the sequence has come, has
    ended, was revived or deleted. The event has come. A job of its own has begun to wait for an event.

    tenant_id: the owner of the sequence, or of the event.
    success, error, dead, cancelled: the change of the numbers of the batch.
    """

    id = models.BigAutoField(primary_key=True)
    xid = models.BigIntegerField()  # of the writer; a dispatch looks for rows newer than the last one's snapshot
    job_id = models.BigIntegerField(null=True)  # null: no other job waits for the job, only its batch counts it
    batch_id = models.BigIntegerField(null=True)
    tenant_id = models.BigIntegerField(null=True)
    sequence = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null: the job is in none
    event = models.CharField(max_length=200, null=True)  # noqa: DJ001 - null: it is news of none
    success = models.SmallIntegerField(default=0, db_default=0)
    error = models.SmallIntegerField(default=0, db_default=0)
    dead = models.SmallIntegerField(default=0, db_default=0)
    cancelled = models.SmallIntegerField(default=0, db_default=0)

    class Meta:
        db_table = named("job_ends")
        default_permissions = ()
        indexes = [models.Index(fields=["xid"], name="job_ends_new")]
