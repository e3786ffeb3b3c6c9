"""The page about Django's tasks runs."""

from embedded import REPOSITORY
from tests.integration.docs.test_guide import converse, names_of
from tests.pages import blocks

PAGE = REPOSITORY / "docs/django-tasks.md"


def test_the_page_runs(tenant) -> None:
    with names_of("reports.django_tasks_page", tenant=tenant) as names:
        for block in blocks(PAGE, "python", "pycon"):
            if block.language == "python":
                exec(compile(block.text.replace("django.tasks", "tests.sample.later"), PAGE.name, "exec"), names)
            else:
                converse(block, names, lambda: None, PAGE)
