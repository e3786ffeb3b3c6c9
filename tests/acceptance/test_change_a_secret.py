"""What docs/change-a-secret.md tells to type, on servers of our own: both values hold, then the new one alone."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from django.db import connection

from embedded import REPOSITORY, postgresql
from jobs.models import WebhookEndpoint
from tenants import auth
from tenants.models import ApiKey, Tenant
from tests.chaos import own_engines
from tests.pages import blocks

PAGE = REPOSITORY / "docs/change-a-secret.md"
SHELL = f"""
manage() {{ (cd {REPOSITORY} && {sys.executable} manage.py "$@"); }}
valkey-cli() {{ {sys.executable} -c 'import os, redis, sys
redis.from_url(os.environ["CACHE_URL"]).execute_command(*sys.argv[1:])' "$@"; }}
"""
# In a process of the shipped project: the signatures of a message to an endpoint with the salt "salt".
SIGN = """
import django; django.setup()
from datetime import datetime, UTC
from jobs.engine.webhooks import signing
print(signing.headers("msg_1", datetime.fromtimestamp(0, UTC), b"{}", ["salt"])["webhook-signature"])
"""


def command(containing: str) -> str:
    """The block of the page that types this."""
    [found] = [block.text for block in blocks(PAGE, "sh", "psql") if containing in block.text]
    return found


def type_in(text: str, environ: dict[str, str], **variables: str) -> str:
    bash = ["bash", "-eu", "-c", SHELL + text]
    environ = {"PATH": os.environ["PATH"]} | environ | variables
    done = subprocess.run(bash, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def signatures(**keys: str) -> list[str]:
    """Of a message, in a process of the shipped project with these variables."""
    environ = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "scheduler_project.settings", **keys}
    ran = subprocess.run([sys.executable, "-c", SIGN], cwd=REPOSITORY, env=environ, capture_output=True, check=True)
    return ran.stdout.decode().split()


def test_messages_are_signed_for_a_former_key_of_the_environment_too() -> None:
    former, new = "f" * 50, "n" * 50
    both = signatures(SECRET_KEY=new, SECRET_KEY_FALLBACKS=former)
    assert both == [*signatures(SECRET_KEY=new), *signatures(SECRET_KEY=former)]


@pytest.fixture
def environ(tmp_path: Path, django_db_blocker) -> Iterator[dict[str, str]]:
    """Of processes on servers whose secrets may change."""
    with django_db_blocker.unblock(), own_engines.running(tmp_path) as engines:
        yield engines.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}


@pytest.mark.long("a command of the page that a server refuses; the neighbour above needs no server")
def test_the_page_is_typed_while_both_values_hold_and_then_the_new_one_alone(environ: dict[str, str]) -> None:
    in_the_database(environ)
    in_the_cache(environ)
    of_a_tenant(environ)


def in_the_database(environ: dict[str, str]) -> None:
    url = environ["DATABASE_URL"]
    by_the_second = url.replace(f"//{postgresql.ROLE}@", "//scheduler_b:new-password@")
    with psycopg.connect(**connection.get_connection_params() | {"user": postgresql.ADMIN}, autocommit=True) as admin:

        def execute(containing: str) -> None:
            admin.execute(re.sub(r"\bscheduler\b", postgresql.ROLE, command(containing)))

        execute("CREATE ROLE scheduler_b")
        typed = command("check --database").replace("check", "check --fail-level WARNING")
        for there in (url, by_the_second):
            assert "no issues" in type_in(typed, environ | {"DATABASE_URL": there})
        execute("PASSWORD NULL")
    type_in("manage tenants add acme Acme --set 3", environ | {"DATABASE_URL": by_the_second})


def in_the_cache(environ: dict[str, str]) -> None:
    url = environ["CACHE_URL"]
    [former] = re.findall(r"//:([^@]+)@", url)
    by_the_new = url.replace(former, "new")
    type_in(command('">$NEW"'), environ, NEW="new")
    assert redis.from_url(url).ping()
    type_in(command('"<$OLD"'), environ | {"CACHE_URL": by_the_new}, OLD=former)
    with pytest.raises(redis.AuthenticationError):
        redis.from_url(url).ping()


def of_a_tenant(environ: dict[str, str]) -> None:
    tenant = Tenant.objects.get(slug="acme")
    former, token = auth.issue(tenant, "nightly export")
    type_in(command("keys add"), environ, PREFIX=former.prefix)
    assert auth.tenant_of(token) is None
    assert ApiKey.objects.filter(tenant=tenant, revoked_at=None).count() == 1
    type_in("manage webhooks add acme https://example.com/hooks", environ)
    endpoint = WebhookEndpoint.objects.get(tenant=tenant)
    assert "whsec_" in type_in(command("replace-secret"), environ, ENDPOINT=str(endpoint.pk))
    assert WebhookEndpoint.objects.get(tenant=tenant).former_salt == endpoint.salt
