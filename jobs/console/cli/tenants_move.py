"""`manage.py tenants export | import | moved | open`: a tenant moves to another installation, or gets its data."""

from pathlib import Path

from django.core.management.base import CommandError

from jobs.console.cli import inputs
from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.engine.moving import arrive, leave

WAIT = 300  # seconds


def _export(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["slug"])
    if sum((bool(options["to"]), options["copy"], options["abort"])) != 1:
        raise CommandError("name one of --to ADDRESS, --copy and --abort")
    if options["abort"]:
        leave.take_back(tenant)
        screen.document({"tenant": tenant.jobs_slug, "moving": ""})
        screen.say(f"{tenant.jobs_slug} stays here, and is open. Its file is worth nothing: delete it.")
        return
    if options["file"] is None:
        raise CommandError("file: name the file to write, such as acme.jsonl.gz")
    path = Path(options["file"])
    try:
        if options["copy"]:
            rows = leave.copy(tenant, path)
        else:
            rows = leave.close_and_write(tenant, options["to"], path, options["wait"], screen.say)
    except OSError as error:
        raise CommandError(f"file: cannot be written: {error}") from None
    screen.document({"tenant": tenant.jobs_slug, "file": str(path), "rows": rows})
    screen.say(f"Wrote {sum(rows.values()):,} rows of {tenant.jobs_slug} to {path}.")
    screen.facts({table: f"{number:,}" for table, number in rows.items()})
    if not options["copy"]:
        screen.say(f"{tenant.jobs_slug} is closed here. Next, at {options['to']}: manage.py tenants import {path.name}")
        screen.say(f"To stay here instead: manage.py tenants export {tenant.jobs_slug} --abort")


def _import(options: Options, screen: Screen) -> None:
    missing = options["missing_objects"] == "allow"
    arrival = arrive.take_in(Path(options["file"]), members=options["members"], missing=missing)
    slug = arrival.tenant.jobs_slug
    screen.document(
        {"tenant": slug, "rows": arrival.rows, "receipt": arrival.receipt, "not_members": arrival.strangers}
    )
    if arrival.rows:
        screen.say(f"Stored {sum(arrival.rows.values()):,} rows of {slug}. It is closed here until it is opened.")
        screen.facts({table: f"{number:,}" for table, number in arrival.rows.items()})
    else:
        screen.say(f"This file of {slug} has come already.")
    if arrival.strangers:
        listed = ", ".join(arrival.strangers)
        screen.say(f"Not members here: {listed}. To make one a member: manage.py members add {slug} USER")
    screen.say(f"Next, where {slug} was: manage.py tenants moved {slug} {arrival.receipt}")


def _moved(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["slug"])
    word = leave.give_up(tenant, options["receipt"])
    screen.document({"tenant": tenant.jobs_slug, "word": word})
    screen.say(f"{tenant.jobs_slug} is given up here for good; requests get its new address.")
    screen.say(f"Next, where it is now: manage.py tenants open {tenant.jobs_slug} {word}")


def _open(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["slug"])
    arrive.open_tenant(tenant, options["word"])
    screen.document({"tenant": tenant.jobs_slug, "moving": ""})
    screen.say(f"{tenant.jobs_slug} is open: its jobs run here.")


SLUG = argument("slug", help="The tenant.")
EXPORTING = (
    SLUG,
    argument("file", nargs="?", help="The file to write; with gzip if its name ends in .gz."),
    argument("--to", metavar="ADDRESS", help="Close the tenant here, for that installation: https://b.example.com."),
    argument("--copy", action="store_true", help="Close nothing: the answer to a customer who wants its data."),
    argument("--abort", action="store_true", help="Take the tenant back, as long as it was not given up."),
    argument(
        "--wait",
        type=inputs.whole(0),
        default=WAIT,
        metavar="SECONDS",
        help="How long its running jobs may take to end (default %(default)s).",
    ),
)
IMPORTING = (
    argument("file", help="The file that the other installation wrote."),
    argument("--members", action="store_true", help="Users of the same names here are the same people: let them in."),
    argument(
        "--missing-objects",
        choices=["refuse", "allow"],
        default="refuse",
        help="Objects of its jobs that are not here: refuse the file, or let those jobs fail (default %(default)s).",
    ),
)
RECEIPT = argument("receipt", help="What `tenants import` printed at the other installation.")
WORD = argument("word", help="What `tenants moved` printed where the tenant was.")
EXPORT = Subcommand("export", "Write a tenant's data to a file, to move it or to hand it out.", EXPORTING, _export)
IMPORT = Subcommand("import", "Take in a tenant from the file of another installation.", IMPORTING, _import)
MOVED = Subcommand("moved", "Give a tenant up to the installation that took it in, for good.", (SLUG, RECEIPT), _moved)
OPEN = Subcommand("open", "Let the jobs of a tenant run that has come from elsewhere.", (SLUG, WORD), _open)
