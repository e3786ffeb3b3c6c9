"""`manage.py schedules show | pause | resume | delete | run-now`."""

from django.core.management.base import CommandError

from jobs.calls.refusals import TooManyWaiting
from jobs.console.cli.schedules_change import number
from jobs.console.cli.schedules_list import on_one, show
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.engine.schedules import change
from jobs.models import Schedule


@on_one
def _pause(schedule: Schedule, options: Options, screen: Screen) -> None:
    show(change.pause(schedule), screen)


@on_one
def _resume(schedule: Schedule, options: Options, screen: Screen) -> None:
    show(change.resume(schedule), screen)


@on_one
def _delete(schedule: Schedule, options: Options, screen: Screen) -> None:
    if schedule.declared:
        raise CommandError("id: the code declares this schedule: delete it there, or pause it here")
    pk, name = schedule.pk, schedule.name
    change.delete(schedule)
    screen.document({"id": pk, "deleted": True})
    screen.say(f"Deleted schedule {pk}, {name!r}; its jobs stay.")


@on_one
def _run_now(schedule: Schedule, options: Options, screen: Screen) -> None:
    try:
        job_id = change.run_now(schedule)
    except TooManyWaiting as full:
        allow = f"allow more: manage.py tenants slots {schedule.tenant.jobs_slug} --max-waiting N"
        raise CommandError(f"tenant: {full}, or {allow}") from None
    screen.document({"id": schedule.pk, "job_id": job_id})
    screen.say(f"Submitted job {job_id}.")


@on_one
def _show(schedule: Schedule, options: Options, screen: Screen) -> None:
    show(schedule, screen)


SHOW = Subcommand("show", "Show one: what it calls, when it is due, its next times.", number, _show)
PAUSE = Subcommand("pause", "Pause it: nothing is due until it is resumed.", number, _pause)
RESUME = Subcommand("resume", "Resume it: due again from now on.", number, _resume)
DELETE = Subcommand("delete", "Delete it, and the list of its runs; its jobs stay.", number, _delete)
RUN_NOW = Subcommand("run-now", "Submit one job of it now, beside the plan.", number, _run_now)
