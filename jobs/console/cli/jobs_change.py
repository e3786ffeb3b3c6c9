"""`manage.py jobs cancel | revive | discard`: change the given jobs, and print the outcome of each."""

from collections.abc import Callable, Sequence
from uuid import uuid4

from django.core.management.base import CommandError, CommandParser

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.engine import cancel, revive
from jobs.engine.cancel import Cancellation
from jobs.models import AnyJob
from jobs.store import EVERY_TENANT
from tenants import audit

Change = Callable[[int], str | None]  # the outcome; None: the change did not apply


def _cancel(job_id: int) -> str | None:
    done = cancel.cancel(job_id, tenant_id=EVERY_TENANT)
    return None if done == Cancellation.TOO_LATE else done.value


def _revive(job_id: int) -> str | None:
    return "revived" if revive.revive(job_id, tenant_id=EVERY_TENANT) else None


def _discard(job_id: int) -> str | None:
    return "discarded" if revive.discard(job_id) else None


SAYS = {
    "cancelled": "is cancelled",
    "requested": "is running and was asked to stop",
    "revived": "waits again with a new series of attempts",
    "discarded": "is discarded",
}
BATCH = 100  # jobs of one transaction


def _subcommand(name: str, help: str, change: Change, possible: str) -> Subcommand:
    def arguments(parser: CommandParser) -> None:
        parser.add_argument("ids", metavar="id", type=inputs.job_id, nargs="+")

    def run(options: Options, screen: Screen) -> None:
        outcomes = _each(list(dict.fromkeys(options["ids"])), change)
        screen.document({"jobs": [{"id": job_id, "outcome": outcome} for job_id, outcome in outcomes.items()]})
        for job_id, outcome in outcomes.items():
            if outcome is not None:
                screen.say(f"Job {job_id} {SAYS[outcome]}.")
        refused = [_why(job_id) for job_id, outcome in outcomes.items() if outcome is None]
        if refused:
            raise CommandError(f"id: {'; '.join(refused)}. {possible}")

    return Subcommand(name, help, arguments, run)


def _each(ids: Sequence[int], change: Change) -> dict[int, str | None]:
    """The outcomes, in the order of the ids. Several jobs are one entry in the audit log."""
    bulk = uuid4() if len(ids) > 1 else None
    outcomes: dict[int, str | None] = dict.fromkeys(ids)
    for first in range(0, len(ids), BATCH):
        with audit.in_bulk(bulk):
            for job_id in sorted(ids[first : first + BATCH]):  # in this order, so that no two can deadlock
                outcomes[job_id] = change(job_id)
    return outcomes


def _why(job_id: int) -> str:
    job = AnyJob.objects.filter(pk=job_id).first()
    if job is None:
        return f"there is no job {job_id}"
    return f"job {job_id} is {job.status}" + (", and its arguments were erased" if job.is_erased else "")


CANCEL = _subcommand(
    "cancel",
    "Cancel waiting jobs; ask running jobs to stop.",
    _cancel,
    "Only jobs that have not ended can be cancelled.",
)
REVIVE = _subcommand(
    "revive",
    "Give failed, dead or cancelled jobs a new series of attempts.",
    _revive,
    "Only jobs that ended as error, dead or cancelled can be revived, unless their arguments were erased.",
)
DISCARD = _subcommand("discard", "Remove jobs from the dead letters.", _discard, "Only dead jobs can be discarded.")
