from django.db import models


class Job(models.Model):
    """An open position."""

    title = models.TextField()

    class Meta:
        db_table = "jobs"

    def __str__(self) -> str:
        return self.title
