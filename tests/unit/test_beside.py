"""Processes that run tests beside each other share no database of Valkey's."""

import pytest
from django.conf import settings

from scheduler_project.celery import app
from tests.beside import MOST, how_many, own_databases

URLS = ("redis://:secret@127.0.0.1:6000/0", "redis://:secret@127.0.0.1:6000/1")


def test_each_process_has_two_databases_of_the_sixteen_and_those_that_run_alone_have_theirs():
    taken = [url for n in range(MOST) for url in own_databases(f"gw{n}", *URLS)]
    assert len({*URLS, *taken}) == 2 + 2 * MOST
    assert max(int(url.rpartition("/")[2]) for url in taken) < 16
    assert own_databases("gw3", *URLS) == own_databases("gw3", *own_databases("gw3", *URLS))


@pytest.mark.parametrize("url", ["amqp://guest:guest@localhost:5672//", "locmemcache://"])
def test_where_there_are_no_numbered_databases_tests_run_one_after_the_other(url):
    assert how_many(2, *URLS) == 4
    assert how_many(64, *URLS) == MOST
    assert how_many(2, URLS[0], url) == 0
    assert own_databases("gw0", url, url) == (url, url)


def test_celery_is_where_the_settings_say():
    """It takes the environment's word before that of the settings."""
    assert app.conf.broker_url == settings.CELERY_BROKER_URL
