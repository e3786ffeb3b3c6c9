"""Lists of the admin with fields in them: each says what it is, since the heading of its column is no label."""

# The bases have no types:
# mypy: allow-subclassing-any

from typing import Any

from tenants.admin_style import ModelAdmin


class Labelled(ModelAdmin):
    def get_changelist_formset(self, request: Any, **kwargs: Any) -> Any:
        formset = super().get_changelist_formset(request, **kwargs)
        for field in formset.form.base_fields.values():
            field.widget.attrs["aria-label"] = str(field.label)
        return formset
