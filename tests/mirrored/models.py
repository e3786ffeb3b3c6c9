"""What the project had before it knew of jobs."""

import uuid

from django.db import models

from jobs import Asynchronous, current_job, job


class Project(models.Model):
    """Its key is no integer, two may have the same name, and what could be a slug is no text."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    name = models.CharField(max_length=300, blank=True)
    code = models.UUIDField(unique=True, default=uuid.uuid4)

    def __str__(self) -> str:
        return self.name


class Closed(Project):
    """The same row, by another model."""

    class Meta:
        proxy = True


class Task(Asynchronous, models.Model):
    project = models.ForeignKey(Project, models.CASCADE)
    jobs_tenant = "project"

    def __str__(self) -> str:
        return f"task {self.pk}"

    @job
    def work(self) -> str:
        return f"{current_job().tenant}: task {self.pk}"


@job(dedup=False)
def greet(name: str) -> str:
    return f"{name} of {current_job().tenant}"
