"""Look out: each second, compare the rows that say `running` in this light worker with what its seats hold.

The feeder's thread looks, between two trips, so both are known exactly:

* An attempt that no seat holds was started by a trip whose answer was lost, if it started after all attempts that the
  feeder knows: then it is begun. Otherwise PostgreSQL has lost its end, by a failover or a restore: it is taken back.
* An attempt that was asked to stop is cancelled.
* The process of an attempt for whose stack an operator waits is asked for it.
* An attempt that makes checkpoints is asked for its slot, if that is wanted back.
* An attempt of a process that is gone is reported.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic

from jobs import store
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.wanted_back import wanted_back
from jobs.lifecycle import HandBack
from jobs.store import RunningHere, Seat, Started
from jobs.worker.light.processes import Key, Processes, RemoteProcess

ENDS_SESSION_WITHIN = 1.0  # seconds


@dataclass
class Found:
    """What a look has found, to be done by the feeder.

    begin: attempts that a lost answer has started, by process.
    cancel: attempts that were asked to stop, by process.
    asked: attempts for whose stack an operator waits, by process.
    back: attempts whose slots are wanted back, and why, by pid.
    dead: processes that are gone, by pid, while rows still name them.
    """

    begin: dict[RemoteProcess, list[Started]] = field(default_factory=dict)
    cancel: dict[RemoteProcess, list[Key]] = field(default_factory=dict)
    asked: dict[RemoteProcess, list[Key]] = field(default_factory=dict)
    back: dict[int, dict[Key, HandBack]] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)


class Lookout:
    """The looks of a feeder.

    lost: whether the answer to a trip was lost, which may have started attempts.
    """

    def __init__(self, worker: uuid.UUID, processes: Processes) -> None:
        self._worker, self._processes = worker, processes
        self._looked = 0.0
        self._latest = datetime.min.replace(tzinfo=UTC)  # the start of the latest attempt, by PostgreSQL's clock
        self.lost = False
        self._stacks: list[tuple[Key, str, str]] = []

    def note_stack(self, key: Key, text: str, note: str) -> None:
        """Note the stack of an attempt, for the next look, which comes soon."""
        self._stacks.append((key, text, note))
        self.hurry()

    def until_next(self, interval: float) -> float:
        """Return the seconds until the next look."""
        return 0.0 if self.lost else max(self._looked + interval - monotonic(), 0.0)

    def hurry(self) -> None:
        """Look soon: an attempt was asked to stop, or for its stack."""
        self._looked = 0.0

    def note(self, started: Collection[Started]) -> None:
        """Note attempts that the feeder knows to have started."""
        for job in started:
            self._latest = max(self._latest, job.start_time)

    def look(self, in_hand: Collection[Key], dying: Collection[int]) -> Found:
        """Look once.

        in_hand: attempts that no seat holds any more, and that are settled one by one.
        dying: processes whose end is about to be reported.
        """
        self._answer()
        found = Found()
        if self.lost and not store.end_sessions(self._worker, "feeder", patience=ENDS_SESSION_WITHIN):
            return found  # the server may still execute the statements of the lost trip
        by_pid, begun = self._processes.by_pid, {}
        if self.lost:
            begun = {(job.id, job.attempt): job for job in store.running_in_all(self._worker, [*by_pid], self._latest)}
        running = store.running_here(self._worker, 0)
        found.back = self._wanted_back([row for row, *_ in running])
        for row, stop, asked in running:
            process, key = by_pid.get(row.pid), (row.id, row.attempt)
            if process is None:
                found.dead |= {row.pid} - {*dying}
            elif key in process.held:
                for wanted, keys in ((stop, found.cancel), (asked, found.asked)):
                    if wanted:
                        keys.setdefault(process, []).append(key)
            elif key in begun:
                found.begin.setdefault(process, []).append(begun[key])
            elif key not in in_hand:
                recover.take_back_unheld(Seat(self._worker, row.pid), row.id, row.attempt)
        self._looked, self.lost = monotonic(), False
        self.note([*begun.values()])
        return found

    def _wanted_back(self, running: Sequence[RunningHere]) -> dict[int, dict[Key, HandBack]]:
        """Return the attempts whose slots are wanted back, and why, by pid."""
        back: dict[int, dict[Key, HandBack]] = {}
        for (pid, job_id, attempt), why in wanted_back(self._worker, running).items():
            back.setdefault(pid, {})[job_id, attempt] = why
        return back

    def _answer(self) -> None:
        """Give operators the stacks for which they wait."""
        while self._stacks:
            (job_id, attempt), text, note = self._stacks[0]
            store.answer_stack(job_id, attempt, text, note)
            del self._stacks[0]  # once it is stored
