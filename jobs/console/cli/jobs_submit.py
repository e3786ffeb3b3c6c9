"""`manage.py jobs submit`: submit a job with the checks of the HTTP API."""

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from jobs.calls.compose import compose_by_name
from jobs.calls.refusals import TooManyWaiting
from jobs.calls.request import LAST_PRIORITY
from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from jobs.console.operations.named import tenant_named
from jobs.engine.submit import submit


def arguments(parser: CommandParser) -> None:
    parser.add_argument("source_type", help="The model of the object, e.g. reports.datareport.")
    parser.add_argument("source_id", help="The id of the object, or - for a job of the class.")
    parser.add_argument("source_method", metavar="method", help="The method, marked @job.")
    parser.add_argument("--tenant", required=True, metavar="SLUG", help="The tenant that owns the job.")
    # dest is not "args": Django reads that name as the positional arguments of the command.
    parser.add_argument(
        "--args", dest="call", type=inputs.json_object, default={}, metavar="JSON", help="The arguments by name."
    )
    parser.add_argument("--queue", metavar="NAME", help="Default: the queue of the method.")
    parser.add_argument("--priority", type=inputs.whole(0, LAST_PRIORITY), metavar="N", help="0 is first, 10 is last.")
    parser.add_argument("--delay", type=inputs.seconds, metavar="SECONDS", help="Start it after so many seconds.")
    parser.add_argument(
        "--at", type=inputs.moment, metavar="MOMENT", help="Start it at this moment, e.g. 2030-01-31T09:00:00+01:00."
    )
    parser.add_argument("--timeout", type=inputs.seconds, metavar="SECONDS", help="The longest time it may run.")
    parser.add_argument("--user", metavar="KEY", help="The tenant's user that the job is for.")
    parser.add_argument(
        "--no-dedup",
        dest="dedup",
        action="store_false",
        default=None,
        help="Submit it even if an identical unfinished job exists.",
    )


def run(options: Options, screen: Screen) -> None:
    given = ("queue", "priority", "delay", "at", "timeout", "user", "dedup")
    request = compose_by_name(
        tenant_named(options["tenant"]),
        source_type=options["source_type"],
        source_id=None if options["source_id"] == "-" else options["source_id"],
        source_method=options["source_method"],
        args=options["call"],
        **{name: options[name] for name in given},
    )
    try:
        with transaction.atomic():
            submitted = submit(request)
    except TooManyWaiting as full:
        allow = f"allow more: manage.py tenants slots {options['tenant']} --max-waiting N"
        raise CommandError(f"tenant: {full}, or {allow}") from None
    screen.document({"id": submitted.id, "deduplicated": submitted.deduplicated})
    there = "An identical job is already under way: job" if submitted.deduplicated else "Submitted job"
    screen.say(f"{there} {submitted.id}.")


SUBMIT = Subcommand("submit", "Submit a job.", arguments, run)
