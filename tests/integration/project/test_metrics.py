"""`/metrics` and `/metrics/health`: who may ask, and what is told."""

import re
import threading
from collections import OrderedDict
from contextlib import nullcontext
from datetime import timedelta
from random import Random

import pytest
from django.db import OperationalError
from django.http import Http404
from django.test import Client, RequestFactory
from django.urls import resolve
from django.utils import timezone

from jobs.contrib.metrics import views
from jobs.insight.forecasts.duty import Forecasting
from jobs.insight.forecasts.statements import keep_predictions
from jobs.lifecycle import Status
from jobs.models import Prediction
from tenants.models import Tenant
from tests.factories import QueueFactory, make_job

pytestmark = pytest.mark.django_db
TOKEN = "t" * 32
PATHS = ["/metrics", "/metrics/tenants", "/metrics/health"]
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def not_yet_looked(monkeypatch, settings):
    for kept in (views.everything, views.of_tenants):
        monkeypatch.setattr(kept, "_kept", OrderedDict())
    settings.ALLOWED_HOSTS = ["scheduler.example.com"]


@pytest.fixture
def token(settings):
    settings.JOBS_METRICS_TOKEN = TOKEN


def ask(path="/metrics", address="10.0.0.7", host="scheduler.example.com", **headers):
    return Client(REMOTE_ADDR=address, headers={"Host": host, **headers}).get(path)


def test_with_the_token_from_anywhere_by_any_name(token):
    response = ask(host="10.0.0.5:8000", **BEARER)
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=")
    assert "scheduler_clock_leads 0.0" in response.content.decode()


@pytest.mark.parametrize("path", PATHS)
def test_without_it_the_address_does_not_exist(token, path, subtests):
    for said in (None, "Bearer x", f"Basic {TOKEN}", "Bearer ü"):
        headers = {} if said is None else {"Authorization": said}
        nowhere = ask("/nowhere", **headers)
        for address in ("10.0.0.7", "127.0.0.1"):
            with subtests.test(said=said, address=address):
                response = ask(path, address, **headers)
                assert response.status_code == 404
                assert response.content == nowhere.content.replace(b"/nowhere", path.encode())


def test_another_project_that_includes_the_addresses_refuses_strangers_too(token, subtests):
    for path in PATHS:
        view = resolve(path, "jobs.contrib.metrics.urls").func
        with subtests.test(path):
            with pytest.raises(Http404):
                view(RequestFactory().get(path))
            assert view(RequestFactory().get(path, headers=BEARER)).status_code in (200, 503)


@pytest.mark.parametrize("path", PATHS)
def test_where_no_token_is_set_only_this_machine_may_ask(path):
    assert ask(path).status_code == 404
    assert ask(path, "").status_code == 404
    for address in ("127.0.0.1", "::1"):
        assert ask(path, address).status_code != 404
        for proxied in ({"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=::1"}, {"X-Real-IP": "127.0.0.1"}):
            assert ask(path, address, **proxied).status_code == 404


def test_a_key_of_a_tenant_is_no_token(token, owner):
    assert owner.get("/metrics", headers={"Host": "scheduler.example.com"}).status_code == 404


def test_health_tells_the_conditions_and_fails_while_one_is_critical(token, monkeypatch):
    response = ask("/metrics/health", **BEARER)
    assert response.status_code == 503
    assert response.json()["healthy"] is False
    assert [one["code"] for one in response.json()["conditions"]] == ["no_clock"]
    monkeypatch.setattr(views, "conditions", lambda facts: [])
    response = ask("/metrics/health", **BEARER)
    assert (response.status_code, response.json()) == (200, {"healthy": True, "conditions": []})


def test_without_the_database_both_say_so_and_no_more(token, monkeypatch):
    def refuse():
        raise OperationalError("no route to db-7.internal")

    monkeypatch.setattr(views, "look", refuse)
    monkeypatch.setattr(views, "look_tenants", lambda slugs: refuse())
    monkeypatch.setattr(views.connection, "close", lambda: None)
    for path in PATHS:
        response = ask(path, **BEARER)
        assert response.status_code == 503
        assert "db-7" not in response.content.decode()
    assert response.json()["conditions"][0]["code"] == "no_database"


