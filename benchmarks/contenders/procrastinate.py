"""Procrastinate: PostgreSQL alone, one worker whose jobs are coroutines. It has no tenants; the job carries its own."""

import os
import sys

from benchmarks.public.scenarios import Arrival
from embedded.fleet import Command


class Procrastinate:
    name = "Procr."  # a column has nine characters

    def open(self, tenants: int, slots: int) -> None:
        from django.db import connection
        from procrastinate import App, SyncPsycopgConnector

        with connection.cursor() as cursor:
            cursor.execute("SELECT to_regclass('procrastinate_jobs')")
            there = cursor.fetchone()[0]
        self._app = App(connector=SyncPsycopgConnector(conninfo=os.environ["DATABASE_URL"]))
        self._app.open()
        if not there:
            self._app.schema_manager.apply_schema()
        self._rest = self._app.configure_task("rest")

    def put(self, n: int, arrival: Arrival) -> None:
        payload = "x" * arrival.payload
        self._rest.defer(tenant=arrival.tenant, n=n, seconds=arrival.seconds, payload=payload)

    def crew(self, workers: int) -> Command:
        argv = [sys.executable, "-m", "procrastinate", "--app", "benchmarks.contenders.procrastinate_app.app"]
        return Command([*argv, "worker", "--concurrency", str(workers)], dict(os.environ))
