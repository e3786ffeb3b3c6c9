"""Pages of limits: what is in use beside them, and the question of what others would have done."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from jobs.console.operations.what_if import LIMITS, asked_at
from jobs.engine import limits
from jobs.reading import counts
from tenants.admin_style import Labelled, display, rate
from tenants.names import named


class LimitsAdmin(Labelled):
    """kind: of which the limits are. counted: by what the jobs in use and waiting are counted, for `counts.columns`.

    A saved change takes effect with the next dispatch, which follows at once.
    """

    kind: str
    counted: dict[str, str]

    def subject(self, obj: Any) -> str:
        """Its name in a question."""
        raise NotImplementedError

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request)
        return found.annotate(**counts.columns(**self.counted))

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        if obj is not None:
            lead(form, self.kind, self.subject(obj), request)
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        limits.store(obj, form.changed_data if change else None)

    @display(description="in use")
    def in_use(self, row: Any) -> int:
        return int(row.holding_now)

    @display(description="waiting")
    def waiting(self, row: Any) -> int:
        return int(row.waiting_now)

    @display(description="rate limit", empty_value="")
    def rate(self, row: Any) -> str | None:
        return rate(row)


def lead(form: Any, kind: str, subject: str, request: HttpRequest) -> None:
    """From the fields of this class of forms, for those who may ask."""
    if request.user.has_perm(named("tenants.view_tenantqueue")):
        for limit in form.base_fields.keys() & set(LIMITS[kind]):
            if address := asked_at(kind, subject, {limit: ""}):
                field = form.base_fields[limit]
                field.help_text = format_html(
                    '{} <a class="underline" href="{}">What would it do?</a>', field.help_text, address
                )
