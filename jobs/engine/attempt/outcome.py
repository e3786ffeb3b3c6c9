"""The outcome of a body: what it has returned or raised, and what is kept of that."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

from django.db import Error

from jobs import store, telemetry
from jobs.authoring.exceptions import Cancelled, HandedBack, RetryLater, WaitFor
from jobs.authoring.groups import means
from jobs.authoring.units import Units
from jobs.calls.arguments import stats_as_json
from jobs.conf import settings
from jobs.engine.attempt.captured_output import Tail
from jobs.engine.attempt.checkpoints import StoredCheckpoints
from jobs.lifecycle import HandBack
from jobs.store import End, Ending, Started, results

LINGERS = 1.0  # seconds that a body may take after its own end before that is logged


@dataclass
class Outcome:
    """The end of a body: a value or an error.

    text: the value as JSON; None for None.
    units: what the body has used.
    result_ttl: seconds to keep the result, None: JOBS_RESULT_TTL; after `keep_result` None means that it was not kept.
    result_bytes: the size of the kept result.
    peak_memory: the most MiB that this process used during the body; None: not known.
    log: what the body logged and printed; None: its job type does not ask for that.
    refusals: the errors of changes to this process that could not be put back.
    left: the names of tasks that the body has started, and that did not end.
    checkpoints: those of the body; None: it has not begun.
    tell: calls the failure hook of the author with the verb that settled a failed attempt; None: there is no hook.
    ended_at: when the body has ended its job by `ending()`, by time.monotonic(); None: the attempt is to be settled.
    goes_on_with: what the body has done after that, in words; "": nothing.
    """

    value: Any = None
    text: str | None = None
    error: BaseException | None = None
    stats: dict[str, Any] = field(default_factory=dict)
    units: Units = field(default_factory=Units)
    result_ttl: float | None = None
    result_bytes: int | None = None
    peak_memory: int | None = None
    log: Tail | None = None
    refusals: list[Exception] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    checkpoints: StoredCheckpoints | None = None
    tell: Callable[[str], None] | None = None
    ended_at: float | None = None
    goes_on_with: str = ""

    @property
    def cursor(self) -> str | None:
        """The cursor that the body has told last, as JSON; None: none."""
        return None if self.checkpoints is None else self.checkpoints.told

    @property
    def has_ended(self) -> bool:
        """Return whether the body has ended its job by `ending()`: then nothing is left to settle."""
        return self.ended_at is not None

    @property
    def has_failed(self) -> bool:
        """Return whether the body has failed, not just asked for another attempt, given its slot back or stopped."""
        if self.error is None or self.handed_back:
            return False
        return not any(means(self.error, kind) for kind in (RetryLater, WaitFor, Cancelled))

    @property
    def handed_back(self) -> HandBack | None:
        """Return why a checkpoint has ended the body; None: none has.

        A HandedBack that no checkpoint has raised is a failure: the job could come back for ever.
        """
        asked = None if self.checkpoints is None else self.checkpoints.handed_back
        return asked if self.error is not None and means(self.error, HandedBack) else None

    def end_as(self, ended: "Outcome") -> None:
        """Take the end of the job, which is committed."""
        self.value, self.text, self.stats, self.peak_memory = ended.value, ended.text, ended.stats, ended.peak_memory
        self.result_ttl, self.result_bytes = ended.result_ttl, ended.result_bytes
        self.ended_at = self.ended_at or monotonic()

    def write_down(self, value: Any) -> None:
        """Take the value that the body returns, and its stats. Both may be lazy, and run code of its author."""
        if not self.has_ended:
            self.value, self.stats = value, stats_as_json(self.stats)
            self.text = results.as_text(value)
        elif value is not None and results.as_text(value) != self.text:
            self.goes_on_with = "another result"

    def leave_out_the_rest(self, job: Started) -> None:
        """Log what the body has done since it ended its job itself, and forget that: it changes nothing."""
        if self.ended_at is None:
            return
        seconds = monotonic() - self.ended_at
        if self.error is not None:
            self.goes_on_with = type(self.error).__name__
        elif not self.goes_on_with and seconds > LINGERS:
            self.goes_on_with = f"{seconds:.1f} s of work"
        if self.goes_on_with:
            rest = self.goes_on_with
            telemetry.noticed("a body goes on after the end of its job", job=job.id, attempt=job.attempt, rest=rest)
        self.error, self.goes_on_with = None, ""

    def keep_log(self, job: Started) -> None:
        """Store what the body logged and printed, if its job type asks for that. A database error is only logged."""
        if self.log is not None:
            try:
                self.log.store(partial(store.keep_log, job), over=True)
            except Error as error:
                telemetry.noticed("log not kept", job=job.id, error=type(error).__name__)

    def keep_log_so_far(self, job: Started) -> None:
        """Store what the body has logged and printed up to now, if that is due. After an error the next time does."""
        if self.log is not None:
            with suppress(Error):
                self.log.store(partial(store.keep_log, job))

    def keep_result(self, job: Started, notice: Callable[..., None] = telemetry.noticed) -> None:
        """Store the result before settling, so that a successful job always has it.

        notice: logs why it was not kept.
        """
        if self.error is not None or self.has_ended:
            return
        ttl = settings.JOBS_RESULT_TTL if self.result_ttl is None else self.result_ttl
        self.result_bytes = results.keep(job, self.text, ttl, notice)
        self.result_ttl = None if self.result_bytes is None else ttl

    def as_ending(self, job: Started) -> Ending:
        """Return the success as an ending for the pipeline of the next pass. If it fails there, call `settle`."""
        return Ending(job, self.stats, self.result_ttl, self.result_bytes, **self.end_of(job))

    def end_of(self, job: Started) -> End:
        """Return the facts of the end of the attempt, for each statement that settles it."""
        return {"peak_memory": self.peak_memory, "units": self.units.sums(), "by": job.holder}
