"""The Celery app: it carries messages from a dispatch to the process that runs the job."""

import os

from celery import Celery, signals

from scheduler_project.checks import refuse_unsafe_start

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
# Celery's Django fix-up ignores the results of Django's checks, and running them imports all modules of the web.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("scheduler_project")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["jobs"], related_name="worker")  # the additions to a worker's parent process
app.autodiscover_tasks(["jobs"], related_name="processes.child")  # the preparation of its children
app.autodiscover_tasks(["jobs"], related_name="processes.fork")  # and the memory that they share

# Celery's Django fix-up would close the database connection before and after every job.
app.conf["CELERY_DB_REUSE_MAX"] = 1_000_000

signals.celeryd_init.connect(refuse_unsafe_start)  # sent by workers only, once Django's apps are loaded
