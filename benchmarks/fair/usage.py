"""What processes use, from /proc: CPU seconds and memory of trees of processes."""

import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PARENT, TIMES = (
    1,
    slice(11, 15),
)  # places behind the name in /proc/PID/stat; user, system, and the same of ended children
MIB = 1024  # KiB


def cpu_seconds(roots: Iterable[int]) -> float:
    """CPU seconds of these processes and their descendants, with those that have ended and were waited for."""
    stats = _stats()
    return sum(sum(map(int, stats[pid][TIMES])) for pid in _trees(roots, stats)) / TICKS


def memory_mib(roots: Iterable[int]) -> float:
    """Memory of these processes and their descendants in MiB; a page that several share counts in parts (PSS)."""
    total = 0
    for pid in _trees(roots, _stats()):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / MIB


def count(roots: Iterable[int]) -> int:
    """How many processes these are with their descendants."""
    return len(_trees(roots, _stats()))


def _stats() -> dict[int, list[str]]:
    """The fields behind the name, by pid, of all processes."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found[int(entry.parent.name)] = entry.read_text(errors="replace").rpartition(")")[2].split()
    return found


def _trees(roots: Iterable[int], stats: dict[int, list[str]]) -> list[int]:
    children = defaultdict(list)
    for pid, fields in stats.items():
        children[int(fields[PARENT])].append(pid)
    found, next_ones = [], [pid for pid in roots if pid in stats]
    while next_ones:
        pid = next_ones.pop()
        found.append(pid)
        next_ones += children[pid]
    return found
