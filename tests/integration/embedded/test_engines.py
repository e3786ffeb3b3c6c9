"""`python -m embedded run`, from outside: real engines, started, used, killed, and gone.

Each test has a data directory of its own, and looks at the end for processes that have to do with it.
"""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from embedded import REPOSITORY, postgresql
from tests.integration.embedded.test_processes import ended

ROOT = os.geteuid() == 0
LONG = pytest.mark.long(
    "engines that outlive a signal, a kill or a run; each run of the tests starts and stops its own"
)
OURS = ("DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL", "EMBEDDED_ENGINES", "DATA_DIR")

# Says what the engines answer, as one line of JSON, and leaves a mark for the next run.
PROBE = """
import json, os, psycopg, redis
with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS marks (at timestamptz)")
    connection.execute("INSERT INTO marks VALUES (now())")
    marks, = connection.execute("SELECT count(*) FROM marks").fetchone()
    role = connection.execute(
        "SELECT rolname, rolsuper, rolcreatedb FROM pg_roles WHERE rolname = current_user").fetchone()
    settings = dict(connection.execute("SELECT name, setting FROM pg_settings").fetchall())
broker, cache = (redis.Redis.from_url(os.environ[name]) for name in ("CELERY_BROKER_URL", "CACHE_URL"))
answer = {
    "marks": marks, "role": role, "pushed": broker.rpush("marks", "x"), "cached": cache.exists("marks"),
    "max_connections": int(settings["max_connections"]), "fsync": settings["fsync"],
    "listen": settings["listen_addresses"], "embedded": os.environ["EMBEDDED_ENGINES"],
    "aof": broker.config_get("append*"), "policy": broker.config_get("maxmemory-policy"),
}
broker.close(), cache.close()
print(json.dumps(answer))
"""
WAITING = "import signal; print('ready', flush=True); signal.pause()"


def clean_environment(data: Path, **extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**kept, "DATA_DIR": str(data), **extra}


def launcher(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "embedded", *arguments]


