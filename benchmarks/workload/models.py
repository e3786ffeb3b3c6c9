"""The bodies that are measured: each rings, so that no contender is asked through its own tables."""

import asyncio
import time
from typing import Any

from django.db import models
from django.db.models import Func, Value

from benchmarks.bells import ring, tally
from jobs import Asynchronous, current_job, job

CALLS, SECONDS = 10, 0.005  # of a body that asks the database: its calls, and the time of each


def may_fail(fails: bool) -> None:
    """Raise ConnectionError in a body that fails, if this is its first attempt."""
    if fails and current_job().attempt == 1:
        raise ConnectionError("fails once")


class Thing(Asynchronous, models.Model):
    # Without the constraint: the table is made without migrations, so perhaps before the one it would refer to.
    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, db_constraint=False)

    def __str__(self) -> str:
        return f"thing {self.pk}"

    @job(http=True)
    def echo(self, n: int) -> None:
        ring(n)

    # fails: at the first attempt, and does nothing else then.

    @job
    def rest(self, n: int, *, seconds: float, fails: bool = False) -> None:
        """Keeps its process for so long."""
        may_fail(fails)
        ring("begin", self.tenant_id, n)
        time.sleep(seconds)
        ring("end", self.tenant_id, n)

    @job
    def work(self, *, tenant: int, n: int, seconds: float, payload: str) -> None:
        """The same, for a driver that has numbers of its own for tenants, and with a payload."""
        ring("begin", tenant, n)
        time.sleep(seconds)
        ring("end", tenant, n)

    @job
    async def awork(self, *, tenant: int, n: int, seconds: float, payload: str) -> None:
        """`work` as a coroutine."""
        ring("begin", tenant, n)
        await asyncio.sleep(seconds)
        ring("end", tenant, n)

    @job
    def ask(self, n: int, *, fails: bool = False) -> None:
        """Asks the database CALLS times, which takes it SECONDS each."""
        may_fail(fails)
        ring("begin", self.tenant_id, n)
        ring("end", self.tenant_id, n, *{self._sleeps().get().session for _ in range(CALLS)})

    @job
    async def anothing(self, n: int, *, fails: bool = False) -> None:
        may_fail(fails)
        tally()

    @job
    async def arest(self, n: int, *, seconds: float, fails: bool = False) -> None:
        """Keeps its seat for so long, or until it is cancelled."""
        may_fail(fails)
        ring("begin", self.tenant_id, n)
        try:
            await asyncio.sleep(seconds)
        finally:
            ring("end", self.tenant_id, n)

    @job
    async def ablock(self, n: int, *, seconds: float) -> None:
        """Lets no other coroutine of its process run for so long."""
        ring("begin", self.tenant_id, n)
        time.sleep(seconds)
        ring("end", self.tenant_id, n)

    @job
    async def aask(self, n: int, *, fails: bool = False) -> None:
        """`ask` as a coroutine."""
        may_fail(fails)
        ring("begin", self.tenant_id, n)
        sessions = {(await self._sleeps().aget()).session for _ in range(CALLS)}
        ring("end", self.tenant_id, n, *sessions)

    def _sleeps(self) -> "models.QuerySet[Any]":
        """A query for this row that takes the database SECONDS, and tells the number of the session."""
        session = Func(function="pg_backend_pid", output_field=models.IntegerField())
        slept = Func(Value(SECONDS), function="pg_sleep", output_field=models.TextField())
        return Thing.objects.filter(pk=self.pk).annotate(session=session, slept=slept)
