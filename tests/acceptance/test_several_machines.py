"""What docs/several-machines.md tells to type, on hosts that are network namespaces: TLS, firewalls, units, workers."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from embedded import REPOSITORY, postgresql
from tests.acceptance.checkout import checkout
from tests.hosts import Net, missing
from tests.hosts.machine import DEBIAN, Machine
from tests.pages import blocks
from tests.waiting import wait_until

PAGE, HOUR = (REPOSITORY / "docs" / name for name in ("several-machines.md", "first-production-hour.md"))
PROGRAMS = ("openssl", "redis-server", "nft", "curl", "ss", "unshare")
ABSENT = [name for name in PROGRAMS if shutil.which(name, path=f"{os.defpath}:/usr/sbin:/sbin") is None]
pytestmark = [
    pytest.mark.long(
        "a command of the page that does not do what it says; its links are read in tests/integration/docs"
    ),
    pytest.mark.skipif(bool(ABSENT), reason=f"not installed here: {', '.join(ABSENT)}"),
    pytest.mark.skipif(not (DEBIAN / "postgres").exists(), reason="no PostgreSQL 15 of Debian: make postgresql-15"),
]
SHELL = [block.text for block in blocks(PAGE, "sh")]
INSTALL, AUTHORITY, POSTGRESQL, ROLE, REDIS, SETTINGS, FIREWALL, LISTEN = SHELL[:8]
PROGRAM, SEND, CHECK, WEB, READY, WORK, LIST, KILL, ADDRESS, READY_FROM_PROXY = SHELL[8:]
MANAGE = CHECK.partition("manage check")[0]
RULES = re.findall(r"`((?:tcp|ip saddr)[^`]* accept)`", PAGE.read_text().replace("\n", " "))
# What takes long, or wants a person: the packages of `.venv`, the password of a user.
LEFT_OUT = [line for line in (PROGRAM + WEB).splitlines() if "pip install" in line or "createsuperuser" in line]
# A user and what Debian's package makes.
DEBIANS = {
    "etc/postgresql/15/main/conf.d/none.conf": "",
    "etc/postgresql/15/main/pg_hba.conf": "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n",
    "etc/redis/redis.conf": "bind 127.0.0.1 -::1\nprotected-mode yes\nport 6379\n",
}
SOON = 60.0  # seconds, on a busy machine
CALL = '{"source_type": "reports.datareport", "source_id": 1, "source_method": "execute", "args": {}}'


class Machines(NamedTuple):
    data: Machine
    web: Machine
    work_1: Machine
    work_2: Machine
    proxy: Machine

    def typed(self, text: str) -> str:
        """The text with the addresses that these machines have, and without what is left out."""
        numbers = {"10": self.data, "20": self.web, "31": self.work_1, "32": self.work_2, "5": self.proxy}
        subnet = self.data.host.address.rpartition(".")[0]
        for line in LEFT_OUT:
            text = text.replace(line, ":")
        return re.sub(
            r"10\.20\.0\.(\d+)",
            lambda found: numbers[found[1]].host.address if found[1] != "0" else f"{subnet}.0",
            text,
        )

    def type_in(self, machine: Machine, *texts: str) -> str:
        return "".join([machine.type_in(self.typed(text)) for text in texts])

    def manage(self, *words: str, given: str = "") -> str:
        """On the machine `web`."""
        return self.web.type_in(f"{MANAGE}\nmanage {shlex.join(words)} <<'GIVEN'\n{given}\nGIVEN\n")

    def firewall(self, machine: Machine, *last: str) -> None:
        """Step 1's, with these in place of its last two rules."""
        text = re.sub(r"( +tcp dport 22 accept\n).*accept\n", "".join(f"        {rule}\n" for rule in last), FIREWALL)
        assert text != FIREWALL
        self.type_in(machine, text)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    if missing():
        pytest.skip(missing())
    copy = tmp_path / "checkout"
    checkout(copy)
    with TemporaryDirectory() as socket, Net() as net:
        path = f"{DEBIAN}:{os.defpath}:/usr/sbin:/sbin"
        environ = {"PATH": path, "PGHOST": socket, "PGUSER": postgresql.ADMIN}
        names = ("data", "web", "work-1", "work-2", "proxy")
        made = Machines(*(Machine(net.host(name), tmp_path / "machines", environ, copy) for name in names))
        Path(socket).chmod(0o777)
        install_debians(made.data.root)
        yield made


def install_debians(root: Path) -> None:
    """What apt-get would leave on the machine `data`."""
    for name, text in DEBIANS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    data = root / "var/lib/postgresql"
    initdb = [str(DEBIAN / "initdb"), "-D", str(data), "-U", postgresql.ADMIN, "-A", "trust", "--no-sync"]
    done = postgresql.run([*initdb, *postgresql.locale_options(15)])
    assert done.returncode == 0, done.stderr
    home = root / "etc/postgresql/15/main"
    (home / "postgresql.conf").write_text((data / "postgresql.conf").read_text() + "include_dir = 'conf.d'\n")
    redis = root / "var/lib/redis"
    redis.mkdir()
    with (root / "etc/redis/redis.conf").open("a") as configuration:
        configuration.write(f"dir {redis}\n")


