"""Numbers by name in one column of a tenant: {"exports": 3}; for people "exports=3, mails=1"."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.db import models


def as_text(value: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={number}" for name, number in sorted(value.items()))


class _NumbersField(forms.CharField):
    """Their text in a form."""

    def __init__(self, *, numbers: "NumbersByName", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._numbers = numbers

    def to_python(self, value: Any) -> Any:
        return value if isinstance(value, dict) else self._numbers.from_text(value or "")

    def prepare_value(self, value: Any) -> Any:
        return as_text(value) if isinstance(value, dict) else value


class NumbersByName(models.JSONField):
    """A column of them. A CHECK constraint of its table refuses what its validators refuse: the door reads the numbers.

    MOST: the greatest number; the least is 1.
    """

    MOST: ClassVar[int]

    @classmethod
    def from_text(cls, text: str) -> dict[str, int]:
        """Read "exports=3, mails=1"; an empty text has no name. Raises ValidationError."""
        read: dict[str, Any] = {}
        for one in filter(None, map(str.strip, text.split(","))):
            name, _, number = (part.strip() for part in one.partition("="))
            is_short = number.isascii() and number.isdigit() and len(number) <= len(str(cls.MOST))
            read[name] = int(number) if is_short else number
        for check in cls.default_validators:
            check(read)
        return read

    def to_python(self, value: Any) -> Any:
        return self.from_text(value) if isinstance(value, str) else value

    def formfield(self, **kwargs: Any) -> Any:  # that of a JSONField shows JSON
        return models.Field.formfield(self, **{"form_class": _NumbersField, "numbers": self, **kwargs})
