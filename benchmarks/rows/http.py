"""http: submit and read jobs over HTTP, beside a bare endpoint on the same server: one web process, four clients.

CPU is that of the web process and of the database. The bars apply to the server with the fastest bare endpoint.
"""

import itertools
from functools import partial
from pathlib import Path

from benchmarks import finishing, http_sides, stage, web_servers
from benchmarks.bars import Bar, Figures
from benchmarks.clients import Ask, Clients, rate, ready
from benchmarks.cpu import Meter
from embedded import fleet
from jobs.engine.door import dispatch
from tests.waiting import wait_until

CLIENTS, WARM, WINDOW = 4, 100, 5.0  # requests, seconds
BEST = "best"
RATE, WEB, DATABASE, CPU = "/s", "web CPU ms", "db CPU ms", "CPU ms"

BARS = [
    Bar(of=(f"POST, {BEST}, {CPU}", "ours"), to=(f"POST, {BEST}, {CPU}", "bare"), at_most=2),
    Bar(of=(f"POST, {BEST}, {RATE}", "ours"), to=(f"POST, {BEST}, {RATE}", "bare"), at_least=0.53),  # 250 of 470
    Bar(of=(f"GET, {BEST}, {CPU}", "ours"), to=(f"GET, {BEST}, {CPU}", "bare"), at_most=2),
    Bar(of=(f"GET, {BEST}, {RATE}", "ours"), at_least=350),
]


def measure(directory: Path) -> Figures:
    """Measure every installed server; repeat the figures of the best one."""
    figures: Figures = {}
    sides = [http_sides.ours(), http_sides.bare()]
    finishing.register(1)
    dispatch.dispatch()  # from now on the pool is full, and each POST's dispatch sees that
    servers = web_servers.installed()
    for (server, command), side in itertools.product(servers.items(), sides):
        port = fleet.free_port()
        process = command(port, web_servers.environment(side.settings))
        with stage.playing(directory, f"{server}-{side.name}", process) as web:
            wait_until(partial(ready, port), f"{server} answers")
            for verb, ask in side.asks.items():
                for what, value in _load(web.pid, port, side.token, ask).items():
                    figures.setdefault(f"{verb}, {server}, {what}", {})[side.name] = value
    best = max(servers, key=lambda server: figures[f"POST, {server}, {RATE}"]["bare"])
    for verb, what in itertools.product(sides[0].asks, (RATE, CPU)):
        figures[f"{verb}, {BEST}, {what}"] = dict(figures[f"{verb}, {best}, {what}"])
    return figures


def _load(pid: int, port: int, token: str, ask: Ask) -> dict[str, float]:
    clients = Clients(port, token, ask, CLIENTS)
    try:
        wait_until(lambda: clients.answered > WARM, "the first requests are answered")
        meter = Meter(pid)
        count, seconds = rate(clients, WINDOW)
        web, database = meter.read(count)
    finally:
        clients.stop()
    figures = {RATE: count / seconds, WEB: web}
    if database is not None:
        figures |= {DATABASE: database, CPU: web + database}
    return figures
