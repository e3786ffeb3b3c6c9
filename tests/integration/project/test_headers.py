"""What browsers and caches on the way are told with every answer."""

import re

import pytest
from django.middleware.security import SecurityMiddleware
from django.test import Client

from jobs.lifecycle import Status
from tests.factories import make_job

pytestmark = pytest.mark.django_db


def test_nothing_of_a_tenant_is_kept_on_the_way(owner, mate, tenant, report):
    job = make_job(tenant, Status.RUNNING)
    for caller, path in [
        (owner, "/api/v1/jobs"),
        (owner, f"/api/v1/jobs/{job.pk}"),
        (owner, f"/api/v1/jobs/{job.pk}?wait=0.1"),
        (owner, f"/api/v1/jobs/{job.pk}/result"),
        (owner, "/api/v1/jobs/999999999"),
        (mate, "/"),
        (mate, f"/reports/{report.pk}/"),
    ]:
        response = caller.get(path)
        assert "no-store" in response["Cache-Control"], path
        assert "default-src 'self'" in response["Content-Security-Policy"], path


def test_a_projects_cache_of_its_whole_site_keeps_no_answer(owner, mate, admin_client, tenant, settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "site"}}
    cached = "django.middleware.cache.UpdateCacheMiddleware", "django.middleware.cache.FetchFromCacheMiddleware"
    our_own = "scheduler_project.middleware.secured"
    settings.MIDDLEWARE = [cached[0], *(one for one in settings.MIDDLEWARE if one != our_own), cached[1]]
    job = make_job(tenant, Status.RUNNING).pk
    pages = [(owner, f"/api/v1/jobs/{job}"), (mate, f"/jobs/{job}/"), (admin_client, f"/ops/jobs/{job}/")]
    for caller, path in [*pages, (Client(), "/metrics")]:
        assert caller.get(path).status_code == 200, path
        assert Client().get(path).status_code in (302, 401) or path == "/metrics", path
        assert "private" in caller.get(path)["Cache-Control"], path


def test_a_project_that_asks_everybody_to_log_in_leaves_keys_and_monitors_alone(owner, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "django.contrib.auth.middleware.LoginRequiredMiddleware"]
    for caller, path in [(owner, "/api/v1/jobs"), (Client(), "/api/v1/docs"), (Client(), "/metrics/health")]:
        assert caller.get(path).status_code in (200, 503), path
    assert Client().get("/api/v1/jobs").status_code == 401


def test_our_own_pages_run_no_script_of_their_text(mate, report):
    for path in ("/", f"/reports/{report.pk}/", "/accounts/password/", "/nowhere/", "/api/v1/docs"):
        response = mate.get(path)
        policy, page = response["Content-Security-Policy"], response.content.decode()
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*(?:src=|application/json))", page), path
    assert "<style" not in Client().get("/accounts/login/").content.decode()


def test_the_admin_may_use_its_own_scripts_and_nobody_elses(admin_client):
    policy = admin_client.get("/admin/")["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy


def test_a_page_may_use_nothing_of_the_device_and_no_other_site_reads_our_files():
    page, file = Client().get("/accounts/login/"), Client().get("/static/tenants/card.css")
    assert "camera=()" in page["Permissions-Policy"]
    file.close()
    assert file.status_code == 200
    assert "Access-Control-Allow-Origin" not in file


def test_browsers_are_held_to_tls_where_it_is_set(settings):
    settings.SECURE_HSTS_SECONDS = 31536000
    middleware = SecurityMiddleware(lambda request: Client().get("/accounts/login/"))
    request = Client().get("/accounts/login/", secure=True).wsgi_request
    assert middleware(request)["Strict-Transport-Security"] == "max-age=31536000"
    settings.SECURE_HSTS_SECONDS = 0
    assert "Strict-Transport-Security" not in SecurityMiddleware(lambda _: Client().get("/accounts/login/"))(request)


def test_the_icon_that_browsers_ask_for_is_none():
    assert Client().get("/favicon.ico").status_code == 204
