"""`manage.py seed_demo`: create three customers with real data."""

from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reports.demo.mailing import seed_mails
from reports.demo.seeding import PASSWORD, seed


class Command(BaseCommand):
    help = "Create the demo's tenants, logins, API keys, customer databases and reports. Safe to repeat."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--mails", action="store_true", help="Let ten tenants mail reports, in a light pool.")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.ENVIRONMENT == "production":
            raise CommandError("Not in production: the demo's passwords are known to everybody.")
        try:
            seeded = seed()
            mails = seed_mails() if options["mails"] else 0
        except psycopg.errors.InsufficientPrivilege as error:
            raise CommandError(
                "The role in DATABASE_URL may not create the role and the database of a customer "
                f"({error.diag.message_primary}). Allow it: ALTER ROLE ... CREATEROLE CREATEDB."
            ) from error
        self.stdout.write(f"Logins (password of each: {PASSWORD}):")
        for username, sees in seeded.logins.items():
            self.stdout.write(f"  {username:<8} {sees}")
        if seeded.tokens:
            self.stdout.write("API keys, shown only once:")
        for tenant, token in seeded.tokens.items():
            self.stdout.write(f"  {tenant:<24} {token}")
        if not seeded.tokens:
            self.stdout.write("API keys were shown when they were made. For a new one: manage.py keys add TENANT NAME")
        if mails:
            self.stdout.write(f"{mails} mails of ten tenants were submitted, to the light pool mail.")
