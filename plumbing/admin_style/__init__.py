"""The base of all admin pages: django-unfold's classes if the project has installed it, else Django's own.

`import_module` loads them, so they are untyped for the type checker, as unfold's classes are.
"""

from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import Any

from django.apps import apps
from django.forms import ModelForm
from django.http import HttpRequest

WITH_UNFOLD = apps.is_installed("unfold")

_style = import_module(f"plumbing.admin_style.{'unfold' if WITH_UNFOLD else 'plain'}")
ModelAdmin: Any = _style.ModelAdmin
StackedInline: Any = _style.StackedInline
TabularInline: Any = _style.TabularInline
Untitled: Any = _style.Untitled
ChangeList: Any = _style.ChangeList
UncountedPaginator: Any = _style.UncountedPaginator
Select: Any = _style.Select
display: Any = _style.display


class Searched:
    """A page whose form offers a search for these fields, if the admin of their model can search."""

    searched: tuple[str, ...] = ("tenant",)

    def get_autocomplete_fields(self, request: HttpRequest) -> list[str]:
        page: Any = self  # a ModelAdmin
        models = {name: page.model._meta.get_field(name).related_model for name in self.searched}
        registered = page.admin_site._registry
        return [name for name, model in models.items() if model in registered and registered[model].search_fields]


class Kept(ModelAdmin):
    """A page of rows that cannot be deleted here. Pause a tenant or a queue instead.

    With a tenant its jobs would disappear, even running ones. For a queue, Django would count its jobs: millions.
    """

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AsShown(ModelForm):  # type: ignore[type-arg]  # generic for the type checker only
    """A form that saves only changed fields. The others keep the row's values, which may be newer than the page.

    together: fields that mean one thing. If one of them is changed, all are saved as they were shown.
    """

    together: Collection[str] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance._state.adding:
            return
        # A program posts no initial values: then every value that differs from the row is a change.
        as_shown = not self.is_bound or any(name.startswith(self.add_initial_prefix("")) for name in self.data)
        for field in self.fields.values():
            field.show_hidden_initial = as_shown and not field.disabled  # a disabled one may be a password's digest
        absent = {self.add_initial_prefix(name) for name in self.fields} - self.data.keys()
        if self.is_bound and absent:
            # A moment has two inputs, and no value of this name: Django would repeat what was typed as initial value.
            self.data: Any = self.data.copy()  # a QueryDict
            for name in absent:
                self.data.setlistdefault(name)

    @cached_property
    def changed_data(self) -> list[str]:
        changed: list[str] = super().changed_data
        more = () if set(changed).isdisjoint(self.together) else self.together
        return [name for name in self.fields if name in changed or name in more]

    def _clean_fields(self) -> None:
        """Clean the changed fields. The others are disabled meanwhile: Django takes their values from the row."""
        enabled = {name: field for name, field in self.fields.items() if not field.disabled}
        for name, field in enabled.items():
            field.disabled = not self.instance._state.adding and name not in self.changed_data
        super()._clean_fields()  # type: ignore[misc]  # the stubs do not know it
        for name, field in enabled.items():
            if field.disabled and isinstance(at := self.initial.get(name), datetime):
                self.errors.pop(name, None)  # Django refuses an hour that a clock shows twice, even the row's
                self.cleaned_data[name] = at
            field.disabled = False


class OnlyChanged(ModelAdmin):
    """A page that writes only the columns that its user changed. Other changes stay, such as a revocation meanwhile."""

    form: Any = AsShown

    def get_changelist_form(self, request: HttpRequest, **kwargs: Any) -> Any:
        return super().get_changelist_form(request, form=AsShown, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        columns = {field.name for field in obj._meta.concrete_fields}
        obj.save(update_fields=columns.intersection(form.changed_data) if change else None)


class Labelled(ModelAdmin):
    """A list with fields in its rows. Each field gets a label, since the heading of its column is none."""

    def get_changelist_formset(self, request: Any, **kwargs: Any) -> Any:
        formset = super().get_changelist_formset(request, **kwargs)
        for field in formset.form.base_fields.values():
            field.widget.attrs["aria-label"] = str(field.label)
        return formset
