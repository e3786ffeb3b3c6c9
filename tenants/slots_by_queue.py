"""The slots that a tenant may hold in single queues: {"exports": 3}; for people "exports=3, mails=1"."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models

from plumbing.bounds import MOST_SLOTS, is_whole


def check(value: object) -> None:
    """Raise ValidationError unless the value is an object of names and slots."""
    if not isinstance(value, dict) or not all(name and is_whole(slots, 1, MOST_SLOTS) for name, slots in value.items()):
        raise ValidationError(f"Give each queue from 1 to {MOST_SLOTS:,} slots, such as exports=3.")


def from_text(text: str) -> dict[str, int]:
    """Read "exports=3, mails=1"; an empty text has no queue. Raises ValidationError."""
    read: dict[str, Any] = {}
    for one in filter(None, map(str.strip, text.split(","))):
        name, _, slots = (part.strip() for part in one.partition("="))
        read[name] = int(slots) if slots.isascii() and slots.isdigit() and len(slots) <= len(str(MOST_SLOTS)) else slots
    check(read)
    return read


def as_text(value: dict[str, int]) -> str:
    return ", ".join(f"{name}={slots}" for name, slots in sorted(value.items()))


class _SlotsField(forms.CharField):
    """Their text in a form."""

    def to_python(self, value: Any) -> Any:
        return value if isinstance(value, dict) else from_text(value or "")

    def prepare_value(self, value: Any) -> Any:
        return as_text(value) if isinstance(value, dict) else value


class SlotsByQueue(models.JSONField):
    """A column of them. A CHECK constraint of its table refuses what `check` refuses: the claim reads the numbers."""

    default_validators = [check]

    def to_python(self, value: Any) -> Any:
        return from_text(value) if isinstance(value, str) else value

    def formfield(self, **kwargs: Any) -> Any:  # that of a JSONField shows JSON
        return models.Field.formfield(self, **{"form_class": _SlotsField, **kwargs})
