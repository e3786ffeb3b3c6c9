"""docs/own-project.md, "Take it out again": a project as it was before, without our packages, tables and types."""

import re
import subprocess
import sys

import psycopg
import pytest

from embedded import REPOSITORY
from tests.acceptance.test_install import Project
from tests.pages import blocks

PAGE = REPOSITORY / "docs" / "own-project.md"
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.long("a table, type, function or trigger that its migrations leave behind when they are unmade"),
]
SETTINGS = """
INSTALLED_APPS += ["shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "$NAME"}}
"""
OURS = """
INSTALLED_APPS += ["django.contrib.postgres", "tenants", "jobs"]
CELERY_BROKER_URL = "postgresql://"
"""
KEPT = """
JOBS_TENANT_MODEL = "shop.Shop"
"""
CELERY = """
from celery import Celery

from jobs.celery import configure

app = Celery("mysite")
app.config_from_object("django.conf:settings", namespace="CELERY")
configure(app)
"""
SHOP = """
from django.db import models

from jobs import Asynchronous, job

class Shop(models.Model):
    name, slug = models.CharField(max_length=200), models.SlugField(unique=True)

class Order(Asynchronous, models.Model):
    tenant = models.ForeignKey(Shop, models.CASCADE)

    @job
    def invoice(self):
        return 1
"""
USED = """
from jobs import async_
from jobs.contrib.testing import drain
from shop.models import Order, Shop
from tenants.models import TenantQueue
shop = Shop.objects.create(name="Corner shop", slug="corner")
TenantQueue.objects.create(tenant=shop, num_slots=1)
order = Order.objects.create(tenant=shop)
async_(order.invoice)()
print([attempt.status for attempt in drain()])
async_(order.invoice, delay=3600)()
"""
CATALOG = """
SELECT 'table', relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace
UNION SELECT 'type', typname::text FROM pg_type WHERE typnamespace = 'public'::regnamespace
UNION SELECT 'function', proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION SELECT 'trigger', tgname::text FROM pg_trigger WHERE NOT tgisinternal
UNION SELECT 'migration', app FROM django_migrations
UNION SELECT 'content type', app_label FROM django_content_type
"""


def test_the_steps_of_the_page_leave_nothing_behind(tmp_path, database) -> None:
    project = Project(tmp_path)

    def manage(*words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=tmp_path, env=project.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def catalog() -> set[tuple[str, str]]:
        where = {name.removeprefix("PG").lower(): value for name, value in database.items() if name[:2] == "PG"}
        with psycopg.connect(dbname=database["NAME"], **where) as session:
            return set(session.execute(CATALOG))

    bare = project.settings.read_text().replace("INSTALLED_APPS += ['jobs']", "")
    theirs = bare + SETTINGS.replace("$NAME", database["NAME"])
    project.settings.write_text(theirs.replace('INSTALLED_APPS += ["shop"]', ""))
    manage("migrate")
    manage("startapp", "shop")
    before = catalog()
    models = tmp_path / "shop" / "models.py"
    models.write_text(SHOP)
    project.settings.write_text(theirs + KEPT + OURS)
    project.write("mysite/__init__.py", CELERY)
    manage("makemigrations", "shop")
    manage("migrate")
    assert "['success']" in manage("shell", "--no-imports", "-c", USED)
    unmake, stale = (one.text for one in blocks(PAGE, "ini") if " zero" in one.text or "stale" in one.text)
    for line in unmake.splitlines():
        manage(*line.split()[1:])
    models.write_text(re.sub(r"Asynchronous, |^from jobs.*|    @job\n", "", SHOP, flags=re.MULTILINE))
    made = tmp_path / "shop" / "migrations" / "0001_initial.py"
    assert "jobs.Asynchronous" in made.read_text()
    made.write_text(
        re.sub(
            r"^import jobs.*\n|^ *bases=\(jobs\.Asynchronous, models\.Model\),\n",
            "",
            made.read_text(),
            flags=re.MULTILINE,
        )
    )
    (tmp_path / "mysite" / "__init__.py").write_text("")
    project.settings.write_text(theirs + KEPT)
    project.environ.pop("PYTHONPATH")
    manage(*stale.split()[1:])
    assert "No changes" in manage("makemigrations", "--check")
    manage("migrate", "shop", "zero")
    assert catalog() == before | {("content type", "shop")}
