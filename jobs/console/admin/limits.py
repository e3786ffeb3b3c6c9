"""Pages of limits: with what is in use beside them, and links to the what-if page."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html

from jobs.console.operations.limit_forms import KnownNames
from jobs.console.operations.limits import RATE, Limit, grouped
from jobs.console.operations.questions import LIMITS, question_address
from jobs.engine.verbs import limits
from jobs.reading.standing import Standing
from plumbing.admin_style import AsShown, Kept, Labelled, OnlyChanged, display
from plumbing.names import named
from plumbing.text import about


class LimitsForm(KnownNames, AsShown):
    together = RATE


class LimitsAdmin(Labelled, OnlyChanged, Kept):
    """A page of limits. A saved change takes effect with the next dispatch, which follows at once.

    kind: whose limits they are: TENANTS or QUEUES of `questions`
    """

    kind: str
    form = LimitsForm
    list_per_page = 50
    list_max_show_all = 100  # rows: with nine fields each, a form stays below the number of fields that Django accepts

    def subject(self, obj: Any) -> str:
        """Return the name of this row in a what-if question."""
        raise NotImplementedError

    def standings(self, rows: Collection[Any]) -> Mapping[Any, Standing]:
        """Return the present standings of these rows, by primary key."""
        raise NotImplementedError

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Add the standing to each row of this page of the list."""
        found = super().get_changelist_instance(request)
        standings = self.standings(found.result_list)
        for row in found.result_list:
            row.standing = standings.get(row.pk)
        return found

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        if obj is not None:
            lead(form, self.kind, self.subject(obj), request)
        return form

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        limits.store(obj, form.changed_data if change else None)

    @display(description="in use")
    def in_use(self, row: Any) -> str:
        return f"{row.standing.in_use:,}" if row.standing else "0"

    @display(description="waiting")
    def waiting(self, row: Any) -> str:
        return about(row.standing.waiting, row.standing.about) if row.standing else "0"

    @display(description="rate limit", empty_value="")
    def rate(self, row: Any) -> str | None:
        if not row.rate_limit:
            return None
        return f"{row.rate_limit} per {row.rate_window:.15g} s".replace(" ", "\N{NO-BREAK SPACE}")


def fieldsets(table: Iterable[Limit], *before: str) -> list[tuple[str | None, dict[str, Any]]]:
    """Return the parts of a form: these fields with the limits of the first group, then each other group."""
    groups = grouped(table)
    first = [*before, *groups.pop("")]
    return [(None, {"fields": first}), *((group, {"fields": names}) for group, names in groups.items())]


def lead(form: Any, kind: str, subject: str, request: HttpRequest) -> None:
    """Link the fields of this class of forms to the what-if page, for users who may open it."""
    if request.user.has_perm(named("tenants.view_tenantqueue")):
        for limit in form.base_fields.keys() & set(LIMITS[kind]):
            if address := question_address(kind, subject, {limit: ""}):
                field = form.base_fields[limit]
                field.help_text = format_html(
                    '{} <a class="underline" href="{}">What would it do?</a>', field.help_text, address
                )