def run(data: Path, *command: str, options: tuple[str, ...] = (), **extra: str):
    return subprocess.run(
        launcher("run", *options, "--", *command),
        cwd=REPOSITORY,
        env=clean_environment(data, **extra),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def probe(data: Path, **keywords) -> dict:
    done = run(data, sys.executable, "-c", PROBE, **keywords)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def waiting(data):
    """Start a run whose command is ready and waits, in a process group of its own, as in a terminal."""
    started = []

    def start(script: str = WAITING) -> subprocess.Popen:
        process = subprocess.Popen(
            launcher("run", "--", sys.executable, "-c", script),
            cwd=REPOSITORY,
            env=clean_environment(data),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:  # a test that failed half-way has not stopped it
        process.terminate()
        process.communicate(timeout=30)


def processes_about(path: Path) -> list[str]:
    """Those that work in `path` or name it on their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = os.fspath((entry / "cwd").readlink())
        except OSError:
            continue
        if int(entry.name) != os.getpid() and (str(path) in words or place.startswith(str(path))):
            found.append(f"{entry.name} {words}")
    return found


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data"
    yield path
    assert processes_about(path) == []


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """An empty cluster, made once: initdb takes longer than the rest of most tests."""
    place = tmp_path_factory.mktemp("cluster")
    assert run(place, "true").returncode == 0
    return place / "postgresql"


@pytest.fixture
def made(data, cluster):
    """A data directory in which an earlier run has made the cluster."""
    shutil.copytree(cluster, data / "postgresql")
    return data


def test_the_engines_answer_and_a_second_run_finds_the_data_of_the_first(data):
    first = probe(data)
    cluster = [data / "postgresql", *(data / "postgresql").rglob("*")]
    if ROOT:  # reached, by way of directories that only root may enter
        assert {path.owner() for path in cluster} == {"nobody"}
        assert data.parent.parent.stat().st_mode & 0o077 == 0
        for path in cluster:
            os.chown(path, 0, 0)  # as an earlier version left it
    second = probe(data)
    assert (first["marks"], first["pushed"]) == (1, 1)
    assert (second["marks"], second["pushed"]) == (2, 2)
    assert second["cached"] == 0, "broker and cache share a database"
    assert second["role"] == ["app", False, True]
    assert second["listen"] == ""
    assert second["fsync"] == "on"
    assert second["max_connections"] >= 200
    assert second["embedded"] == "postgresql,valkey"
    assert second["aof"]["appendonly"] == "yes"
    assert second["aof"]["appendfsync"] == "everysec"
    assert second["policy"] == {"maxmemory-policy": "noeviction"}


@LONG
def test_throwaway_data_is_fresh_and_leaves_nothing(data, tmp_path):
    script = PROBE + "print(os.environ['DATABASE_URL'])"
    for _ in range(2):
        done = run(data, sys.executable, "-c", script, options=("--throwaway",), TMPDIR=str(tmp_path))
        answer, url = done.stdout.splitlines()
        assert json.loads(answer)["marks"] == 1
        assert json.loads(answer)["fsync"] == "off"
        assert not Path(url.partition("host=")[2]).exists()
        assert list(tmp_path.iterdir()) == []
    assert not data.exists()


def test_the_exit_status_is_the_commands(made):
    for script, status in [("exit 7", 7), ("kill -9 $$", 137), ("exit 0", 0)]:
        assert run(made, "sh", "-c", script).returncode == status


def test_a_command_that_is_not_there(made):
    done = run(made, "/no/such/command")
    assert done.returncode == 127
    assert "/no/such/command: No such file" in done.stderr


def test_urls_in_the_environment_win(data):
    servers = {
        "DATABASE_URL": "postgres://db/x",
        "CELERY_BROKER_URL": "amqp://mq//",
        "CACHE_URL": "redis://c",
    }
    seen = dict(line.split("=", 1) for line in run(data, "env", **servers).stdout.splitlines() if "=" in line)
    assert {name: seen[name] for name in servers} == servers
    assert "EMBEDDED_ENGINES" not in seen
    assert not (data / "postgresql").exists()
    assert not (data / "valkey").exists()


def test_one_url_replaces_one_engine(data):
    urls = {"DATABASE_URL": "postgres://db/x", "CELERY_BROKER_URL": "", "CACHE_URL": "redis://c"}
    lines = run(data, "env", **urls).stdout.splitlines()
    assert {"DATABASE_URL=postgres://db/x", "CACHE_URL=redis://c", "EMBEDDED_ENGINES=valkey"} <= set(lines)
    assert not (data / "postgresql").exists()


@LONG
def test_a_long_path_with_a_blank_in_it(data):
    place = data / ("long " * 24)
    assert probe(place)["marks"] == 1
    assert probe(place)["marks"] == 2
    assert not postgresql.socket_directory(place).exists()


@LONG
def test_a_foreign_locale_and_postgresql_variables_do_no_harm(data):
    extra = {"LANG": "xx_YY", "LC_ALL": "xx_YY.UTF-8", "PGPORT": "1", "PGHOST": "nowhere", "PGDATA": "/none"}
    assert probe(data, **extra)["marks"] == 1


@LONG
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_command_once_and_nothing_stays(made, waiting, number):
    script = f"""
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}])
print("ready", flush=True)
signal.sigwait([{int(number)}])
print("again:", signal.sigtimedwait([{int(number)}], 0.5), flush=True)
sys.exit(5)
"""
    process = waiting(script)
    os.killpg(process.pid, number)  # what Ctrl-C does: the whole group hears it
    output, _ = process.communicate(timeout=30)
    assert output == "again: None\n"
    assert process.returncode == 5


@LONG
def test_a_signal_before_the_command_runs_stops_what_has_started(data):
    process = subprocess.Popen(launcher("run", "--", "true"), cwd=REPOSITORY, env=clean_environment(data))
    while not (data / "lock").exists() and process.poll() is None:
        os.sched_yield()
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 128 + signal.SIGTERM


def test_a_signal_in_a_destructor_which_swallows_exceptions_stops_it_too():
    script = """
import os
from embedded import signals
class Last:
    def __del__(self):
        os.kill(os.getpid(), 15)
