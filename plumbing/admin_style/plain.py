"""The style of Django's own admin, under the names that unfold.py has too."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.contrib import admin
from django.contrib.admin import StackedInline, TabularInline
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.forms import Select

MOST_COUNTED = 10_000


class ModelAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic for the type checker only
    """Django's ModelAdmin, with unfold's option against "select all rows"."""

    list_disable_select_all = False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        if self.list_disable_select_all:
            self.actions_selection_counter = False  # type: ignore[misc]


class Untitled:
    """An inline without the title of each row, if the style can leave it out."""


class UncountedPaginator(Paginator):  # type: ignore[type-arg]
    """A paginator that counts at most MOST_COUNTED rows, and has no pages for more."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows[:MOST_COUNTED].count())


def display(*, label: object = None, **options: Any) -> Callable[[Any], Any]:
    """Return Django's decorator, with unfold's parameter `label`, which is ignored: labels have no colours here."""
    decorator: Callable[[Any], Any] = admin.display(**options)
    return decorator
