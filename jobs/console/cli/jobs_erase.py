"""`manage.py jobs erase`: remove the data of a tenant's ended jobs."""

from dataclasses import asdict

from django.core.management.base import CommandError

from jobs.console.cli.screen import Screen
from jobs.console.cli.subcommands import Options, Subcommand, argument
from jobs.console.operations.named import tenant_named
from jobs.engine.verbs.erase import erase
from jobs.store.results import CacheAway


def run(options: Options, screen: Screen) -> None:
    tenant = tenant_named(options["tenant"])
    try:
        report = erase(tenant.pk)
    except CacheAway as away:
        raise CommandError(f"{away}; erase the rest when it is back.") from None
    screen.document({"tenant": tenant.jobs_slug} | asdict(report))
    screen.say(f"Erased arguments, statistics, errors and users of {tenant.jobs_slug}.")
    screen.facts(
        {
            "ended jobs": f"{report.jobs:,}",
            "failed attempts": f"{report.failed_attempts:,}",
            "kept results": f"{report.results:,}",
            "kept answers": f"{report.answers:,}",
            "memories": f"{report.memories:,}",
        }
    )
    if report.under_way:
        screen.say(f"Not erased, because they have not ended: {report.under_way:,}. Cancel them, and erase again.")


ERASE = Subcommand(
    "erase",
    "Remove arguments, statistics, errors, users and results of a tenant's ended jobs.",
    [argument("--tenant", metavar="SLUG", required=True)],
    run,
)
