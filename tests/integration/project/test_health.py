"""`/healthz` and `/readyz`: who asks has no key and no name of the host, and is told the truth."""

import asyncio

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test import Client

from scheduler_project import health
from scheduler_project.handler import ThreadedHandler
from tests import asgi
from tests.sql import sql

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def not_yet_looked(monkeypatch, settings):
    monkeypatch.setattr(health, "_schema_is_there", False)
    settings.ALLOWED_HOSTS = ["scheduler.example.com"]
    settings.SECURE_SSL_REDIRECT = True


def test_a_good_process_is_alive_and_ready():
    for path in ("/healthz", "/readyz"):
        response = Client().get(path)
        assert (response.status_code, response["Cache-Control"]) == (200, "no-store")


def test_without_its_database_it_is_alive_and_not_ready(monkeypatch):
    def refuse(*_):
        raise OperationalError("no route to db-7.internal")

    monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.setattr(connection, "close", lambda: None)
    assert Client().get("/healthz").status_code == 200
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert "db-7" not in response.content.decode()


def test_without_its_migrations_it_is_not_ready():
    sql("DELETE FROM django_migrations WHERE app = 'tenants' AND name LIKE '0001%'")
    response = Client().get("/readyz")
    assert (response.status_code, "manage.py migrate" in response.content.decode()) == (503, True)


def test_once_ready_it_asks_only_whether_the_database_answers(django_assert_num_queries):
    Client().get("/readyz")
    with django_assert_num_queries(1):
        assert Client().get("/readyz").status_code == 200
    with django_assert_num_queries(0):
        Client().get("/healthz")


def test_a_server_is_alive_although_every_thread_is_busy():
    handler = ThreadedHandler(1)
    handler._threads.shutdown()

    async def ask():
        client = asgi.Client(handler, "/healthz")
        return await client.answer(), client.status

    assert asyncio.run(ask()) == ("alive\n", 200)


def test_in_production_static_files_have_versions_also_those_that_scripts_import(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": "scheduler_project.static.HashedStorage"}}
    settings.ENVIRONMENT = "production"
    [forgotten] = run_checks(tags=["pages"])
    assert (forgotten.id, "collectstatic" in forgotten.hint) == ("scheduler.W001", True)
    call_command("collectstatic", interactive=False, verbosity=0)
    assert run_checks(tags=["pages"]) == []
    [script] = (tmp_path / "reports").glob("run.*.js")
    text = script.read_text()
    assert 'from "./api.js"' not in text
    assert "./api." in text
    assert list((tmp_path / "tenants").glob("card.*.css"))
