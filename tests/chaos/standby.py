"""A PostgreSQL and its streaming standby, which fail over again and again; and a copy that is put back.

Each of the two servers keeps its directory and its socket while they change roles, so one address with both sockets
stays right for ever.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import psycopg

from embedded import binaries, postgresql
from embedded.process import Process
from embedded.processes import Processes
from tests.chaos.freezing import has_ended
from tests.waiting import wait_until

FOLLOWS = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
SYNCHRONOUS = f"{FOLLOWS} AND sync_state = 'sync'"


@dataclass(frozen=True)
class Server:
    """One of the two. home: its data are beneath, in `postgresql`. process: supervised, until it is killed."""

    home: Path
    process: Process

    @property
    def socket(self) -> Path:
        return postgresql.socket_directory(self.home)

    @property
    def data(self) -> Path:
        return self.home / "postgresql"

    def ask(self, statement: str) -> Any:
        """The first value of a statement of the administrator's, each a transaction of its own."""
        address = {"host": str(self.socket), "user": postgresql.ADMIN, "dbname": postgresql.DATABASE}
        with psycopg.connect(**address, connect_timeout=5, autocommit=True) as session:
            cursor = session.execute(statement)
            return cursor.fetchone()[0] if cursor.description else None

    def set(self, name: str, value: str) -> None:
        """A setting that needs no restart, on a standby too; "" is the default."""
        self.ask(f"ALTER SYSTEM SET {name} = '{value}'" if value else f"ALTER SYSTEM RESET {name}")
        self.ask("SELECT pg_reload_conf()")

    def kill(self) -> None:
        """kill -9, every process of it at the same moment, as when a machine is gone; nobody starts it again."""
        self.process.restart = False
        pids = self._all_stopped()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.process.wait(10)
        wait_until(lambda: all(map(has_ended, pids)), "the server's processes end")
        segment = (self.data / "postmaster.pid").read_text().splitlines()[6].split()[1]
        subprocess.run(["ipcrm", "-m", segment], check=True)  # which it would have left to the machine

    def stop(self) -> None:
        """In good order: a standby gets everything first. Nobody starts it again."""
        self.process.restart = False
        os.kill(self.process.pid, signal.SIGINT)
        self.process.wait(30)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It accepts, and answers nothing, as a machine that swaps, or is moved."""
        pids = self._all_stopped()
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def copy(self, into: Path, *options: str) -> None:
        """A base backup into this directory, which is new or empty."""
        program = binaries.postgres().with_name("pg_basebackup")
        argv = [str(program), "-h", str(self.socket), "-U", postgresql.ADMIN, "-D", str(into)]
        done = postgresql.run([*argv, "-c", "fast", "--no-sync", *options])
        assert done.returncode == 0, done.stderr

    def start_on(self, copy: Path) -> None:
        """Put the copy in the place of its data, and let it be started again."""
        shutil.rmtree(self.data)
        copy.rename(self.data)
        self.process.restart = True
        wait_until(self._answers, f"the server in {self.home} answers")

    def _answers(self) -> bool:
        try:
            self.ask("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def _all_stopped(self) -> list[int]:
        os.kill(self.process.pid, signal.SIGSTOP)  # first: from now on it has no more children
        pids = [child.pid for child in psutil.Process(self.process.pid).children(recursive=True)]
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        return [self.process.pid, *pids]


class Pair:
    """A primary and its standby. synchronous: what is committed is on both, as long as there is a standby."""

    def __init__(self, primary: Server, processes: Processes, *, synchronous: bool) -> None:
        self.primary = primary
        self._synchronous = synchronous
        primary.set("wal_retrieve_retry_interval", "100ms")  # of the standby, which gets a copy of the settings
        home = primary.home / "standby"
        home.mkdir()
        primary.copy(home / "postgresql", "-R")
        postgresql.start(home, processes, durable=False)
        self.standby = Server(home, list(processes)[-1])
        self.wait_for_standby()

    def url(self, session: str) -> str:
        """The address with both servers. session: `target_session_attrs` of libpq."""
        sockets = ",".join(quote(str(server.socket), safe="") for server in (self.primary, self.standby))
        return f"postgres://{postgresql.ROLE}@/{postgresql.DATABASE}?host={sockets}&target_session_attrs={session}"

    def catch_up(self) -> None:
        """Until the standby has what is on the disk of the primary now."""
        position = self.primary.ask("SELECT pg_current_wal_flush_lsn()")
        wait_until(
            lambda: self.standby.ask(f"SELECT pg_last_wal_replay_lsn() >= '{position}'"), "the standby catches up"
        )

    @contextmanager
    def lagging(self) -> Iterator[None]:
        """Nothing more reaches the standby; never, if the primary is killed meanwhile."""
        sender = self.primary.ask("SELECT pid FROM pg_stat_replication")
        os.kill(sender, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.kill(sender, signal.SIGCONT)

    def promote(self) -> None:
        """The standby takes the primary's place, and waits for no standby before it has one."""
        self.standby.set("synchronous_standby_names", "")
        assert self.standby.ask("SELECT pg_promote()"), "it was not promoted in time"
        self.primary, self.standby = self.standby, self.primary

    def build_standby(self) -> None:
        """Make a standby of the present primary in the place of the server that was lost."""
        copy = self.standby.home / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        self.primary.copy(copy, "-R")
        self.standby.start_on(copy)
        self.wait_for_standby()

    def wait_for_standby(self) -> None:
        """Until it follows, and what is committed waits for it if that was wished."""
        wait_until(lambda: self.primary.ask(FOLLOWS), "the standby follows")
        if self._synchronous:
            self.primary.set("synchronous_standby_names", "*")
            wait_until(lambda: self.primary.ask(SYNCHRONOUS), "the standby is synchronous")
