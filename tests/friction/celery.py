"""The project's own app, whose tasks are pickled; and the one of the jobs beside it, as docs/own-project.md says."""

from celery import Celery

from jobs.celery import configure

app = Celery("friction")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

jobs_app = Celery("friction", set_as_current=False)
jobs_app.config_from_object("django.conf:settings", namespace="CELERY")
configure(jobs_app)
