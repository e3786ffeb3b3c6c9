"""`manage.py queues`: show them, pause and resume them, change their limits."""

from jobs.management.cli.queues_change import PAUSE, RESUME, SET
from jobs.management.cli.queues_list import LIST
from jobs.management.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Show the queues; pause, resume, and limit them."
    subcommands = (LIST, PAUSE, RESUME, SET)
    default = LIST
