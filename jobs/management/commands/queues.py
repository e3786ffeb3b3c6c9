"""`manage.py queues`: show, pause and resume queues, and change their limits."""

from jobs.console.cli.queues_change import PAUSE, RESUME, SET
from jobs.console.cli.queues_list import LIST
from jobs.console.cli.queues_stats import STATS
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Show, pause and resume queues, and change their limits."
    subcommands = (LIST, STATS, PAUSE, RESUME, SET)
    default = LIST
