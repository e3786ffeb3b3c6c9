"""`manage.py audit export`: the audit log, as JSON lines or CSV."""

from jobs.console.cli.audit_export import EXPORT
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Export the audit log: who changed what, from where, from what to what."
    subcommands = (EXPORT,)
