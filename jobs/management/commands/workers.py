from jobs.console.cli.subcommands import SubcommandsCommand
from jobs.console.cli.workers import DRAIN, LIST


class Command(SubcommandsCommand):
    help = "Show the workers, or drain one."
    subcommands = (LIST, DRAIN)
    default = LIST
