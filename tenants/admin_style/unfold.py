"""The style of django-unfold, under the names that plain.py has too."""

from django.template.loader import render_to_string
from unfold.admin import ModelAdmin, StackedInline, TabularInline
from unfold.decorators import display
from unfold.paginator import InfinitePaginator as UncountedPaginator
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminSelectWidget as Select


def badge(text: str, kind: str) -> str:
    """A coloured label on a detail page: unfold colours labels only in lists."""
    return render_to_string("unfold/helpers/label.html", {"text": text, "type": kind})
