"""`manage.py jobs cancel | revive | discard`: change the given jobs, or all that match filters; print the outcomes."""

from collections import Counter
from collections.abc import Iterator, Sequence
from uuid import uuid4

from django.core.management.base import CommandError

from jobs.console.cli import inputs, searching
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations import verbs
from jobs.console.operations.filters import JobFilters
from jobs.console.operations.verbs import Verb
from jobs.models import AnyJob
from jobs.reading import listing
from plumbing.text import count_of_jobs

STEP = 1000  # jobs that are read before they are changed
EXAMPLES = 3
ARGUMENTS = (
    argument("ids", metavar="id", type=inputs.job_id, nargs="*", help="The jobs to change; or give filters."),
    *searching.OPTIONS,
    argument("--yes", action="store_true", help="Change all matching jobs; without it they are only counted."),
)


def _subcommand(verb: Verb) -> Subcommand:
    def run(options: Options, screen: Screen) -> None:
        filters = searching.given(options)
        if bool(options["ids"]) == bool(filters):
            raise CommandError("id: give ids, or filters such as --status and --since; see --help")
        if filters:
            words = " ".join(f"{name}:{value}" for name, value in filters.items())
            _all_that_fit(verb, searching.filter_of(options), words, screen, sure=options["yes"])
        else:
            _each(verb, list(dict.fromkeys(options["ids"])), screen)

    return Subcommand(verb.name, verb.help, ARGUMENTS, run)


def _each(verb: Verb, ids: Sequence[int], screen: Screen) -> None:
    outcomes = verb.each(ids, bulk=uuid4() if len(ids) > 1 else None)
    changed = {job_id: name for job_id, name in outcomes.items() if verb.outcomes[name].applied}
    screen.document({"jobs": [{"id": job_id, "outcome": changed.get(job_id)} for job_id in ids]})
    for job_id, name in changed.items():
        screen.say(f"Job {job_id} {verb.outcomes[name].predicate}.")
    refused = {job_id: AnyJob.objects.filter(pk=job_id).first() for job_id in ids if job_id not in changed}
    if refused:
        possible = f". {verb.possible}" if any(refused.values()) else ""
        raise CommandError(f"id: {'; '.join(_why(job_id, job) for job_id, job in refused.items())}{possible}")


def _why(job_id: int, job: AnyJob | None) -> str:
    if job is None:
        return f"there is no job {job_id}"
    return f"job {job_id} is {job.status}" + (", and its arguments were erased" if job.is_erased else "")


def _all_that_fit(verb: Verb, wanted: JobFilters, words: str, screen: Screen, *, sure: bool) -> None:
    if wanted.status is not None and wanted.status not in verb.statuses:
        raise CommandError(f"status: {verb.possible}")
    none = f"Nothing to {verb.name}. {verb.possible}"
    if sure:
        bulk, outcomes = uuid4(), Counter[str]()
        for ids in _steps(verb, wanted):
            outcomes.update(verb.each(ids, bulk=bulk, filters=words).values())
        screen.document({"outcomes": outcomes})
        screen.say(verb.summary(outcomes) or none)
        return
    job_ids = [job_id for ids in _steps(verb, wanted) for job_id in ids]
    screen.document({"would_change": len(job_ids)})
    if not job_ids:
        screen.say(none)
        return
    such = ", ".join(map(str, job_ids[:EXAMPLES]))
    screen.say(
        f"This would {verb.name} {count_of_jobs(len(job_ids))}, such as {such}. Nothing was changed; --yes does it."
    )


def _steps(verb: Verb, wanted: JobFilters) -> Iterator[list[int]]:
    """Yield the ids of the jobs that match now, newest first; without jobs that are submitted meanwhile."""
    before: int | None = listing.newest() + 1
    while before is not None:
        ids, before = verb.next(wanted, STEP, before=before)
        yield ids


CANCEL, REVIVE, DISCARD = map(_subcommand, (verbs.CANCEL, verbs.REVIVE, verbs.DISCARD))
