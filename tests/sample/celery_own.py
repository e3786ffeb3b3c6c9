"""A Celery app for tasks, as a project may have it beside the one that carries jobs: as docs/own-project.md says."""

from celery import Celery

app = Celery("own")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="celery_tasks")
app.autodiscover_tasks()
