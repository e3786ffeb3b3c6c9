"""Jobs for the tests: each does one thing that a job may do, well or badly."""

import gc
import logging
import multiprocessing
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import ClassVar

from django.db import connection, models, transaction
from django.utils.functional import SimpleLazyObject

from jobs import Asynchronous, Retry, RetryLater, WaitFor, current_job, job
from tenants.conf import TENANT_MODEL
from tenants.models import Tenant
from tests.sample.evidence import ANSWERED_WITHIN, UNITS, book, labour, leave_evidence, meet
from tests.sample.light_load import LightLoad
from tests.sample.litter import LITTER
from tests.sample.ways import WAYS


class Run(models.Model):
    """Written when a body starts: how often it did, and in which process."""

    job_id = models.BigIntegerField()
    attempt = models.IntegerField()
    pid = models.IntegerField()

    def __str__(self) -> str:
        return f"job {self.job_id}, attempt {self.attempt}"


def note_run() -> int:
    current = current_job()
    Run.objects.create(job_id=current.id or 0, attempt=current.attempt, pid=os.getpid())
    return current.attempt


terminating: set[int] = set()  # processes whose next fork is terminated before it is ready
os.register_at_fork(after_in_child=lambda: os.getppid() in terminating and os.kill(os.getpid(), signal.SIGTERM))


def count_rows(_: int) -> int:
    """In a process of a body's."""
    current_job().progress(0.5, "shared out")
    return Thing.objects.count()


def spin(*, stubborn: bool) -> None:
    """Runs for ever; stubbornly: also after its soft time limit."""
    note_run()
    while True:
        try:
            time.sleep(3600)
        except Exception:
            if not stubborn:
                raise


def swallow(mib: int) -> None:
    note_run()
    swallowed = b"x" * (mib * 1024 * 1024)  # written to, so that it is resident
    while swallowed:
        time.sleep(3600)


def wait_for(path: str) -> None:
    """Until the file is there; asks nothing of PostgreSQL, which may be away, or another one afterwards."""
    while not Path(path).exists():
        time.sleep(0.02)


def report(note: str) -> None:
    """How far it is: twice, since the first report may find out that its connection is broken."""
    for _ in range(2):
        current_job().progress(0.5, note)


def think(error: BaseException, retries: int) -> float:
    """A policy that takes long to answer."""
    time.sleep(4)
    return 0.1


def leave(error: BaseException, retries: int) -> float:
    """A policy that wants to end its process."""
    raise SystemExit(3)


def hanging() -> Iterator[int]:
    """Takes for ever to close."""
    try:
        yield 1
    finally:
        time.sleep(3600)


def opted_in() -> "models.QuerySet[Tenant]":
    return Tenant.objects.filter(slug__startswith="opted-")


