"""The Celery app: the wire between a dispatch and the process that runs the job."""

import os

from celery import Celery, signals

from scheduler_project.checks import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
# Celery's Django fix-up drops what Django's checks say. To run them, a worker would import all that the web serves.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("scheduler_project")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["jobs"], related_name="worker")  # what a worker's parent process adds
app.autodiscover_tasks(["jobs"], related_name="processes.child")  # what its children are given
app.autodiscover_tasks(["jobs"], related_name="processes.fork")  # and the memory that they share

# Celery's Django fix-up would close the database connection before and after every job.
app.conf["CELERY_DB_REUSE_MAX"] = 1_000_000

signals.celeryd_init.connect(refuse_unsafe_start)  # sent by workers only, once Django's apps are loaded
