"""The cookbook runs, inside the transaction of a test that is rolled back."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.cache import cache

from embedded import REPOSITORY
from jobs.calls import registry
from tests.factories import QueueFactory, TenantFactory
from tests.integration.docs.test_guide import Names, converse, declare
from tests.pages import blocks

PAGE = REPOSITORY / "docs/cookbook.md"


@pytest.fixture
def names(db: None) -> Iterator[Names]:
    """The names that the page's reader has; the model that it declares is gone afterwards."""
    for name in ("default", "partner", "webhooks"):
        QueueFactory(name=name)
    cache.clear()
    yield {"__name__": "reports.cookbook", "tenant": TenantFactory(queue=None)}
    apps.all_models["reports"].pop("account")
    apps.clear_cache()
    registry.source_types.cache_clear()


def test_the_recipes_run(names) -> None:
    for block in blocks(PAGE, "python", "pycon"):
        if block.language == "python":
            declare(block, names, PAGE)
        else:
            converse(block, names, lambda: None, PAGE)
