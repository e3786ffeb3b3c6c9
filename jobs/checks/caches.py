"""System checks of the cache that has the results: the one of CACHES that JOBS_CACHE names."""

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from django.conf import settings as project

from jobs.conf import settings
from plumbing.faults import Fault, check

OF_ONE_PROCESS = ("LocMemCache", "DummyCache")  # cache backends that no other process can read


def chosen() -> dict[str, Any]:
    """Return the settings of that cache; only an empty BACKEND if CACHES has none of the name."""
    return {"BACKEND": "", **project.CACHES.get(settings.JOBS_CACHE, {})}


def its_name() -> str:
    """Return the name of that cache as a settings module writes it."""
    return f'CACHES["{settings.JOBS_CACHE}"]'


def of_one_process() -> bool:
    """Return whether the cache is in the memory of each process, or nowhere."""
    return chosen()["BACKEND"].rpartition(".")[2] in OF_ONE_PROCESS


@check("jobs.E019")
def cache_is_there() -> Iterator[Fault]:
    """No result would be kept without that cache, although each job succeeds."""
    if settings.JOBS_CACHE not in project.CACHES:
        hint = f"Set it to one of these, or add it to them: {', '.join(sorted(project.CACHES))}."
        yield f"JOBS_CACHE is {settings.JOBS_CACHE!r}, and CACHES has none of that name.", hint


@check("jobs.W001")
def shared_cache() -> Iterator[Fault]:
    """The web process cannot read results in the memory of a worker."""
    if of_one_process():
        hint = f"Let {its_name()} be a Redis or Valkey, or a table of the database; or add such a cache to CACHES, and "
        hint += "name it in JOBS_CACHE."
        yield "The cache is not shared between processes, so no other process could read a job's result.", hint


@check("jobs.W006")
def results_are_text() -> Iterator[Fault]:
    """The default serializer for Redis is pickle, which can run code when it loads a value."""
    backend, options = chosen()["BACKEND"], chosen().get("OPTIONS", {})
    needed = '"serializer": "jobs.cache.Text"'
    if backend.startswith("django_redis."):
        needed = '"SERIALIZER": "django_redis.serializers.json.JSONSerializer"'
    if "Redis" in backend and needed.split('"')[1] not in options:
        own_cache = f"add to CACHES a cache with {needed} in its OPTIONS, and name it in JOBS_CACHE"
        hint = f"Add {needed} to the OPTIONS of {its_name()}; if others use that cache, too, {own_cache}."
        yield "An attacker with write access to the cache can run code in its readers: its values are pickled.", hint


@check("jobs.W013")
def cache_has_a_time_limit() -> Iterator[Fault]:
    """A server that stops answering would block ended jobs and requests for ever. redis-py 8 has a limit of its own."""
    if "Redis" not in chosen()["BACKEND"] or "socket_timeout" in str(chosen()).lower():
        return
    with suppress(ImportError):
        if import_module("redis").Connection().socket_timeout is None:
            hint = f'Add "socket_timeout": 5 to the OPTIONS of {its_name()}; with django-redis "SOCKET_TIMEOUT": 5.'
            yield "Jobs and requests would wait without limit for a cache that does not answer.", hint