def refused(machines: Machines, machine: Machine, **changed: str) -> str:
    """What psql says there, with these parameters in the URL of the settings."""
    [url] = re.findall(r"^DATABASE_URL=(.*)$", (machine.root / "etc/scheduler/scheduler.env").read_text(), re.MULTILINE)
    for name, value in changed.items():
        url = re.sub(rf"(?<={name}=)[^&]*", value, url)
    done = machine.host.run(["psql", url, "-c", "SELECT 1"], {"PATH": str(DEBIAN)})
    assert done.returncode != 0
    return done.stdout


def of_workers(machines: Machines, column: str) -> set[str]:
    """That column of those that live; for polls, which `manage.py` would make costly."""
    statement = f"SELECT {column} FROM workers w WHERE gone_at IS NULL"
    return set(machines.data.type_in(f"su postgres -c \"psql -XAt -d scheduler -c '{statement}'\"").split())


@contextmanager
def shown_if_it_fails(machines: Machines) -> Iterator[None]:
    try:
        yield
    finally:
        for machine in machines:
            for log in machine.root.glob("*.log"):
                print(f"--- {machine.host.name}: {log.name}\n", *log.read_text().splitlines(keepends=True)[-30:])  # noqa: T201


def test_three_machines_and_a_second_worker_are_made_by_what_the_page_types(machines):
    data, web, work_1, work_2, proxy = machines
    with shown_if_it_fails(machines):
        machines.type_in(data, INSTALL, AUTHORITY, POSTGRESQL, ROLE, REDIS, SETTINGS, FIREWALL)
        listening = machines.type_in(data, LISTEN)
        assert {"0.0.0.0:5432", "0.0.0.0:6379"} <= set(listening.split())
        for port in (5432, 6379):
            assert web.host.reaches(data.host.address, port)
            assert not proxy.host.reaches(data.host.address, port)
        with (data.root / "etc/scheduler/scheduler.env").open("a") as settings:
            settings.write("JOBS_BEAT_INTERVAL=1\n")
        machines.type_in(web, PROGRAM)
        for machine in (work_1, work_2):
            machines.type_in(machine, "\n".join(line for line in PROGRAM.splitlines() if "collectstatic" not in line))
        machines.type_in(data, SEND)
        for machine in (web, work_1, work_2):
            sent = machine.root / "etc/scheduler/scheduler.env"
            sent.write_text(sent.read_text().replace(str(data.root), str(machine.root)))
        assert "no encryption" in refused(machines, web, sslmode="disable")
        assert "certificate verify failed" in refused(
            machines, web, sslrootcert=str(data.root / "root/authority/data.pem")
        )
        machines.type_in(web, CHECK)

        machines.type_in(web, MANAGE + WEB)
        wait_until(lambda: "ready" in quietly(machines, web, READY), "the web is ready", SOON)
        for machine in (work_1, work_2):
            machines.type_in(machine, WORK)
        both = {"default@work-1", "default@work-2"}
        wait_until(lambda: of_workers(machines, "name") == both, "both workers register", SOON)
        assert all(name in machines.type_in(web, MANAGE + LIST) for name in both)
        the_first_job_survives_its_machine(machines)

        machines.type_in(web, ADDRESS)
        wait_until(lambda: "ready" in quietly(machines, proxy, READY_FROM_PROXY), "it listens on its address", SOON)
        assert work_1.host.reaches(web.host.address, 8000)
        of_a_proxy_here, of_a_proxy_elsewhere = RULES
        machines.firewall(web, of_a_proxy_here)
        assert not proxy.host.reaches(web.host.address, 8000)
        machines.firewall(web, "tcp dport 22 accept", machines.typed(of_a_proxy_elsewhere))
        assert "ready" in machines.type_in(proxy, READY_FROM_PROXY)
        assert not work_1.host.reaches(web.host.address, 8000)


def quietly(machines: Machines, machine: Machine, text: str) -> str:
    """What is said, also while it fails."""
    return machines.type_in(machine, f"{text.strip()} || true")


def the_first_job_survives_its_machine(machines: Machines) -> None:
    """The first hour's tenant and job, which takes some seconds here; the machine that runs it is killed."""
    [url] = re.findall(r"^DATABASE_URL=(.*)$", (machines.web.root / "etc/scheduler/scheduler.env").read_text(), re.M)
    machines.manage("tenants", "add", "acme", "Acme & Co.", "--set", "3")
    key = json.loads(machines.manage("keys", "add", "acme", "first key", "--json"))["token"]
    [code] = [block.text for block in blocks(HOUR, "python")]
    code = re.sub(r'url="[^"]*"', f'url="{url}"', code).replace("SELECT now()::text", "SELECT pg_sleep(3)::text")
    machines.manage("shell", given=code)
    asked = f"-H 'Host: jobs.example.com' -H 'Authorization: Bearer {key}' http://127.0.0.1:8000/api/v1/jobs"
    submit = f"curl -fsS -H 'Content-Type: application/json' -d '{CALL}' {asked}"
    number = json.loads(machines.type_in(machines.web, submit))["id"]

    def job() -> dict[str, object]:
        return json.loads(machines.type_in(machines.web, f"curl -fsS {asked}/{number}"))

    wait_until(lambda: job()["status"] == "running", "the first job runs", SOON)
    runs = f"(SELECT w.name FROM jobs WHERE id = {number} AND worker = w.id)"
    [killed] = [machine for machine in machines if f"default@{machine.host.name}" in of_workers(machines, runs)]
    machines.type_in(killed, KILL)
    wait_until(lambda: job()["status"] == "success", "another machine runs it", SOON)
    assert (job()["attempt"], job()["crashes"]) == (2, 1)
