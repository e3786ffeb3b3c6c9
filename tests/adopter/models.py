"""What the project had before it knew of jobs."""

from django.db import models

from jobs import Asynchronous, current_job, job


class Open(models.Manager):
    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(closed=False)


class Shop(models.Model):
    """Has a key of 32 bits, and attributes of its own with names that others might take."""

    number = models.AutoField(primary_key=True)
    title = models.CharField(max_length=200, db_collation="C")
    string_id = models.CharField(max_length=50, db_column="the id", db_collation="C")
    slug = models.SlugField(default="same-for-all")
    members = models.JSONField(default=list)
    closed = models.BooleanField(default=False)
    objects = Open()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["string_id"], name="one_string_id")]

    def __str__(self) -> str:
        return self.title

    @property
    def queue(self) -> str:
        """Its customers."""
        return "nobody waits"

    def api_keys(self) -> list[str]:
        return ["theirs"]

    jobs_tenant = "pk"

    @job
    def close(self) -> str:
        return f"{current_job().tenant} is closed"


class Order(Asynchronous, models.Model):
    shop = models.ForeignKey(Shop, models.CASCADE)
    jobs_tenant = "shop"

    def __str__(self) -> str:
        return f"order {self.pk}"

    @job(http=True)
    def invoice(self) -> str:
        return f"{current_job().tenant}, order {self.pk}"


class Parcel(models.Model):
    """Refers to its tenant by another column than the key."""

    shop = models.ForeignKey(Shop, models.CASCADE, to_field="string_id")
    jobs_tenant = "shop"

    def __str__(self) -> str:
        return f"parcel {self.pk}"

    @job
    def send(self) -> str:
        return f"{current_job().tenant}, parcel {self.pk}"


class Line(models.Model):
    """Two references away from its tenant; the second need not be there."""

    order = models.ForeignKey(Order, models.CASCADE, null=True)
    jobs_tenant = "order__shop"

    def __str__(self) -> str:
        return f"line {self.pk}"

    @job(http=True, dedup=False)
    def pack(self) -> str:
        return f"{current_job().tenant}, line {self.pk}"