signals.on_stop(signals.leave)
Last()
signals.on_stop(print)
print("goes on")
"""
    process = subprocess.Popen([sys.executable, "-c", script], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    assert process.communicate(timeout=30) == ("", None)
    assert process.returncode == 128 + signal.SIGTERM


@LONG
def test_the_children_of_a_killed_command_are_stopped(made, tmp_path):
    deaf = 'trap "" TERM; echo $$; touch $READY; while :; do sleep 1000; done'
    script = f"setsid sh -c '{deaf}' & until [ -e $READY ]; do sleep 0.02; done; kill -9 $$"
    done = run(made, "sh", "-c", script, READY=str(tmp_path / "ready"))
    assert done.returncode == 137
    assert ended(int(done.stdout.split()[0]), limit=0)


@LONG
def test_a_second_launcher_is_refused_and_told_where_the_urls_are(made, waiting):
    process = waiting()
    second = run(made, "true")
    state = made / "engines.env"
    assert second.returncode == 1
    assert f"in use by process {process.pid}" in second.stderr
    assert str(state) in second.stderr
    assert "DATABASE_URL=postgres://" in state.read_text()
    assert state.stat().st_mode & 0o077 == 0
    process.terminate()
    process.communicate(timeout=30)
    assert not state.exists()


@LONG
def test_a_killed_launcher_takes_all_with_it_and_the_next_run_works_at_once(made, waiting):
    process = waiting()
    below = psutil.Process(process.pid).children(recursive=True)
    assert {"postgres", "valkey-server"} <= {one.name() for one in below}
    process.kill()
    assert probe(made)["marks"] == 1
    process.communicate(timeout=30)
    assert not [one for one in below if one.is_running()]


@LONG
def test_a_pid_file_whose_number_went_to_somebody_else_harms_nobody(made):
    probe(made)
    owner = "nobody" if ROOT else None  # as the server: PostgreSQL knows that another user's process is none
    with subprocess.Popen(["sleep", "1000"], user=owner) as bystander:
        socket_lock = postgresql.socket_directory(made) / ".s.PGSQL.5432.lock"
        socket_lock.parent.mkdir(mode=0o700)
        for file in (made / "postgresql/postmaster.pid", socket_lock):
            file.write_text(f"{bystander.pid}\n{made}\n")
        try:
            probe(made)
            assert bystander.poll() is None
        finally:
            bystander.kill()


def test_up_says_which_port_is_taken(data):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        done = subprocess.run(
            launcher("up"),
            cwd=REPOSITORY,
            env=clean_environment(data, WEB_PORT=str(port)),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 1
    assert f"Port {port} is taken" in done.stderr


# On Pythons before 3.11.3, as Debian 12's, redis-py asks for a package that ours does not need.
ASYNC_TIMEOUT = "from asyncio import timeout as timeout"


def interpreter_for(user: pwd.struct_passwd, path: str) -> str | None:
    """One with our packages that `user` may execute: ours may be under root's home."""
    same = f"python3.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{same}"):
        try:
            subprocess.run(
                [candidate, "-c", "import psycopg, redis, embedded"],
                user=user.pw_uid,
                group=user.pw_gid,
                extra_groups=[],
                cwd=REPOSITORY,
                env={"PYTHONPATH": path, "PATH": os.environ["PATH"]},
                check=True,
                capture_output=True,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return candidate
    return None


@LONG
@pytest.mark.skipif(not ROOT, reason="the other tests have just shown it: this is an ordinary user")
def test_an_ordinary_user():
    user = pwd.getpwnam("nobody")
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chown(place, user.pw_uid, user.pw_gid)
        Path(place, "async_timeout.py").write_text(ASYNC_TIMEOUT)
        path = os.pathsep.join([*sys.path, place])
        python = interpreter_for(user, path)
        if python is None:
            pytest.skip("no interpreter, or not this checkout, is within reach of the user nobody")
        done = subprocess.run(
            [python, "-m", "embedded", "run", "--", python, "-c", PROBE],
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
            cwd=REPOSITORY,
            env=clean_environment(Path(place) / "data", PYTHONPATH=path, HOME=place),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["marks"] == 1
        assert (Path(place) / "data" / "postgresql").stat().st_uid == user.pw_uid
        assert processes_about(Path(place)) == []
