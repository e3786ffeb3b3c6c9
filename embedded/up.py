"""`python -m embedded up`: run the whole system on this machine until Ctrl-C."""

import os
import subprocess
import threading
from pathlib import Path

from embedded import EmbeddedError, data_dir, engines, fleet, signals
from embedded.processes import Processes

BANNER = """
  Reports     http://127.0.0.1:{port}/           the sample product
  Operators   http://127.0.0.1:{port}/ops/       what runs, what waits and why
  Members     http://127.0.0.1:{port}/jobs/      a tenant's own jobs
  Admin       http://127.0.0.1:{port}/admin/     slots, queues, keys
  API         http://127.0.0.1:{port}/api/v1/docs
  Data, logs  {directory}, {directory}/log
  Stop        Ctrl-C

"""
MAIL_PROCESSES = 1  # of the light pool: it has many seats in each


def up() -> int:
    """Start engines, migrations, sample data, web and workers; stop them in reverse. Return the exit status."""
    signals.on_stop(signals.leave)
    port, concurrency = _number("WEB_PORT", 8000), _number("WORKER_CONCURRENCY", 4)
    if fleet.listens(port):
        raise EmbeddedError(f"Port {port} is taken. Choose another: WEB_PORT={port + 1} make up")
    with (
        data_dir.kept() as directory,
        Processes() as processes,
        engines.running(directory, processes, os.environ, durable=True) as environ,
    ):
        log = directory / "log"
        _say("Preparing the database ...")
        _manage(environ, "migrate", "--verbosity", "0")
        logins = _manage(environ, "seed_demo", "--mails")
        _say("Starting web and workers ...")
        web = processes.start("web", *fleet.web(port, environ), log=log / "web.log", restart=True)
        for pool, count in (("default", concurrency), ("mail", MAIL_PROCESSES)):
            name = "worker" if pool == "default" else f"worker-{pool}"
            command = fleet.worker(pool, count, environ=environ)
            processes.start(name, *command, log=log / f"{name}.log", restart=True)
        web.wait_until(lambda: fleet.listens(port))
        _say(BANNER.format(port=port, directory=_short(directory)) + _indented(logins))
        stop_requested = threading.Event()
        signals.on_stop(lambda _number: stop_requested.set())
        while not stop_requested.wait(1):  # always with a time limit: see orphans.wait
            pass
        _say("\nStopping; running jobs may take some seconds ...")
        signals.on_stop(signals.ignore)
    return 0


def _number(variable: str, default: int) -> int:
    given = os.environ.get(variable) or str(default)
    if not given.isdecimal() or not 1 <= int(given) <= 65535:  # noqa: PLR2004
        raise EmbeddedError(f"{variable} must be a whole number from 1 to 65535, not {given!r}.")
    return int(given)


def _manage(environ: dict[str, str], *arguments: str) -> str:
    argv, env = fleet.manage(*arguments, environ=environ)
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)
    if done.returncode:
        raise EmbeddedError(f"manage.py {arguments[0]} failed.\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def _short(directory: Path) -> Path:
    return directory.relative_to(Path.cwd()) if directory.is_relative_to(Path.cwd()) else directory


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" if line else "\n" for line in text.splitlines())


def _say(text: str) -> None:
    print(text, flush=True)
