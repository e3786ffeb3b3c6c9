from jobs.console.cli.subcommands import SubcommandsCommand
from jobs.console.cli.tenants import ADD, MIRROR, SLOTS
from jobs.console.cli.tenants_budget import BUDGET
from jobs.console.cli.tenants_move import EXPORT, IMPORT, MOVED, OPEN
from jobs.console.cli.tenants_usage import USAGE


class Command(SubcommandsCommand):
    help = "Show and change limits and budgets of tenants, show their usage, add, mirror and move tenants."
    subcommands = (SLOTS, BUDGET, USAGE, ADD, MIRROR, EXPORT, IMPORT, MOVED, OPEN)
