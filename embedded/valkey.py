"""The embedded Valkey: broker and cache, on a loopback port, with a new password for each run."""

import secrets
import signal
from functools import partial
from pathlib import Path

import redis

from embedded import EmbeddedError, binaries, data_dir, leftovers, ready
from embedded.fleet import free_port
from embedded.processes import Processes

BROKER, CACHE = 0, 1  # database numbers
ATTEMPTS = 3  # to find a port that is still free when the server takes it


def start(directory: Path, processes: Processes) -> tuple[str, str]:
    """Start it with its data beneath `directory`. Return the URLs for Celery and for Django's cache."""
    program = binaries.valkey()
    home = directory / "valkey"
    home.mkdir(mode=0o700, exist_ok=True)
    leftovers.wait_for(home)
    password = secrets.token_urlsafe(32)
    for attempt in range(1, ATTEMPTS + 1):
        port = free_port()
        file = home / "valkey.conf"  # a file, because every user can read a command line
        data_dir.write_private(file, configuration(home, port, password))
        log = directory / "log" / "valkey.log"
        process = processes.start(
            "valkey", [str(program), str(file)], log=log, restart=True, death_signal=signal.SIGTERM
        )
        try:
            with redis.Redis(port=port, password=password, socket_timeout=5) as client:
                ready.wait(process, partial(_answers, client))
        except EmbeddedError:
            process.stop()
            if attempt == ATTEMPTS or "Address already in use" not in log.read_text(errors="replace"):
                raise
        else:
            break
    return url(port, password, BROKER), url(port, password, CACHE)


def url(port: int, password: str, database: int) -> str:
    """The URL of one of its databases."""
    return f"redis://:{password}@127.0.0.1:{port}/{database}"


def configuration(home: Path, port: int, password: str) -> str:
    """The configuration file: accepted writes survive kill -9, and a lack of memory is an error."""
    quoted = str(home).replace("\\", "\\\\").replace('"', '\\"')
    return f"""bind 127.0.0.1
port {port}
requirepass {password}
dir "{quoted}"
pidfile "{quoted}/{leftovers.PID_FILES["valkey"]}"
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
"""


def _answers(client: redis.Redis) -> bool:
    try:
        client.ping()
    except redis.ConnectionError:  # not up yet, or still loading its data
        return False
    return True
