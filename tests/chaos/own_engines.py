"""Engines that one test may kill: this process' Django is on them for as long as that takes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import environ
import pytest
from django.db import DEFAULT_DB_ALIAS, Error, connection, connections

from embedded import engines
from embedded.process import Process
from embedded.processes import Processes
from tests import migrated
from tests.waiting import wait_until

URLS = (engines.DATABASE, engines.BROKER, engines.CACHE)
WHERE = ("NAME", "USER", "PASSWORD", "HOST", "PORT")  # of Django's settings of a database


@dataclass(frozen=True)
class Engines:
    """environ: for workers on them. Both are supervised: one that is killed is started again."""

    environ: dict[str, str]
    postgresql: Process
    valkey: Process


@contextmanager
def running(directory: Path) -> Iterator[Engines]:
    """Engines in `directory`, migrated; Django is on their database. Its broker and cache stay where they were."""
    ours = {name: value for name, value in os.environ.items() if name not in {*URLS, engines.NAMES}}
    migrated.put(directory)
    with Processes() as processes, engines.running(directory, processes, ours, durable=False) as urls:
        named = {process.name: process for process in processes}
        with pytest.MonkeyPatch.context() as patch, on(urls[engines.DATABASE], patch):
            yield Engines(urls, named["postgresql"], named["valkey"])


@contextmanager
def on(url: str, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Django is on the database of that URL."""
    _leave()
    there = environ.Env.db_url_config(url)
    for name in WHERE:
        patch.setitem(connection.settings_dict, name, there[name])
    options = {**connection.settings_dict["OPTIONS"], **there["OPTIONS"]}  # the socket's directory is one
    patch.setitem(connection.settings_dict, "OPTIONS", options)
    try:
        yield
    finally:
        _leave()


def _leave() -> None:
    """Close the connection, and forget the version of its server: the next one may be another."""
    connection.close()
    vars(connections[DEFAULT_DB_ALIAS]).pop("pg_version", None)


def wait_for_database() -> None:
    """Until it answers us, on a new connection."""

    def answers() -> bool:
        connection.close()
        try:
            connection.ensure_connection()
        except Error:
            return False
        return True

    wait_until(answers, "PostgreSQL is back")
