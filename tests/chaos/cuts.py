"""The deaths of a network: paths of a worker that are cut, and packets that are lost. Other deaths go on meanwhile."""

import random
import threading
from collections.abc import Callable

from tests.chaos.world import WORKERS, World

LONGEST = 12.0  # seconds
DATABASES, BROKER = ("database0", "database1"), "broker"  # hosts


class Cuts:
    """What may be cut in that world: proxies, or a network of hosts, or nothing."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self._world, self._chance = world, chance

    def kinds(self) -> dict[str, tuple[int, Callable[[], bool]]]:
        """By name, how often they strike beside others, and what strikes."""
        paths: dict[str, tuple[int, Callable[[], bool]]] = {
            "path to the database cut": (4, lambda: self._cut_path(slice(0, 1))),
            "path to broker and cache cut": (4, lambda: self._cut_path(slice(1, 3))),
        }
        hosts: dict[str, tuple[int, Callable[[], bool]]] = {
            "host cut off from the database": (3, lambda: self._cut_host(*DATABASES)),
            "host cut off from broker and cache": (3, lambda: self._cut_host(BROKER)),
            "host cut off from all engines": (1, lambda: self._cut_host(*DATABASES, BROKER)),
            "packets lost": (2, self._lose_packets),
        }
        return (paths if self._world.paths else {}) | (hosts if self._world.net else {})

    def _cut_path(self, ways: slice) -> bool:
        """A worker's host loses a path, both ways or one."""
        cut = self._chance.choice(self._world.paths)[ways]
        there, back = self._chance.choice([(True, True), (True, False), (False, True)])
        for path in cut:
            path.cut(there=there, back=back)
        self._later(lambda: [path.heal() for path in cut])
        return True

    def _cut_host(self, *names: str) -> bool:
        """Nothing passes between a worker and these, or nothing one way."""
        net = self._world.net
        worker, others = net.hosts[f"worker{self._chance.randrange(WORKERS)}"], [net.hosts[name] for name in names]
        ways = [net.cut, net.cut_one_way, lambda worker, other: net.cut_one_way(other, worker)]
        cut = self._chance.choice(ways)
        for other in others:
            cut(worker, other)
        self._later(lambda: [net.heal(worker, other) for other in others])
        return True

    def _lose_packets(self) -> bool:
        """Between all hosts, some more than TCP makes good at once; and they take longer."""
        net = self._world.net
        net.loss(self._chance.uniform(0.01, 0.1))
        net.delay(self._chance.uniform(0, 0.01))
        self._later(lambda: (net.loss(0), net.delay(0)))
        return True

    def _later(self, heal: Callable[[], object]) -> None:
        timer = threading.Timer(self._chance.uniform(1, LONGEST), heal)
        timer.daemon = True
        timer.start()
