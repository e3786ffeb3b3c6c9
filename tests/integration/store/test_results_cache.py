"""Results in the cache that JOBS_CACHE names, whatever its backend and serializer are."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings as project
from django.core.cache import caches
from django.core.management import call_command
from django.utils import timezone
from redis import VERSION

from jobs.engine.upkeep.prune import prune
from jobs.management.installing import wanted
from jobs.models import Job
from jobs.reading.health import facts
from jobs.store import results
from jobs.store.erasing import WithResult
from tests.factories import make_job
from tests.sql import sql

pytestmark = pytest.mark.django_db
LOCAL = "django.core.cache.backends.locmem.LocMemCache"
REDIS = "django.core.cache.backends.redis.RedisCache"
DUMMY = {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}
VALUES = [{"a": [1, None, "é"]}, 42, "42", True, "x" * results.MIN_COUNTED_BYTES]


def redis(**options):
    return {"BACKEND": REDIS, "LOCATION": project.CACHES["default"]["LOCATION"], "OPTIONS": options}


def installed() -> dict:
    """What `jobs install` tells to add."""
    caches = {}
    exec(wanted.TABLE, {"CACHES": caches})
    return caches


CACHES = {
    "memory": lambda path: {"BACKEND": LOCAL, "LOCATION": "results"},
    "table": lambda path: installed()["jobs"],
    "files": lambda path: {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache", "LOCATION": path},
    "redis, pickle": lambda path: redis(),
    "redis, text": lambda path: redis(serializer="jobs.cache.Text"),
}


@pytest.mark.parametrize("kind", CACHES)
def test_results_come_back_from_every_kind_of_cache_and_are_counted(kind, settings, tmp_path, tenant):
    if kind.startswith("redis") and "Redis" not in settings.CACHES["default"]["BACKEND"]:
        pytest.skip("there is no Redis")
    settings.CACHES = {"default": DUMMY, "results": CACHES[kind](tmp_path)}
    settings.JOBS_CACHE = "results"
    if kind == "table":
        call_command("createcachetable", verbosity=0)
    for value in VALUES:
        job = make_job(tenant, "success")
        size = results.keep(job, results.as_text(value), 60)
        assert size, value
        job.result_bytes, job.result_expires_at = size, timezone.now() + timedelta(seconds=60)
        assert results.load(job) == results.Result(value)
        assert results.forget(job)
        assert results.load(job) is None
    if kind == "table":
        for seconds in (-1, 60):
            results.keep(make_job(tenant), '"secret"', seconds)
        prune()
        assert [row[0] for row in sql("SELECT cache_key FROM jobs_cache WHERE cache_key LIKE '%job-result%'")] == [
            f":1:{results._key(Job.objects.latest('pk'))}"
        ]
        many = [WithResult(number, 1, tenant.pk, timezone.now()) for number in range(301)]
        for one in many:
            results.keep(one, '"secret"', 60)
        assert all(map(results.forget, many))


def test_a_connection_that_is_cut_costs_no_result(settings, tenant):
    """By the options of the project: it is made anew, once."""
    options = project.CACHES["default"].get("OPTIONS", {})
    if "Redis" not in project.CACHES["default"]["BACKEND"] or VERSION[0] < 6:
        pytest.skip("there is no Redis, or a redis-py that repeats only what took too long")
    hanging_up = [True, False]

    def serve() -> None:
        while hanging_up:
            hangs_up = hanging_up.pop(0)
            with listener.accept()[0] as client:
                while (said := client.recv(4096)) and not (hangs_up and b"SET\r\n" in said):
                    client.sendall(b"+OK\r\n" * said.count(b"*"))

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as threads:
        address = f"redis://127.0.0.1:{listener.getsockname()[1]}?protocol=2"
        settings.CACHES = {"default": {"BACKEND": REDIS, "LOCATION": address, "OPTIONS": options}}
        threads.submit(serve)
        try:
            assert results.keep(make_job(tenant), '"x"', 60) == 3
        finally:
            caches["default"]._cache.get_client().connection_pool.disconnect()
            listener.shutdown(socket.SHUT_RDWR)


def test_the_default_cache_is_left_alone(settings, tenant):
    settings.CACHES = {
        "default": {"BACKEND": LOCAL, "LOCATION": "theirs"},
        "results": {"BACKEND": LOCAL, "LOCATION": "x"},
    }
    settings.JOBS_CACHE = "results"
    caches["default"].clear()
    assert results.keep(make_job(tenant), '"x"', 60)
    assert (len(caches["default"]._cache), len(caches["results"]._cache)) == (0, 1)


def test_a_cache_out_of_reach_is_told(settings, monkeypatch):
    broken = SimpleNamespace(get=lambda key: 1 / 0)
    monkeypatch.setattr(facts, "caches", {"default": SimpleNamespace(get=lambda key: None), "results": broken})
    assert facts._cache_answers()
    settings.JOBS_CACHE = "results"
    assert not facts._cache_answers()
