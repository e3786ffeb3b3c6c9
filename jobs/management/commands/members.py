from jobs.console.cli.members import ADD, LIST, REMOVE
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Let users see the jobs of a tenant."
    subcommands = (LIST, ADD, REMOVE)
    default = LIST
