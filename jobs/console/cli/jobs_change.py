"""`manage.py jobs cancel | revive | discard`: change the given jobs, and print the outcome of each."""

from uuid import uuid4

from django.core.management.base import CommandError, CommandParser

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations import verbs
from jobs.console.operations.verbs import Verb
from jobs.models import AnyJob


def _subcommand(verb: Verb) -> Subcommand:
    def arguments(parser: CommandParser) -> None:
        parser.add_argument("ids", metavar="id", type=inputs.job_id, nargs="+")

    def run(options: Options, screen: Screen) -> None:
        ids = list(dict.fromkeys(options["ids"]))
        outcomes = verb.each(ids, bulk=uuid4() if len(ids) > 1 else None)
        changed = {job_id: name for job_id, name in outcomes.items() if verb.outcomes[name].applied}
        screen.document({"jobs": [{"id": job_id, "outcome": changed.get(job_id)} for job_id in ids]})
        for job_id, name in changed.items():
            screen.say(f"Job {job_id} {verb.outcomes[name].one}.")
        refused = [_why(job_id) for job_id in ids if job_id not in changed]
        if refused:
            raise CommandError(f"id: {'; '.join(refused)}. {verb.possible}")

    return Subcommand(verb.name, verb.help, arguments, run)


def _why(job_id: int) -> str:
    job = AnyJob.objects.filter(pk=job_id).first()
    if job is None:
        return f"there is no job {job_id}"
    return f"job {job_id} is {job.status}" + (", and its arguments were erased" if job.is_erased else "")


CANCEL, REVIVE, DISCARD = map(_subcommand, (verbs.CANCEL, verbs.REVIVE, verbs.DISCARD))
