"""`manage.py schedules`: show the recurring jobs of all tenants, add, change, pause, resume, delete and run them."""

from jobs.console.cli.schedules import DELETE, LIST, PAUSE, RESUME, RUN_NOW, SHOW
from jobs.console.cli.schedules_change import ADD, CHANGE
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Show the recurring jobs; add, change, pause, resume, delete and run them."
    subcommands = (LIST, SHOW, ADD, CHANGE, PAUSE, RESUME, DELETE, RUN_NOW)
    default = LIST
