"""What processes use, from /proc: CPU seconds and memory of trees of processes."""

import os
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
IDLE = slice(3, 5)  # places behind "cpu" in /proc/stat: idle, and idle while a disk works
PARENT, TIMES = (
    1,
    slice(11, 15),
)  # places behind the name in /proc/PID/stat; user, system, and the same of ended children
MIB = 1024  # KiB
LOOK = 2.0  # seconds


def busy() -> float:
    """The part of the cores' time that is in use now; a load average would still have what ended a minute ago."""
    before = _cores()
    time.sleep(LOOK)
    used, rest = (now - then for now, then in zip(_cores(), before, strict=True))
    return used / (used + rest)


def cpu_seconds(roots: Iterable[int]) -> float:
    """CPU seconds of these processes and their descendants, with those that have ended and were waited for."""
    stats = _stats()
    return sum(sum(map(int, stats[pid][TIMES])) for pid in tree(roots, stats)) / TICKS


def memory_mib(roots: Iterable[int]) -> float:
    """Memory of these processes and their descendants in MiB; a page that several share counts in parts (PSS)."""
    total = 0
    for pid in tree(roots):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / MIB


def tree(roots: Iterable[int], stats: dict[int, list[str]] | None = None) -> list[int]:
    """These processes and their descendants."""
    stats = _stats() if stats is None else stats
    children = defaultdict(list)
    for pid, fields in stats.items():
        children[int(fields[PARENT])].append(pid)
    found, next_ones = [], [pid for pid in roots if pid in stats]
    while next_ones:
        pid = next_ones.pop()
        found.append(pid)
        next_ones += children[pid]
    return found


def _stats() -> dict[int, list[str]]:
    """The fields behind the name, by pid, of all processes."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found[int(entry.parent.name)] = entry.read_text(errors="replace").rpartition(")")[2].split()
    return found


def _cores() -> tuple[int, int]:
    """Ticks of all cores: in use, and not."""
    ticks = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    rest = sum(ticks[IDLE])
    return sum(ticks) - rest, rest
