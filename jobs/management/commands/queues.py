from jobs.console.cli.pools import POOL
from jobs.console.cli.queues import ADD, LIST, OPEN, PAUSE, RESUME, SET, STATS
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Show, create, pause and resume queues, and change their limits; and set the kind of a pool."
    subcommands = (LIST, STATS, ADD, PAUSE, RESUME, SET, OPEN, POOL)
    default = LIST
