"""`manage.py jobs submit`: submit a job with the checks of the HTTP API."""

from django.core.management.base import CommandError

from jobs.authoring.decorator import IDENTICAL
from jobs.calls.refusals import TooManyWaiting
from jobs.calls.request import LAST_PRIORITY
from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.submitting import confirmation, submit_named

ARGUMENTS = (
    argument("source_type", help="The model of the object, e.g. reports.datareport, or a function's module."),
    argument("source_id", help="The id of the object; - for a function, or a job of the class."),
    argument("source_method", nargs="?", metavar="method", help="The method or function, marked @job."),
    argument("--tenant", required=True, metavar="SLUG", help="The tenant that owns the job."),
    # dest is not "args": Django reads that name as the positional arguments of the command.
    argument("--args", dest="call", type=inputs.json_object, default={}, metavar="JSON", help="The arguments by name."),
    argument("--queue", metavar="NAME", help="Default: the queue of the method."),
    argument("--priority", type=inputs.whole(0, LAST_PRIORITY), metavar="N", help="0 is first, 10 is last."),
    argument("--delay", type=inputs.seconds, metavar="SECONDS", help="Start it this many seconds from now."),
    argument(
        "--at", type=inputs.moment, metavar="MOMENT", help="Start it at this moment, e.g. 2030-01-31T09:00:00+01:00."
    ),
    argument(
        "--expires", type=inputs.seconds, metavar="SECONDS", help="Cancel it if it has not started after this time."
    ),
    argument("--after", nargs="+", type=int, metavar="ID", help="Wait until these jobs have succeeded."),
    argument(
        "--after-end",
        nargs="+",
        type=int,
        metavar="ID",
        help="Wait until these jobs have ended, whatever their outcome.",
    ),
    argument(
        "--after-patience",
        type=inputs.seconds,
        metavar="SECONDS",
        help="How long to wait for a failed predecessor to be revived.",
    ),
    argument("--sequence", metavar="NAME", help="Run it after the tenant's earlier jobs of this name, one at a time."),
    argument("--timeout", type=inputs.seconds, metavar="SECONDS", help="How long it may run at most."),
    argument("--user", metavar="KEY", help="The tenant's user that the job is for."),
    argument("--identical", choices=IDENTICAL, help="What to do about an identical unfinished job."),
    argument(
        "--no-dedup",
        dest="dedup",
        action="store_false",
        default=None,
        help="Submit it even if an identical unfinished job exists.",
    ),
)


def run(options: Options, screen: Screen) -> None:
    call = (
        *("queue", "priority", "delay", "at", "expires", "timeout", "user", "identical", "dedup"),
        *("after_patience", "sequence"),
    )
    waits = {name: options[name] for name in ("after", "after_end") if options[name]}
    if options["source_method"] is None:
        typed = f"{options['source_type']} - {options['source_id']}"
        raise CommandError(f"method: give type, id and method; a call without an object has a dash as its id: {typed}")
    try:
        submitted = submit_named(
            options["tenant"],
            source_type=options["source_type"],
            source_id=None if options["source_id"] == "-" else options["source_id"],
            source_method=options["source_method"],
            args=options["call"],
            **{name: options[name] for name in call},
            **waits,
        )
    except TooManyWaiting as full:
        raise inputs.backlog_is_full(full, options["tenant"]) from None
    screen.document({"id": submitted.id, "deduplicated": submitted.deduplicated})
    screen.say(confirmation(submitted))


SUBMIT = Subcommand("submit", "Submit a job.", ARGUMENTS, run)
