"""`manage.py audit`: the audit log, as a table, JSON lines or CSV; and a mark of this moment in it."""

from jobs.console.cli.audit import EXPORT, LIST, MARK
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Show or export the audit log: who changed what, from where, from what to what. Or mark a moment in it."
    subcommands = (LIST, EXPORT, MARK)
