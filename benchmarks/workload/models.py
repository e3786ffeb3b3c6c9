"""The bodies that are measured: each rings, so that no contender is asked through its own tables."""

import asyncio
import time

from django.db import models

from benchmarks.bells import ring
from jobs import Asynchronous, job


class Thing(Asynchronous, models.Model):
    # Without the constraint: the table is made without migrations, so perhaps before the one it would refer to.
    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, db_constraint=False)

    def __str__(self) -> str:
        return f"thing {self.pk}"

    @job(http=True)
    def echo(self, n: int) -> None:
        ring(n)

    @job
    def rest(self, n: int, *, seconds: float) -> None:
        """Keeps its process for so long."""
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
    async def aecho(self, n: int) -> None:
        ring(n)

    @job
    async def arest(self, n: int, *, seconds: float) -> None:
        """Keeps its seat for so long."""
        ring("begin", self.tenant_id, n)
        await asyncio.sleep(seconds)
        ring("end", self.tenant_id, n)
