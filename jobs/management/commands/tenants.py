"""`manage.py tenants`: what each tenant may use, and uses."""

from jobs.management.cli.subcommands import SubcommandsCommand
from jobs.management.cli.tenants_slots import SLOTS


class Command(SubcommandsCommand):
    help = "Show and change what each tenant may use."
    subcommands = (SLOTS,)
