"""The fields of limits lead to the question of what other limits would have done."""

from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html

from jobs.console.operations.what_if import LIMITS, asked_at
from tenants.names import named


class AsksWhatIf:
    """kind: of which the limits are."""

    kind: str

    def subject(self, obj: Any) -> str:
        """Its name in a question."""
        raise NotImplementedError

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)  # type: ignore[misc]
        if obj is not None:
            lead(form, self.kind, self.subject(obj), request)
        return form


def lead(form: Any, kind: str, subject: str, request: HttpRequest) -> None:
    """From the fields of this class of forms, for those who may ask."""
    if request.user.has_perm(named("tenants.view_tenantqueue")):
        for limit in form.base_fields.keys() & set(LIMITS[kind]):
            if address := asked_at(kind, subject, {limit: ""}):
                field = form.base_fields[limit]
                field.help_text = format_html(
                    '{} <a class="underline" href="{}">What would it do?</a>', field.help_text, address
                )
