"""Queues by command, and by the setting JOBS_QUEUES: made if they are missing, and otherwise left as they are."""

import json

import pytest
from django.apps.registry import Apps
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.core.management.sql import emit_post_migrate_signal

from jobs.apps import create_queues
from jobs.checks import TAG
from jobs.models import Queue
from tenants.models import Change
from tests.integration.cli.running import refusal, run

pytestmark = pytest.mark.django_db(transaction=True)


def made(*words: object) -> dict:
    [queue] = json.loads(run("queues", "add", *words, "--json"))["queues"]
    return queue


def migrate() -> None:
    emit_post_migrate_signal(verbosity=0, interactive=False, db="default")


def faults() -> list[str]:
    return [found.msg for found in run_checks(tags=[TAG]) if found.id == "jobs.E023"]


def test_a_queue_is_made_with_its_limits_and_noted() -> None:
    queue = made("mail", "--concurrency", 2, "--rate", "5/1", "--weight", 3, "--pool", "heavy")
    assert (queue["concurrency"], queue["weight"], queue["pool"]) == (2, 3, "heavy")
    assert (queue["rate_limit"], queue["rate_window"]) == (5, 1)
    assert Change.objects.filter(subject="mail", who__endswith="at the command line").exists()


def test_a_queue_that_is_there_stays_as_it_is() -> None:
    made("mail", "--concurrency", 2)
    assert made("mail", "--concurrency", 9)["concurrency"] == 2
    assert "is not changed" in run("queues", "add", "mail")


def test_a_name_that_no_queue_can_have_is_refused() -> None:
    assert refusal("queues", "add", "my mail").startswith("name: ")
    assert refusal("queues", "add", "mail", "--pool", "a b").startswith("pool: ")
    assert not Queue.objects.filter(name__contains="mail").exists()


def test_a_change_of_an_unknown_queue_says_how_to_make_it() -> None:
    assert refusal("queues", "set", "mail", "--concurrency", 2).endswith("to create it: manage.py queues add mail")


def test_the_queues_of_the_setting_are_made_once(settings) -> None:
    settings.JOBS_QUEUES = {"mail": {"concurrency": 2, "pool": "heavy"}, "default": {"weight": 3}, "plain": {}}
    Queue.objects.all().delete()
    migrate()
    assert Queue.objects.filter(name="mail", concurrency=2, pool="heavy").exists()
    assert Queue.objects.filter(name="default", weight=3).exists()
    run("queues", "set", "mail", "--concurrency", 5)
    migrate()
    assert Queue.objects.get(name="mail").concurrency == 5
    assert Queue.objects.filter(name="plain").count() == 1


def test_the_setting_waits_for_the_tables(settings) -> None:
    """`migrate` of another app comes before ours, or after `migrate jobs zero`."""
    settings.JOBS_QUEUES = {"mail": {}}
    create_queues(using="default", apps=Apps())
    assert not Queue.objects.filter(name="mail").exists()


@pytest.mark.parametrize(
    ("queues", "where"),
    [
        ({"mail": {"concurrency": "many"}}, 'JOBS_QUEUES["mail"]["concurrency"]: '),
        ({"mail": {"concurency": 2}}, 'JOBS_QUEUES["mail"]["concurency"]: There is no such field.'),
        ({"mail": {"id": 2}}, 'JOBS_QUEUES["mail"]["id"]: There is no such field.'),
        ({"mail": {"weight": 0}}, 'JOBS_QUEUES["mail"]["weight"]: '),
        ({"mail": {"rate_limit": 5}}, 'JOBS_QUEUES["mail"]["rate_window"]: '),
        ({"my mail": {}}, 'JOBS_QUEUES["my mail"]: '),
        ({"mail": 2}, 'JOBS_QUEUES["mail"]: 2 is no dictionary'),
    ],
)
def test_a_setting_that_no_queue_can_have_is_refused_by_its_field(settings, queues, where) -> None:
    settings.JOBS_QUEUES = queues
    [fault] = faults()
    assert fault.startswith(where)


def test_migrate_stops_before_it_makes_half_of_them(settings) -> None:
    settings.JOBS_QUEUES = {"mail": {"concurency": 2}}
    with pytest.raises(SystemCheckError, match="concurency"):
        call_command("migrate", verbosity=0, skip_checks=False)
