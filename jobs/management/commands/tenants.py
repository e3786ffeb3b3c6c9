from jobs.console.cli.subcommands import SubcommandsCommand
from jobs.console.cli.tenants import ADD, MIRROR, SLOTS
from jobs.console.cli.tenants_usage import USAGE


class Command(SubcommandsCommand):
    help = "Show and change the limits of tenants and what they used, add one, and mirror the project's."
    subcommands = (SLOTS, USAGE, ADD, MIRROR)
