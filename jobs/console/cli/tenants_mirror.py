"""`manage.py tenants mirror`: a tenant for each row of the model that JOBS_TENANT_MIRROR names."""

from django.core.management.base import CommandError, CommandParser

from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand
from tenants.mirror import mirrored_model, reflect


def arguments(parser: CommandParser) -> None:
    """It has none."""


def run(options: Options, screen: Screen) -> None:
    model = mirrored_model()
    if model is None:
        raise CommandError(
            'JOBS_TENANT_MIRROR is not set. Set it to "app.Model", the model whose rows are your tenants.'
        )
    number = reflect(model._default_manager.iterator(chunk_size=1000))
    screen.document({"mirrored": number})
    screen.say(f"Wrote the tenants of {number:,} rows of {model._meta.label}.")


MIRROR = Subcommand("mirror", "Write a tenant for each row of the model in JOBS_TENANT_MIRROR.", arguments, run)