def test_however_many_ask_one_looks(token, monkeypatch):
    looks, may_go_on, asked = [], threading.Event(), threading.Barrier(4)
    monkeypatch.setattr(views, "look", lambda: looks.append(may_go_on.wait(30)))
    for name in ("look_totals", "look_forecasts"):
        monkeypatch.setattr(views, name, list)
    monkeypatch.setattr(views, "looking", lambda seconds: nullcontext())

    def asks():
        asked.wait(30)
        views.everything()

    threads = [threading.Thread(target=asks) for _ in range(3)]
    for thread in threads:
        thread.start()
    asked.wait(30)
    may_go_on.set()
    for thread in threads:
        thread.join(30)
    assert looks == [True]
    views.everything.forget()
    views.everything()
    assert looks == [True, True]


def test_no_label_names_a_tenant_a_user_or_a_job(token, tenant, mate):
    job = make_job(tenant, Status.RUNNING, user_key=str(mate.user.pk))
    text = ask(**BEARER).content.decode()
    assert 'scheduler_slots_in_use{queue="default"} 1.0' in text
    for told in (tenant.slug, tenant.name, mate.user.username, f'"{job.pk}"', "tenant=", "user="):
        assert told not in text


def test_a_forecast_tells_what_it_cost_and_how_old_it_is_by_pool(token, tenant):
    assert "\nscheduler_forecast_seconds " not in ask(**BEARER).content.decode()
    for queue in (QueueFactory(), QueueFactory(name="large", pool="big")):
        make_job(tenant, queue=queue)
    Forecasting(Random(1)).run()
    views.everything.forget()
    lines = ask(**BEARER).content.decode()
    assert 0.0 < float(re.search(r"^scheduler_forecast_seconds (\S+)$", lines, re.M)[1]) < 60.0
    ages = dict(re.findall(r'^scheduler_forecast_age_seconds\{pool="(\w+)"\} (\S+)$', lines, re.M))
    assert {pool: float(age) < 60.0 for pool, age in ages.items()} == {"default": True, "big": True}


def test_the_number_of_predictions_by_what_they_said_does_not_fall_when_old_ones_go(token, db):
    seconds = dict.fromkeys(
        ("raw_50", "raw_90", "said_50", "said_90", "ahead_50", "ahead_90", "past_50", "past_90"), 1.0
    )

    def told() -> list[tuple[str, str]]:
        views.everything.forget()
        return re.findall(r'^scheduler_predictions_total\{said="(\w+)"\} (\S+)$', ask(**BEARER).content.decode(), re.M)

    assert told() == [("yes", "0.0")]
    made_at = timezone.now()
    keep_predictions(made_at, [Prediction(job_id=1, reason=reason, **seconds) for reason in ("", "far", "")])
    assert told() == [("yes", "2.0"), ("far", "1.0")]
    Prediction.objects.all().delete()
    assert told() == [("yes", "2.0"), ("far", "1.0")]


def test_the_metrics_of_tenants_tell_of_those_that_are_named_and_of_no_other(token, tenant, stranger, settings):
    settings.JOBS_METRICS_TENANTS = [tenant.slug, "nobody"]
    make_job(tenant, Status.RUNNING)
    make_job(tenant, ready_at=timezone.now() - timedelta(seconds=40))
    for status in (Status.RUNNING, Status.CREATED):
        make_job(Tenant.objects.get(name="Stranger Inc."), status)
    told = dict(
        re.findall(
            r'^scheduler_tenant_(\w+)\{tenant="(.+)"\} ', ask("/metrics/tenants", **BEARER).content.decode(), re.M
        )
    )
    lines = ask("/metrics/tenants", **BEARER).content.decode()
    assert set(told.values()) == {tenant.slug}
    for name, value in {"slots_in_use": 1.0, "slots": 2.0, "waiting_jobs": 1.0}.items():
        assert f'scheduler_tenant_{name}{{tenant="{tenant.slug}"}} {value}' in lines
    oldest = re.search(r"oldest_waiting_seconds\{.*\} (\S+)", lines)[1]
    assert float(oldest) == pytest.approx(40, abs=20)


def test_without_names_there_are_no_metrics_of_tenants(token, tenant):
    make_job(tenant, Status.RUNNING)
    assert tenant.slug not in ask("/metrics/tenants", **BEARER).content.decode()
