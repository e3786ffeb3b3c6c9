"""The page for projects with Celery tasks runs."""

import pytest

from embedded import REPOSITORY
from tests.factories import QueueFactory, TenantFactory
from tests.integration.docs.test_guide import converse, names_of
from tests.pages import blocks

PAGE = REPOSITORY / "docs/from-celery.md"


@pytest.mark.django_db
def test_the_page_runs() -> None:
    QueueFactory()
    TenantFactory(slug="acme")
    with names_of("reports.from_celery_page") as names:
        for block in blocks(PAGE, "python", "pycon"):
            if block.language == "python":
                exec(compile(block.text, PAGE.name, "exec"), names)
            else:
                converse(block, names, lambda: None, PAGE)
