"""What the read-only pages share."""

# Unfold has no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.paginator import InfinitePaginator
from unfold.views import ChangeList


def cut(text: str, length: int) -> str:
    """Of what a tenant wrote, as much as a list has room for; the whole of it appears when one points at it."""
    return text if len(text) <= length else format_html('<span title="{}">{}…</span>', text, text[: length - 1])


class ReadOnly:
    """Rows that only the engine writes."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class NewestFirst(ChangeList):
    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        # Not what `?o=` says: Django obeys it also where `sortable_by` shows no arrow.
        return list(self.model_admin.newest_first)


class HugeTableAdmin(ReadOnly, ModelAdmin):
    """For millions of rows: none of its pages counts them, or sorts them by anything but an index."""

    newest_first: tuple[str, ...] = ("-pk",)
    paginator = InfinitePaginator  # knows no count, only "Previous" and "Next"
    show_full_result_count = False
    list_disable_select_all = True  # "select all 9,999,999,999"
    list_per_page = 50
    list_max_show_all = 0
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return NewestFirst
