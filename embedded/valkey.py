"""The embedded Valkey: broker and cache, on a loopback port, with a new password for each run."""

import secrets
import signal
from pathlib import Path

import redis

from embedded import binaries, data_dir
from embedded.fleet import free_port
from embedded.processes import Processes

BROKER, CACHE = 0, 1  # database numbers


def start(directory: Path, processes: Processes) -> tuple[str, str]:
    """Start the server with its data beneath `directory`. Return the URLs for Celery and for Django's cache."""
    program, home = binaries.valkey(), directory / "valkey"
    home.mkdir(mode=0o700, exist_ok=True)
    port, password = free_port(), secrets.token_urlsafe(32)
    file = home / "valkey.conf"  # a file, because every user can read a command line
    data_dir.write_private(file, configuration(home, port, password))
    process = processes.start(
        "valkey",
        [str(program), str(file)],
        log=directory / "log" / "valkey.log",
        restart=True,
        home=home,
        death_signal=signal.SIGTERM,
    )
    with redis.Redis(port=port, password=password, socket_timeout=5) as client:
        process.wait_until(lambda: _answers(client))
    return url(port, password, BROKER), url(port, password, CACHE)


def url(port: int, password: str, database: int) -> str:
    """Return the URL of one of the server's databases."""
    return f"redis://:{password}@127.0.0.1:{port}/{database}"


def configuration(home: Path, port: int, password: str) -> str:
    """Return the text of the configuration file: accepted writes survive kill -9, and a lack of memory is an error."""
    quoted = str(home).replace("\\", "\\\\").replace('"', '\\"')
    return f"""bind 127.0.0.1
port {port}
requirepass {password}
dir "{quoted}"
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
