from jobs.console.cli.keys import ADD, LIST, REVOKE
from jobs.console.cli.subcommands import SubcommandsCommand


class Command(SubcommandsCommand):
    help = "Issue, list and revoke the keys of tenants to the API."
    subcommands = (LIST, ADD, REVOKE)
    default = LIST
