from django.db import models


class Job(models.Model):
    """An open position."""

    title = models.TextField()

    class Meta:
        db_table = "jobs"

    def __str__(self) -> str:
        return self.title


class Queue(models.Model):
    """A line at a counter."""

    counter = models.TextField()

    class Meta:
        db_table = "queues"

    def __str__(self) -> str:
        return self.counter
