"""`manage.py tenants budget`: what the jobs of a tenant may use in a month, and what they have used."""

from jobs.console.cli import inputs
from jobs.console.cli.screen import Column, Screen, count
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.cli.tenants import change_limits
from jobs.console.operations.named import tenant_named
from jobs.reading.budgets import standings

COLUMNS = [
    Column("TENANT", "tenant", flexible=True),
    Column("UNIT", "unit"),
    Column("USED", lambda line: count(line["used"]), right=True),
    Column("BUDGET", lambda line: count(line["amount"]), right=True),
    Column("STATE", "state"),
]
ARGUMENTS = (
    argument("slug", nargs="?", help="The tenant. Default: all tenants that have budgets."),
    argument(
        "budgets",
        nargs="*",
        type=inputs.budget,
        metavar="UNIT=N",
        help="Its budget for each month (UTC); UNIT=none takes it away. The others stay as they are.",
    ),
)


def _run(options: Options, screen: Screen) -> None:
    tenant = None if options["slug"] is None else tenant_named(options["slug"])
    if tenant is not None and options["budgets"]:
        change_limits(tenant, {"budgets": dict(options["budgets"])})
    found = standings(None if tenant is None else [tenant.pk])
    lines = [{"tenant": one.tenant, **one.facts()} for one in found]
    screen.document({"budgets": lines})
    screen.table(COLUMNS, lines, none="There are no budgets.")


BUDGET = Subcommand("budget", "Show what tenants used of their budgets this month (UTC), or set them.", ARGUMENTS, _run)
