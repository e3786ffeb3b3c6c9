"""`manage.py webhooks`: where tenants' own systems are told how their jobs ended."""

from jobs.console.cli.subcommands import SubcommandsCommand
from jobs.console.cli.webhooks import ADD, LIST, REMOVE, SWITCH_ON


class Command(SubcommandsCommand):
    help = "Show, add and remove the webhooks of tenants, and switch them on again."
    subcommands = (LIST, ADD, REMOVE, SWITCH_ON)
    default = LIST
