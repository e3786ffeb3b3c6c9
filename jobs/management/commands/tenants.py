"""`manage.py tenants`: show and change the limits of tenants, add one, and mirror the project's."""

from jobs.console.cli.subcommands import SubcommandsCommand
from jobs.console.cli.tenants_add import ADD
from jobs.console.cli.tenants_mirror import MIRROR
from jobs.console.cli.tenants_slots import SLOTS


class Command(SubcommandsCommand):
    help = "Show and change the limits of tenants, add one, and mirror the project's."
    subcommands = (SLOTS, ADD, MIRROR)
