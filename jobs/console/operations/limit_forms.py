"""Forms of limits check more than each field by itself."""

from django.core.exceptions import ValidationError
from django.forms import ModelForm

from jobs.engine.verbs import limits


class KnownNames(ModelForm):  # type: ignore[type-arg]  # generic for the type checker only
    """A form that gives a tenant slots only in queues that exist, and budgets only of units that job types declare."""

    def clean_queue_slots(self) -> dict[str, int]:
        slots: dict[str, int] = self.cleaned_data["queue_slots"]
        if unknown := limits.unknown_queue(self.instance, slots):
            raise ValidationError(unknown)
        return slots

    def clean_budgets(self) -> dict[str, int]:
        budgets: dict[str, int] = self.cleaned_data["budgets"]
        if unknown := limits.unknown_unit(self.instance, budgets):
            raise ValidationError(unknown)
        return budgets
