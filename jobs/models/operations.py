"""Pools, workers, servers, repairs, announced deaths, and kept answers."""

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from plumbing.names import named
from tenants.conf import TENANT_MODEL
from tenants.tenant_key import TenantKey

MOST_SEATS = 1000  # of a process of a light pool


class Pool(models.Model):
    """The kind of a pool, and the seats of each of its processes. A pool without a row is ordinary.

    A process of an ordinary pool has one seat. One of a light pool has many: coroutines on one event loop, and bodies
    without `async` in threads, if it says so.
    """

    class Kind(models.TextChoices):
        ORDINARY = "ordinary"
        LIGHT = "light"

    name = models.SlugField(primary_key=True)  # as in `queues` and `workers`
    kind = models.CharField(max_length=20, choices=Kind, db_default=Kind.ORDINARY)
    seats = models.PositiveSmallIntegerField(db_default=1)  # of each process
    threads = models.BooleanField(db_default=False)  # bodies without `async` run in threads; else they are refused

    class Meta:
        db_table = named("pools")
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="ordinary", seats=1, threads=False)
                | Q(kind="light", seats__gte=1, seats__lte=MOST_SEATS),
                name="pools_have_their_seats",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.kind == Pool.Kind.LIGHT and self.seats not in range(1, MOST_SEATS + 1):
            many = f"from 1 to {MOST_SEATS:,}, such as 200"
            raise ValidationError(
                {"seats": f"Say how many attempts each process of a light pool runs at once: {many}."}
            )
        if self.kind == Pool.Kind.ORDINARY and self.seats != 1:
            raise ValidationError(
                {"seats": "A process of an ordinary pool has 1 seat. Leave it at 1, or choose light."}
            )
        if self.kind == Pool.Kind.ORDINARY and self.threads:
            raise ValidationError(
                {"threads": "An ordinary pool runs each body in a process. Leave it off, or choose light."}
            )


class Worker(models.Model):
    """A Celery worker process (the parent of its pool). It is live while it beats and `gone_at` is null.

    `concurrency` is its capacity, which the claim counts: its processes, each with so many seats; 0 while it drains.
    """

    id = models.UUIDField(primary_key=True)
    name = models.CharField(max_length=200)  # Celery's node name
    pid = models.PositiveIntegerField()
    pool = models.SlugField()
    kind = models.CharField(
        max_length=20, choices=Pool.Kind, db_default=Pool.Kind.ORDINARY
    )  # of its pool, at its start, as `threads`
    threads = models.BooleanField(db_default=False)
    concurrency = models.PositiveIntegerField()
    seats = models.PositiveSmallIntegerField(db_default=1)  # of each of its processes
    beat_interval = models.FloatField(db_default=5.0)  # seconds; a worker that misses three beats is declared gone
    started_at = models.DateTimeField(db_default=Now())
    beat_at = models.DateTimeField(db_default=Now())
    gone_at = models.DateTimeField(null=True)  # when it stopped or was declared gone; this id never comes back
    cut_off_at = models.DateTimeField(null=True)  # since when it has no answer of the broker; null: it takes messages
    database_wait = models.FloatField(null=True)  # seconds, the longest that a body of a light pool waited for a thread
    drain_requested_at = models.DateTimeField(null=True)  # its next beat reads this, and it stops in good order
    lost = models.BooleanField(db_default=False)  # it was declared gone, and did not stop in good order

    class Meta:
        db_table = named("workers")
        indexes = [models.Index(fields=["pool"], condition=Q(gone_at__isnull=True), name="workers_live")]

    def __str__(self) -> str:
        return f"{self.name} ({self.pool})"


class BlockedLoop(models.Model):
    """A body of a light pool has blocked the event loop of its process: the attempts of all other seats stood still."""

    worker = models.UUIDField()
    pid = models.PositiveIntegerField()
    pool = models.SlugField()
    seats = models.PositiveSmallIntegerField()  # that held an attempt
    job_id = models.BigIntegerField(null=True)  # whose body did; null: not known
    attempt = models.PositiveIntegerField(null=True)
    place = models.TextField(default="", db_default="")  # in its code: the file, the line and the function
    began_at = models.DateTimeField(db_default=Now())
    seconds = models.FloatField(null=True)  # null: it still does, or its worker has ended

    class Meta:
        db_table = named("blocked_loops")
        indexes = [
            models.Index(fields=["began_at"], name="blocked_loops_by_time"),
            models.Index(fields=["job_id"], name="blocked_loops_by_job"),
        ]


class Server(models.Model):
    """A PostgreSQL server that this database has run on: one more after each failover and restore."""

    identifier = models.BigIntegerField()  # of the cluster of databases, since initdb
    timeline = models.IntegerField()  # a promotion begins a new one
    noticed_at = models.DateTimeField()

    class Meta:
        db_table = named("servers")
        constraints = [models.UniqueConstraint(fields=["identifier", "timeline"], name="servers_once")]


class Repair(models.Model):
    """The number of the clock's repairs of one kind: a metric that should not grow."""

    kind = models.CharField(max_length=40, primary_key=True)
    count = models.PositiveBigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = named("repairs")


class DeathNotice(models.Model):
    """The moment up to which a notifier knows the deaths. The process that announces deaths holds the row's lock."""

    notifier = models.CharField(primary_key=True, max_length=255)  # its dotted path
    upto = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = named("death_notices")


class KeptAnswer(models.Model):
    """The answer to a request with an Idempotency-Key: the same request gets it again for a day."""

    tenant = TenantKey(TENANT_MODEL, models.CASCADE, db_index=False, db_constraint=False, related_name="+")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)  # SHA-256 of the request, in hex
    status = models.PositiveSmallIntegerField(null=True)  # null: the transaction that stored the row is still answering
    location = models.CharField(max_length=200, default="", db_default="")
    body = models.TextField(default="", db_default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = named("kept_answers")
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="kept_answers_once")]
        indexes = [models.Index(fields=["created_at"], name="kept_answers_old")]
