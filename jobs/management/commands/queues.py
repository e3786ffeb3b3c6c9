from jobs.console.cli.queues import ADD, LIST, PAUSE, RESUME, SET, STATS
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Show, create, pause and resume queues, and change their limits."
    subcommands = (LIST, STATS, ADD, PAUSE, RESUME, SET)
    default = LIST
