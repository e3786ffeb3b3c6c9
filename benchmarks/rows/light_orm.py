"""light_orm: bodies that ask the database ten times, 5 ms each, through Django's ORM.

Two light processes of 100 seats, whose database threads have a session each, beside eight processes of an ordinary
pool.
"""

import time
from pathlib import Path

from benchmarks import THOROUGH, bells, databases, stage
from benchmarks.bars import Bar, Figures
from benchmarks.contenders.light import Light
from benchmarks.contenders.ours import Ours
from tests.waiting import wait_until

TENANTS, SEATS, LIGHT, PROCESSES = 10, 200, 2, 8  # seats of both light processes
WARM, WINDOW = 400, 10.0  # jobs, seconds
COUNT = 6_000  # jobs: more than end

RATE, SESSIONS = "jobs/s", "sessions of the bodies, of a process"

BARS = [
    Bar(of=(RATE, "light"), to=(RATE, "ordinary"), at_least=0.9, goal=1.2),
    Bar(of=(SESSIONS, "light"), at_most=8),
]


def measure(directory: Path) -> Figures:
    """The light pool, then the ordinary one."""
    light = _asked(Light(seats=SEATS // LIGHT), "aask", SEATS, LIGHT, directory)
    databases.empty()
    ordinary = _asked(Ours(mixed=THOROUGH), "ask", PROCESSES, PROCESSES, directory)
    return {what: {"light": light[what], "ordinary": ordinary[what]} for what in light}


def _asked(side: Ours, method: str, bodies: int, processes: int, directory: Path) -> dict[str, float]:
    side.prepare(tenants=TENANTS, slots=max(bodies // TENANTS, 1))
    side.store(method, range(COUNT))
    bells.forget()
    with stage.crew(directory, side.workers(processes)):
        wait_until(lambda: len(_ends()) >= WARM, "the first jobs have run")
        since, before = time.monotonic(), len(_ends())
        wait_until(lambda: time.monotonic() > since + WINDOW, "the window ends")
        ends, seconds = _ends(), time.monotonic() - since
    told = {session for _, *sessions in ends for session in sessions}
    return {RATE: (len(ends) - before) / seconds, SESSIONS: len(told) / processes}


def _ends() -> list[list[str]]:
    """Of each job that has ended: its number, and its sessions."""
    return [words for _, (what, _, *words) in bells.heard() if what == "end"]
