"""The shared base of the read-only pages."""

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from plumbing.admin_style import ChangeList, ModelAdmin, UncountedPaginator
from plumbing.text import in_one_line


def cut(text: str, length: int) -> str:
    """Cut a tenant's text to the width of a list; the whole text appears as a tooltip."""
    text = in_one_line(text)
    return text if len(text) <= length else format_html('<span title="{}">{}…</span>', text, text[: length - 1])


class ReadOnly:
    """A page of rows that only the engine writes."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


class NewestFirst(ChangeList):
    """A list in the order of an index, which filters only among the newest rows."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request, exclude_parameters)
        look = self.model_admin.newest_looked_at
        if not (self.has_active_filters or self.query) or self.query.strip().isdecimal():
            return found
        end = self.root_queryset.order_by("-pk").values_list("pk", flat=True)[look - 1 : look].first()
        if end is None:
            return found
        messages.info(
            request, f"Searched the newest {look:,}, down to number {end}; the command line searches further."
        )
        return found.filter(pk__gte=end)

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        # Ignore `?o=`: Django obeys it even for columns that `sortable_by` excludes.
        return ["-pk"]


class HugeTableAdmin(ReadOnly, ModelAdmin):
    """Pages for millions of rows: they never count all rows, and sort only by an index."""

    newest_looked_at = 100_000  # rows; a filter looks at no others
    paginator = UncountedPaginator  # has "Previous" and "Next", but no count
    show_full_result_count = False
    list_disable_select_all = True  # "select all 9,999,999,999"
    list_per_page = 50
    list_max_show_all = 0
    sortable_by = ()

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[NewestFirst]:
        return NewestFirst
