"""`manage.py webhooks`: the addresses of tenants to which the scheduler posts how their jobs ended."""

from jobs.console.cli.subcommands import SubcommandsCommand
from jobs.console.cli.webhooks import LIST, SUBCOMMANDS


class Command(SubcommandsCommand):
    help = "Show, add and remove the webhooks of tenants, and switch them off and on."
    subcommands = SUBCOMMANDS
    default = LIST
