"""What sends a task by its name although it runs as a job: rows of django-celery-beat. The rest is in test_install."""

import pytest
from django.apps import AppConfig, apps
from django.core.checks import run_checks
from django.db import connection, models

from tests.sample import celery_tasks as tasks

pytestmark = pytest.mark.django_db


class Beat(AppConfig):
    """As far as that package has it in every release."""

    name, label, path = "django_celery_beat", "django_celery_beat", __file__


@pytest.fixture
def rows():
    config = apps.app_configs["django_celery_beat"] = Beat("django_celery_beat", __import__(__name__))
    config.apps, config.models = apps, apps.all_models["django_celery_beat"]

    class PeriodicTask(models.Model):
        name, task = models.CharField(max_length=200), models.CharField(max_length=200)
        enabled = models.BooleanField(default=True)

        class Meta:
            app_label = "django_celery_beat"

    yield PeriodicTask
    del apps.app_configs["django_celery_beat"], apps.all_models["django_celery_beat"]
    apps.clear_cache()


def told() -> list[str]:
    return [one.msg for one in run_checks(tags=["database"], databases=["default"]) if one.id == "jobs.W014"]


def test_rows_of_django_celery_beat_are_told_if_they_are_enabled_and_its_table_is_there(rows):
    assert told() == []
    with connection.schema_editor() as editor:
        editor.create_model(rows)
    for name, task, enabled in (
        ("nightly", tasks.follow_up.name, True),
        ("off", tasks.follow_up.name, False),
        ("other", "celery.backend_cleanup", True),
    ):
        rows.objects.create(name=name, task=task, enabled=enabled)
    assert told() == ["The schedule 'nightly' of django-celery-beat sends billing.follow_up past its tenant's slots."]
