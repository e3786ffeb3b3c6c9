"""A machine on which somebody types what a page says: a host with a root directory of its own, and units.

Programs that need a machine of their own (apt-get, systemd, ssh) are functions of the shell here. What systemd would
do is done after each block, by the unit files as they lie in `/etc/systemd/system` of the machine.
"""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from embedded.process import Process
from tests.hosts.host import Host

OF_A_MACHINE = re.compile(r"(?<![\w.*])/(?=(?:etc|opt|root|var)/)")
DEBIAN = Path("/usr/lib/postgresql/15/bin")
SHELL = """
[ ! -e "$MACHINE/shell" ] || . "$MACHINE/shell"
trap 'declare -p | grep -E "^declare -- [A-Z]+_PASSWORD=" > "$MACHINE/shell" || true' EXIT
apt-get() { :; }
useradd() { :; }
git() { cp -r "$CHECKOUT" "$MACHINE/opt/scheduler"; }
su() { bash -c "$3"; }
scp() { local to=${3#root@}; cp -rp "$2" "$MACHINES/${to%%:*}/etc/"; }
systemctl() { echo "$*" >> "$MACHINE/asked"; }
install() {
    local words=(); for word in "$@"; do words+=("${word/#redis/nobody}"); done
    command install "${words[@]/#postgres/nobody}"
}
systemd-run() {
    local directory file
    while [[ $1 == -* ]]; do
        [[ $1 != -p ]] || { shift; [[ $1 != WorkingDirectory=* ]] || directory=${1#*=}; }
        [[ $1 != EnvironmentFile=* ]] || file=${1#*=}
        shift
    done
    (cd "$directory" && env -i PATH="$PATH" $(cat "$file") "$@")
}
"""


class Machine:
    """A host with the name of a machine; its files lie beneath `root`, which others may not mistake for theirs.

    processes: by the name of their unit.
    """

    def __init__(self, host: Host, machines: Path, environ: Mapping[str, str], checkout: Path) -> None:
        """Make its directories.

        machines: the directory of all, where `scp` finds them by their addresses.
        environ: what the shell has beside what is typed.
        checkout: the repository that it clones.
        """
        self.host, self.root = host, machines / host.address
        for name in ("etc/systemd/system", "etc/nginx", "opt", "root", "var/lib"):
            (self.root / name).mkdir(parents=True)
        own = {"MACHINE": self.root, "MACHINES": machines, "CHECKOUT": checkout}
        self._environ = {**environ, **{name: str(path) for name, path in own.items()}}
        self.units: dict[str, Process] = {}

    def here(self, text: str) -> str:
        """The text with the paths of this machine."""
        return OF_A_MACHINE.sub(f"{self.root}/", text)

    def type_in(self, text: str) -> str:
        """Type a block; then do what systemd was asked for. Return what the commands say."""
        asked = self.root / "asked"
        asked.unlink(missing_ok=True)
        done = self.host.run(["bash", "-euo", "pipefail", "-c", SHELL + self.here(text)], self._environ)
        assert done.returncode == 0, f"{self.host.name}: {text}\n{done.stdout}"
        for line in asked.read_text().splitlines() if asked.exists() else ():
            self._systemd(*(word for word in line.split() if word != "--now"))
        return done.stdout

    def _systemd(self, verb: str, *words: str) -> None:
        if verb in ("daemon-reload", "enable") and words[-1:] in ((), ("nftables",)):
            return
        unit = words[-1]
        if verb == "kill":
            self.units[unit].signal_group(9)
        elif unit == "nftables":
            done = self.host.run(["nft", "-f", str(self.root / "etc/nftables.conf")])
            assert done.returncode == 0, done.stdout
        else:
            if unit in self.units:
                self.units.pop(unit).stop()
            start = {"postgresql": self._postgresql, "redis-server": self._redis}.get(unit)
            self.units[unit] = start() if start else self._service(unit)

    def _service(self, unit: str) -> Process:
        """Start what the unit and its drop-ins say, under the machine's own name."""
        name, _, instance = unit.partition("@")
        folder = self.root / "etc/systemd/system"
        files = [folder / f"{name}@.service" if instance else folder / f"{name}.service"]
        files += sorted((folder / f"{name}.service.d").glob("*.conf"))
        said = settings("\n".join(self.here(file.read_text()) for file in files), instance)
        environ = {"PATH": self._environ["PATH"], **assigned(" ".join(said["Environment"]))}
        for file in said["EnvironmentFile"]:
            if not file.startswith("-") or Path(file[1:]).exists():
                environ |= assigned(Path(file.lstrip("-")).read_text())
        command = re.sub(r"\$\{(\w+)\}", lambda found: environ[found[1]], said["ExecStart"][-1])
        script = 'hostname "$1"; cd "$2"; shift 2; exec "$@"'
        argv = ["unshare", "--uts", "bash", "-c", script, "-", self.host.name, said["WorkingDirectory"][-1]]
        return self._start(unit, [*argv, *command.split()], environ)

    def _postgresql(self) -> Process:
        """Start Debian's server, with its configuration where Debian has it."""
        home = self.root / "etc/postgresql/15/main"
        named = {"config_file": home / "postgresql.conf", "hba_file": home / "pg_hba.conf", "fsync": "off"}
        named["unix_socket_directories"] = Path(self._environ["PGHOST"])
        options = [word for name, value in named.items() for word in ("-c", f"{name}={value}")]
        data = self.root / "var/lib/postgresql"
        argv = [str(DEBIAN / "postgres"), "-D", str(data), *options]
        process = self._start("postgresql", argv, {"PATH": self._environ["PATH"]}, not_root=True)
        ask = [str(DEBIAN / "pg_isready"), "-q", "-h", self._environ["PGHOST"]]
        process.wait_until(lambda: not subprocess.run(ask, check=False).returncode)
        return process

    def _redis(self) -> Process:
        process = self._start("redis-server", ["redis-server", str(self.root / "etc/redis/redis.conf")])
        process.wait_until(lambda: self.host.reaches(self.host.address, 6379))
        return process

    def _start(
        self, name: str, argv: list[str], environ: Mapping[str, str] | None = None, *, not_root: bool = False
    ) -> Process:
        """Start it, and again whenever it ends, as its unit says."""
        processes = self.host.processes
        return processes.start(name, argv, environ, log=self.root / f"{name}.log", restart=True, not_root=not_root)


def settings(text: str, instance: str) -> dict[str, list[str]]:
    """The values of each name in unit files; one that is empty forgets those before it."""
    found: dict[str, list[str]] = {"Environment": [], "EnvironmentFile": []}
    for name, value in re.findall(r"^(\w+)=(.*)$", text.replace("\\\n", " "), re.MULTILINE):
        expanded = value.replace("%%", "\0").replace("%i", instance).replace("\0", "%")
        found[name] = [*found.get(name, ()), expanded] if value else []
    return found


def assigned(text: str) -> dict[str, str]:
    """What words or lines like NAME=value assign."""
    pairs = (word.partition("=") for word in text.split() if "=" in word and not word.startswith("#"))
    return {name: value for name, _, value in pairs}
