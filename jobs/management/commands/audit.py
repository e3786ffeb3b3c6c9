"""`manage.py audit export`: the audit log, as JSON lines or CSV."""

from jobs.management.cli.audit_export import EXPORT
from jobs.management.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Export the audit log: who changed what, from where, from what to what."
    subcommands = (EXPORT,)