class Picture(models.Model):
    """Columns that Django converts when it reads them, and a key that is no number."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    tenant = models.ForeignKey(TENANT_MODEL, models.CASCADE)
    title = models.CharField(max_length=20, default="100 % blue", db_column="the title")
    tags = models.JSONField(default=list)
    price = models.DecimalField(max_digits=8, decimal_places=2, default=Decimal("9.90"))
    painted = models.DateTimeField(default=datetime(2026, 1, 1, tzinfo=UTC))
    width = models.DurationField(default=timedelta(days=2))

    class Meta:
        ordering = ("-painted",)

    def __str__(self) -> str:
        return self.title


class Fresco(Picture):
    """In two tables."""

    wall = models.CharField(max_length=20, default="north")


class Shown(models.Manager["Exhibit"]):
    """Finds what is shown at this moment."""

    hidden: ClassVar[set[int]] = set()

    def get_queryset(self) -> "models.QuerySet[Exhibit]":
        return super().get_queryset().exclude(pk__in=self.hidden)


class Exhibit(models.Model):
    tenant = models.ForeignKey(TENANT_MODEL, models.CASCADE)
    objects = Shown()

    def __str__(self) -> str:
        return f"exhibit {self.pk}"

    @job
    def dust(self) -> None: ...


class Thing(LightLoad, Asynchronous, models.Model):
    tenant = models.ForeignKey(TENANT_MODEL, models.CASCADE)

    def __str__(self) -> str:
        return f"thing {self.pk}"

    @job
    def echo(self, value: object = None, *, times: int = 1) -> list[object]:
        note_run()
        current_job().stats["times"] = times
        return [value] * times

    @classmethod
    @job(every=1.0, for_each_tenant=opted_in, catch_up="all", retry=Retry.every(0.3, max_retries=1000))
    def tick(cls) -> tuple[int, int] | None:
        """Recurs; leaves evidence where somebody wants it."""
        return labour(0, 0) if "CHAOS_EVIDENCE" in os.environ else None

    @job(queue="critical", priority=2, timeout=7)
    def urgent(self) -> None: ...

    @job(dedup_key=lambda day, **_: day[:10])
    def daily(self, day: str, verbose: bool = False) -> None: ...

    @job(dedup=False)
    def again(self) -> None: ...

    @job(dedup=False)
    def count_runs(self) -> float:
        """Remembers how often its type ran, together with the row that says so."""
        with transaction.atomic():
            note_run()
            return current_job().memory.increment("runs")

    @job(http="TELL_OVER_HTTP" in os.environ)  # in the processes of one test: elsewhere no sample is for tenants
    def tell(self) -> None:
        """Logs and prints, as an author's code does."""
        logging.getLogger("of.the.author").info("half-way")
        print("said aloud")  # noqa: T201

    @job
    def refuse(self, message: str = "no") -> None:
        note_run()
        raise ValueError(message)

    @job
    def unjson(self) -> object:
        return object()

    @job
    def large(self, size: int) -> str:
        return "x" * size

    @job
    def wait_for_lock(self, key: int) -> int:
        """Runs until the test gives up its advisory lock; shows how far it is."""
        attempt = note_run()
        current_job().progress(0.5, "waiting")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock_shared(%s), pg_advisory_unlock_shared(%s)", [key, key])
        return attempt

    @job
    def kill_first(self, times: int = 1) -> int:
        """Kills its own process in the first attempts, as the kernel does when memory runs out."""
        if note_run() <= times:
            os.kill(os.getpid(), signal.SIGKILL)
        return current_job().attempt

    @job
    def spin(self, *, stubborn: bool = False) -> None:
        spin(stubborn=stubborn)

    @job
    def count_frozen(self) -> int:
        """The objects that no collection of its process looks at."""
        return gc.get_freeze_count()

    @classmethod
    @job
    def everything(cls, region: str | None = None) -> str:
        return f"{current_job().tenant} {region}"

    def not_a_job(self) -> None: ...

    @job(retry=Retry.every(0.1, max_retries=3))
    def fail_first(self, times: int = 1) -> int:
        """Fails in the first attempts."""
        if note_run() <= times:
            raise ValueError(f"not in attempt {current_job().attempt}")
        return current_job().attempt

    @job(retry=Retry.every(0, max_retries=1))
    def spin_again(self, *, stubborn: bool = False) -> None:
        """As `spin`, and tried again."""
        spin(stubborn=stubborn)

    @job(retry=Retry.every(0, max_retries=9))
    def until_cancelled(self) -> None:
        """Runs until it is asked to stop."""
        note_run()
        while True:
            current_job().check_cancelled()
            time.sleep(0.05)

    @job(memory=300)
    def swallow(self, mib: int) -> None:
        """Uses so many MiB of memory more than its process did before, and keeps them."""
        swallow(mib)

    @job
    def swallow_by_default(self, mib: int) -> None:
        """As `swallow`, without a ceiling of its own."""
        swallow(mib)

    @job
    def wait_for_file(self, path: str) -> int:
        """Runs until the file is there, and takes it away; asks nothing of PostgreSQL meanwhile, which may be away."""
        attempt = note_run()
        while not Path(path).exists():
            time.sleep(0.02)
        Path(path).unlink()
        return attempt

    @job
    def hold_row(self, seconds: float) -> None:
        """Locks its own row, and has the server busy with a statement, whoever dies here; in its first attempt."""
        if note_run() > 1:
            return
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [current_job().id])
            cursor.execute("SELECT pg_sleep(%s)", [seconds])

    @job
    def sleep_in_database(self) -> None:
        """Has the server busy, whoever dies here."""
        note_run()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(3600)")

    @job
    def start_another(self, path: str) -> None:
        """Starts a subprocess, writes its number down, and hears nothing."""
        note_run()
        below = subprocess.Popen(["sleep", "3600"])
        Path(path).write_text(str(below.pid))
        below.wait()

    @job
    def remind(self, calls: int) -> None:
        """So many calls of which the newest wins, one after the other."""
        for number in range(calls):
            self.async_(identical="replace").echo(number)

    @job
    def share_out(self) -> dict[str, list[int]]:
        """Its work, to processes of each kind; and ends one."""
        Thing.objects.count()  # its session is open
        answers = {"terminated": []}
        for early in ({os.getpid()}, set()):
            terminating.update(early)
            process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(3600,))
            process.start()
            terminating.clear()
            process.terminate()
            process.join()
            answers["terminated"].append(process.exitcode or 0)
        for kind in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(kind).Pool(2) as pool:
                answers[kind] = pool.map(abs, [-1, -2])
        with multiprocessing.get_context("fork").Pool(2) as pool:
            answers["rows"] = pool.map(count_rows, [1, 2])
        return answers

    @job(retry=Retry.custom(think, max_retries=1))
    def spin_slowly_again(self) -> None:
        """As `spin`, stubbornly; and whoever asks its policy waits for long."""
        spin(stubborn=True)

    @job(retry=Retry.custom(leave, max_retries=1))
    def spin_and_leave(self) -> None:
        """As `spin`, stubbornly; and its policy wants to end whoever asks it."""
        spin(stubborn=True)

    @job
    def lazy(self) -> dict[str, object]:
        """What it returns is read later, and is not there."""
        note_run()
        return {"who": SimpleLazyObject(lambda: Run.objects.get(pk=0))}

    @job
    def hang_afterwards(self) -> None:
        """Fails, and leaves something behind that hangs."""
        note_run()
        left = hanging()
        next(left)
        raise ValueError("no")

    # What a chaos run submits: short jobs, whose bodies leave their evidence outside PostgreSQL.

    @job
    def work(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Ends well."""
        return labour(number, seconds)

    @job(retry=Retry.every(0.3, max_retries=1000), may_hold="queue")
    def stumble(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Fails in two of three attempts, or asks for another, at times with its lane held, or its queue."""
        _, attempt = result = labour(number, seconds)
        if attempt % 3 == 1:
            raise ValueError(f"not in attempt {attempt}")
        if attempt % 3 == 2:
            raise RetryLater(0.2, hold=(None, None, "tenant", "queue")[number % 4])
        return result

    @job
    def fail(self, number: int, *, seconds: float) -> None:
        """Ends badly."""
        raise ValueError(f"never, as {labour(number, seconds)}")

    @job(identical="gather", within=0.3, most_calls=5)
    def collect(self, *, calls: list[int]) -> tuple[int, int]:
        """Ends well, for all of its calls."""
        return labour(0, 0)

    @job
    def book(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Ends well, with a row that there is once, whatever dies."""
        return book(labour(number, seconds))

    @job
    def toil(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Works in units, and makes a checkpoint after each."""
        evidence, run = leave_evidence(number), current_job()
        for unit in range(run.cursor or 0, UNITS):
            time.sleep(seconds / UNITS)
            run.checkpoint(unit + 1)
        return evidence

    @job
    def ask(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Waits for an answer, which may come before it asks, or never."""
        result = labour(number, seconds)
        if current_job().event is None:
            raise WaitFor(f"answer:{number}", seconds=ANSWERED_WITHIN)
        return result

    @job
    def litter(self, number: int, *, kind: str, seconds: float = 0) -> tuple[int, int]:
        """Leaves something behind."""
        result = labour(number, seconds)
        LITTER[kind]()
        return result

    @job(retry=Retry.every(0.3, max_retries=1000))
    def go_astray(self, number: int, *, way: str, left: str, seconds: float = 0) -> tuple[int, int]:
        """Its ORM code leaves the thread of the body: it tells what others have left there, writes a row, and leaves
        something itself."""
        evidence = labour(number, seconds)
        WAYS[way](partial(meet, current_job().id, current_job().attempt, left))
        return evidence

    # What survives a failover: their bodies need PostgreSQL only when a file says that they may go on.

    @job(dedup=False)
    def hold(self, path: str) -> tuple[int, int]:
        """Runs until the file is there, reports its progress, and ends."""
        evidence = leave_evidence(0)
        wait_for(path)
        report("released")
        return evidence

    @job(dedup=False)
    def leave_traces(self, number: int, *, path: str, told: str) -> tuple[int, int]:
        """Runs until the file is there; then leaves its number wherever a job may, and tells another file what it
        has heard."""
        evidence = leave_evidence(number)
        wait_for(path)
        current, heard = current_job(), ""
        connection.close()  # to a server that may be gone
        report(str(number))
        try:
            heard = f"cancelled: {current.cancel_requested}"
            heard += f", remembers: {current.memory.as_dict()}"
            current.memory.merge(number=number)
        except Exception as error:
            heard += f", {type(error).__name__}"
        with Path(told).open("a") as file:
            file.write(f"{current.id} {number} {heard}\n")
        current.check_cancelled()
        return evidence
