"""The page of changes: who did what, read-only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.console.admin.base import HugeTableAdmin, cut
from jobs.console.operations import audited
from plumbing.admin_style import display
from tenants import audit, watched_rows
from tenants.models import Change

VERBS = (
    *("added", "changed", "deleted", "revoked", "run by hand", "cleared", "erased"),
    *("cancelled", "asked to stop", "revived", "discarded", "submitted"),  # jobs
    "drained",  # workers
    "marked",  # this moment, in the charts
    "requested",  # of older rows: asked to stop
)
SHOWN = 1000  # ids of a bulk action
KINDS = ("jobs.job", "jobs.jobmemory", "jobs.worker", "tenants.change")  # besides the watched models


class Choice(admin.SimpleListFilter):
    """A filter that offers the known values: to read those in use would read the whole log."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        known = VERBS if self.parameter_name == "verb" else sorted({*watched_rows.watched_kinds, *KINDS})
        return [(one, one) for one in known]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Change]) -> QuerySet[Change]:
        return queryset.filter(**{str(self.parameter_name): self.value()}) if self.value() else queryset


class VerbFilter(Choice):
    title = parameter_name = "verb"


class KindFilter(Choice):
    title = parameter_name = "kind"


@admin.register(Change)
class ChangeAdmin(HugeTableAdmin):
    """The audit log: read-only; the clock deletes entries after JOBS_LOGS_KEEP days."""

    list_display = ["moment", "who", "address", "verb", "kind", "what", "values_changed"]
    list_filter = [VerbFilter, KindFilter]
    search_fields = ["who", "key", "address", "subject", "subject_id"]
    fields = ["moment", ("who", "key", "address"), "verb", ("kind", "subject_id"), "subject", "values", "ids"]
    readonly_fields = ["moment", "ids"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Change], search_term: str
    ) -> tuple[QuerySet[Change], bool]:
        """Find a number among the ids of a bulk action, too."""
        found, duplicates = super().get_search_results(request, queryset, search_term)
        number = search_term.strip()
        return (found | queryset.filter(audit.about(subject_id=number)) if number.isdecimal() else found), duplicates

    @display(description="at (UTC)")
    def moment(self, change: Change) -> str:
        return f"{change.at:%Y-%m-%d %H:%M:%S}"

    @display(description="subject")
    def what(self, change: Change) -> str:
        return cut(change.subject, 60)

    @display(description="ids of a bulk action", empty_value="")
    def ids(self, change: Change) -> str | None:
        found = [str(pk) for pk in change.subjects.order_by("subject_id").values_list("subject_id", flat=True)[:SHOWN]]
        return ", ".join(found) + (", …" if len(found) == SHOWN else "") or None

    @display(description="changed")
    def values_changed(self, change: Change) -> str:
        return cut(audited.values_in_words(change), 120)
