"""The fields of limits lead to the question of what other limits would have done."""

# The bases have no types:
# mypy: allow-subclassing-any

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
        if obj is not None and request.user.has_perm(named("tenants.view_tenantqueue")):
            for limit in form.base_fields.keys() & set(LIMITS[self.kind]):
                if address := asked_at(self.kind, self.subject(obj), {limit: ""}):
                    field = form.base_fields[limit]
                    field.help_text = format_html(
                        '{} <a class="underline" href="{}">What would it do?</a>', field.help_text, address
                    )
        return form
