"""Procrastinate's app, as its documentation has it: `--app benchmarks.contenders.procrastinate_app.app`."""

import asyncio
import os

from procrastinate import App, PsycopgConnector

from benchmarks.bells import ring

app = App(connector=PsycopgConnector(conninfo=os.environ.get("DATABASE_URL", "")))


@app.task(name="rest")
async def rest(tenant: int, n: int, seconds: float, payload: str) -> None:
    """A coroutine, as its worker runs them best."""
    ring("begin", tenant, n)
    await asyncio.sleep(seconds)
    ring("end", tenant, n)
