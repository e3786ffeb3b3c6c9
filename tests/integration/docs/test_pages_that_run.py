"""The cookbook and the page about tests run, inside the transaction of a test that is rolled back."""

import re
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connection

from embedded import REPOSITORY
from jobs.calls import registry
from tests.factories import QueueFactory, TenantFactory
from tests.integration.docs.test_guide import converse, declare, names_of
from tests.pages import blocks

MODELS = {"cookbook": "account", "testing": "invoice"}  # that each page declares


@pytest.fixture(params=MODELS)
def page(request, db: None) -> Iterator[str]:
    """The model that the page declares is gone afterwards."""
    for name in ("default", "partner", "webhooks"):
        QueueFactory(name=name)
    cache.clear()
    yield request.param
    apps.all_models["reports"].pop(MODELS[request.param])
    apps.clear_cache()
    registry.source_types.cache_clear()


def test_the_page_runs(page) -> None:
    path = REPOSITORY / f"docs/{page}.md"
    with names_of(f"reports.{page}_page", tenant=TenantFactory(queue=None)) as names:
        for block in blocks(path, "python", "pycon"):
            if block.language == "python":
                declare(block, names, path)
            else:
                converse(block, names, lambda: None, path)


def test_the_architecture_names_each_trigger(db) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT tgname FROM pg_trigger WHERE NOT tgisinternal")
        triggers = {name for (name,) in cursor.fetchall()}
    section = (
        (REPOSITORY / "docs/architecture.md").read_text().partition("### What a trigger says")[2].partition("\n## ")[0]
    )
    rows = [row for row in section.splitlines() if row.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])} == triggers
