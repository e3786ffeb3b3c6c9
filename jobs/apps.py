"""The Django app: connect the audit log and the carrier of messages, create the queues."""

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.apps import apps as every_app
from django.apps.registry import Apps
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS
from django.db.models.signals import post_migrate

# Python looks into the project's folder first. tenants/apps.py makes the same check of `jobs`, which cannot run here.
if theirs := next(
    (
        spec
        for spec in map(find_spec, ("tenants", "plumbing"))
        if spec and Path(spec.origin or "").parents[1:2] != Path(__file__).parents[1:2]
    ),
    None,
):
    raise ImproperlyConfigured(
        f"The package `{theirs.name}` is the project's own, {theirs.origin}, and hides that of the library. Move it "
        f"below a package of the project, such as mysite.{theirs.name}, keep its label, and set JOBS_PREFIX: "
        "docs/own-project.md#names"
    )
from plumbing.names import named


class JobsConfig(AppConfig):
    name = "jobs"
    label = named("jobs")
    default_auto_field = "django.db.models.BigAutoField"  # as in our migrations, whatever the project's own default is
    verbose_name = "Work"

    def ready(self) -> None:
        if not every_app.is_installed("tenants"):  # the check `jobs.E024` reports it, instead of an error in a model
            from jobs import checks  # noqa: F401 - as below

            return
        from jobs.checks import databases, loaded, past_slots  # noqa: F401 - their checks register themselves
        from jobs.engine.process import runtime
        from jobs.engine.verbs import tenant_deletion
        from jobs.models import PausedJobType, Pool, Queue, Schedule
        from jobs.worker import message
        from tenants.watched_rows import watch

        watch(Queue)
        watch(Pool)
        watch(PausedJobType)
        watch(Schedule)

        tenant_deletion.connect()
        runtime.change(carrier=message.hand_over)
        post_migrate.connect(create_queues, sender=self)


def create_queues(using: str, apps: Apps = every_app, **_: Any) -> None:
    """After migrate, create the queues of JOBS_QUEUES, and "default", which a @job without a queue uses.

    An existing queue stays as it is, since operators may have changed it.

    apps: the models as this migrate has left them.
    """
    from jobs import store
    from jobs.conf import settings

    if using == DEFAULT_DB_ALIAS:
        with suppress(LookupError):  # there are no tables (any more)
            queues = apps.get_model(named("jobs"), "Queue").objects
            for name, values in settings.JOBS_QUEUES.items():
                queues.get_or_create(name=name, defaults=values)
        store.create_queue("default")
