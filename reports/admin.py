"""The admin of data sources and reports. Operators can enter the URL of a source, but never see a stored one."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminPasswordWidget

from plumbing.admin_style import Searched
from reports import sources
from reports.models import DataReport, DataSource

if TYPE_CHECKING:
    SourceForm = forms.ModelForm[DataSource]
else:
    SourceForm = forms.ModelForm  # generic for the type checker only


class DataSourceForm(SourceForm):
    """A form that accepts a URL, but never shows the stored one."""

    url = forms.CharField(
        label="Database URL",
        max_length=1000,
        required=False,
        widget=UnfoldAdminPasswordWidget(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=f"{DataSource._meta.get_field('url').help_text} Empty: keep the stored URL.",
    )

    class Meta:
        model = DataSource
        fields = ["tenant", "name", "url"]

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"] or self.instance.url
        if not url:
            raise forms.ValidationError("A new data source needs a URL.")
        if (refusal := sources.refusal(url)) is not None:
            raise forms.ValidationError(refusal)
        return url


@admin.register(DataSource)
class DataSourceAdmin(Searched, ModelAdmin):
    form = DataSourceForm
    list_display = ["name", "tenant", "place", "report_count"]
    search_fields = ["name", "tenant__name"]
    list_select_related = ["tenant"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[DataSource]:
        return super().get_queryset(request).annotate(reports_of_it=Count("reports"))

    @admin.display(description="database")
    def place(self, source: DataSource) -> str:
        return source.address or "not a valid URL"

    @admin.display(description="reports", ordering="reports_of_it")
    def report_count(self, source: Any) -> int:
        count: int = source.reports_of_it
        return count


@admin.register(DataReport)
class DataReportAdmin(Searched, ModelAdmin):
    searched = ("tenant", "source")
    list_display = ["name", "tenant", "source", "question"]
    search_fields = ["name", "question", "tenant__name", "source__name"]
    list_select_related = ["tenant", "source"]
    fields = ["tenant", "source", "name", "question", "sql", "parameters", "row_limit"]
