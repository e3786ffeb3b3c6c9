"""Every command of `manage.py` that is ours, as its --help tells it."""

import argparse
import os

from django.apps import apps
from django.core.management import get_commands, load_command_class

APPS = ("jobs", "reports")  # reports: the demo


def names() -> list[str]:
    ours = {apps.get_app_config(label).name for label in APPS}
    return sorted(name for name, app in get_commands().items() if app in ours)


def part() -> str:
    os.environ["COLUMNS"] = "100"  # argparse breaks lines for the terminal of whoever builds
    return "\n\n".join(_section(name) for name in names())


def _section(name: str) -> str:
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    children = {
        child: sub
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for child, sub in action.choices.items()
    }
    if not children:
        return f"## {name}\n\n```text\n{parser.format_help().strip()}\n```"
    subcommands = "\n\n".join(
        f"### {name} {child}\n\n```text\n{sub.format_help().strip()}\n```" for child, sub in children.items()
    )
    return f"## {name}\n\n{parser.description or ''}\n\n{subcommands}"
