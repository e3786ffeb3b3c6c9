"""`manage.py audit`: the audit log, as a table, JSON lines or CSV."""

from jobs.console.cli.audit import EXPORT, LIST
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Show or export the audit log: who changed what, from where, from what to what."
    subcommands = (LIST, EXPORT)
