"""The network between the hosts: one more namespace, which routes, and drops what is cut.

Cuts are routing rules of the kernel, and cost nothing. What is slow or lossy goes through `Slow`, a process' own hands.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from functools import cache
from itertools import permutations
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from tests.hosts import namespaces
from tests.hosts.host import Host
from tests.hosts.slow import DEVICE, Slow

IP = shutil.which("ip", path=os.defpath + ":/usr/sbin:/sbin")
SUBNET, ROUTER = "10.77.0", "10.77.0.254"
TABLE = 100  # of routes: by way of `Slow`
# The order of the rules: what `Slow` has let through goes on, then what is cut, then what is slow.
CARRIED, CUT, SLOW = 10, 20, 30


class Rule(NamedTuple):
    """What becomes of packets that go from one address to another; rules of lower preference come first."""

    preference: int
    sender: str
    receiver: str
    action: str

    def __str__(self) -> str:
        return f"pref {self.preference} from {self.sender} to {self.receiver} {self.action}"


class Net:
    """`with Net() as net: web = net.host("web")`. At the end all processes on its hosts are stopped.

    A cut drops every packet without a word, as a cable does. Without `b` it is between `a` and all others; so are delay
    and loss, which without `a` are for everybody. hosts: by name.
    """

    def __init__(self) -> None:
        self.hosts: dict[str, Host] = {}
        self._stack = ExitStack()
        self._router = namespaces.made()
        self._stack.callback(os.close, self._router)
        self._rules: set[Rule] = set()
        self._lock = threading.Lock()  # some heal from other threads
        with namespaces.inside(self._router):
            for name, value in {"ip_forward": "1", "conf/all/rp_filter": "0", "conf/default/rp_filter": "0"}.items():
                Path("/proc/sys/net/ipv4", name).write_text(value)
            self._slow = Slow()
        self._stack.callback(self._slow.close)
        self._ip(
            "link set lo up",
            f"link set {DEVICE} up txqueuelen 10000",
            f"route add default dev {DEVICE} table {TABLE}",
            f"rule add pref {CARRIED} iif {DEVICE} lookup main",
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def host(self, name: str) -> Host:
        """A new host, which reaches all others."""
        number = len(self.hosts) + 1
        host = Host(name, f"{SUBNET}.{number}")
        self._stack.callback(host.close)
        self._ip(
            f"link add host{number} type veth peer name eth0 netns {host.path}",
            f"address add {ROUTER}/32 dev host{number}",
            f"link set host{number} up",
            f"route add {host.address}/32 dev host{number}",
        )
        ip(
            host.namespace,
            "link set lo up",
            "link set eth0 up",
            f"address add {host.address}/32 dev eth0",
            f"route add {ROUTER}/32 dev eth0",
            f"route add default via {ROUTER}",
        )
        self.hosts[name] = host
        return host

    def cut(self, a: Host, b: Host | None = None) -> None:
        """Nothing passes between the two, either way."""
        self._add(Rule(CUT, *way, "blackhole") for way in self._ways(a, b))

    def cut_one_way(self, sender: Host, receiver: Host) -> None:
        """Nothing that the one sends comes to the other; the other way is open."""
        self._add([Rule(CUT, sender.address, receiver.address, "blackhole")])

    def loss(self, share: float, a: Host | None = None, b: Host | None = None) -> None:
        """Drop this share (0 to 1) of the packets, each way."""
        self._make_slow(a, b, loss=share)

    def delay(self, seconds: float, a: Host | None = None, b: Host | None = None) -> None:
        """Each packet takes so long, each way: a round trip takes twice that."""
        self._make_slow(a, b, delay=seconds)

    def heal(self, a: Host | None = None, b: Host | None = None) -> None:
        """Nothing is cut, slow or lossy there any more, either way."""
        ways = set(self._ways(a, b))
        for way in ways:
            self._slow.change(*way, loss=0.0, delay=0.0)
        with self._lock:
            self._change(gone={rule for rule in self._rules if (rule.sender, rule.receiver) in ways})

    def _make_slow(self, a: Host | None, b: Host | None, **trouble: float) -> None:
        ways = list(self._ways(a, b))
        slow = {Rule(SLOW, *way, f"lookup {TABLE}") for way in ways if self._slow.change(*way, **trouble)}
        with self._lock:
            self._change(new=slow, gone={Rule(SLOW, *way, f"lookup {TABLE}") for way in ways} - slow)

    def _ways(self, a: Host | None, b: Host | None) -> Iterator[tuple[str, str]]:
        """Addresses, from and to."""
        if a is None:
            yield from permutations([host.address for host in self.hosts.values()], 2)
            return
        for other in [b] if b else [host for host in self.hosts.values() if host is not a]:
            yield a.address, other.address
            yield other.address, a.address

    def _add(self, rules: Iterable[Rule]) -> None:
        with self._lock:
            self._change(new=set(rules))

    def _change(self, new: AbstractSet[Rule] = frozenset(), gone: AbstractSet[Rule] = frozenset()) -> None:
        self._ip(
            *(f"rule add {rule}" for rule in new - self._rules), *(f"rule del {rule}" for rule in gone & self._rules)
        )
        self._rules = (self._rules | new) - gone

    def _ip(self, *lines: str) -> None:
        ip(self._router, *lines)


def ip(namespace: int, *lines: str) -> None:
    """Commands of `ip` in that namespace, all or an AssertionError."""
    assert IP, "there is no `ip` here: apt-get install iproute2"
    with namespaces.inside(namespace):
        done = subprocess.run([IP, "-batch", "-"], input="\n".join(lines), capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr


@cache
def missing() -> str:
    """Why there can be no hosts here; "" if there can."""
    if os.geteuid():
        return "hosts are network namespaces, which only root may make"
    try:
        with Net() as net:
            net.host("probe")
    except (OSError, AssertionError) as error:
        return f"hosts are network namespaces, which cannot be made here: {error}"
    return ""
