"""`manage.py queues`: make, show, pause and resume queues, and change their limits."""

from jobs.console.cli.queues_change import ADD, PAUSE, RESUME, SET
from jobs.console.cli.queues_list import LIST
from jobs.console.cli.queues_stats import STATS
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Make, show, pause and resume queues, and change their limits."
    subcommands = (LIST, STATS, ADD, PAUSE, RESUME, SET)
    default = LIST
