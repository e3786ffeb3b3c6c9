"""The Celery app: it carries messages from a dispatch to the process that runs the job."""

import os
from typing import Any

from celery import Celery, signals
from django.conf import settings
from django.utils.log import configure_logging

from jobs.celery import configure
from scheduler_project import tracing
from scheduler_project.checks import TAG

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
# Celery's Django fix-up ignores the results of Django's checks, and running them imports all modules of the web.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("scheduler_project")
app.config_from_object("django.conf:settings", namespace="CELERY")
configure(app, checks=[TAG])


@signals.celeryd_init.connect
def log_one_object_a_line(instance: Any, **_: Any) -> None:
    """Suppress Celery's banner, which is no JSON, if the log is JSON."""
    instance.quiet = instance.quiet or settings.LOG_FORMAT == "json"


@signals.setup_logging.connect
def log_as_the_web_does(**_: Any) -> None:
    """Keep the project's logging: a receiver of this signal replaces Celery's own. A job's prints are logged, too."""
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
    app.log.redirect_stdouts("WARNING")  # type: ignore[arg-type]  # a worker's processes read the name


signals.worker_process_init.connect(tracing.send)
