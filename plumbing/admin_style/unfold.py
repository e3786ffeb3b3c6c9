"""The style of django-unfold, under the names that plain.py has too."""

from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.decorators import display
from unfold.paginator import InfinitePaginator as UncountedPaginator
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminSelectWidget as Select

HAS = "show_title" if hasattr(TabularInline, "show_title") else "hide_title"  # as until 0.91, the last for Python 3.11
Untitled = type("Untitled", (), {HAS: HAS == "hide_title"})
