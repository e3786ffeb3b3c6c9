"""The limits that operators change: one table, from which forms, schemas and options are made.

Each is a field of `TenantQueue` or `Queue`. The model defines its type, its bounds and its help text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.validators import BaseValidator, MaxValueValidator, MinValueValidator
from django.db import models

from jobs.models import Queue
from tenants.budgets import Budgets
from tenants.models import TenantQueue
from tenants.slots_by_queue import SlotsByQueue

Kind = Enum("Kind", "WHOLE SECONDS SWITCH NAME NAMES BY_NAME")
KINDS: dict[type[models.Field], Kind] = {  # type: ignore[type-arg]
    models.PositiveIntegerField: Kind.WHOLE,
    models.PositiveSmallIntegerField: Kind.WHOLE,
    models.FloatField: Kind.SECONDS,
    models.BooleanField: Kind.SWITCH,
    models.SlugField: Kind.NAME,
    ArrayField: Kind.NAMES,
    SlotsByQueue: Kind.BY_NAME,
    Budgets: Kind.BY_NAME,
}


@dataclass(frozen=True)
class Limit:
    """A limit that operators change.

    name: the name of its field
    group: the heading of its part of a form; "" for the first part
    optional: whether it may be None
    least, most: the bounds of a number; None: those of its column
    unset: what None means, in words; "" if the help text does not say it
    """

    name: str
    group: str
    kind: Kind
    optional: bool
    least: float | None
    most: float | None
    help: str
    unset: str

    def full_help(self, null: str) -> str:
        """Return the help text, and what no value means.

        null: how the interface writes no value, such as Null
        """
        return f"{self.help} {null}: {self.unset}" if self.unset else self.help


def _limits(model: type[models.Model], groups: Mapping[str, Iterable[str]]) -> tuple[Limit, ...]:
    return tuple(_limit(model._meta.get_field(name), group) for group, names in groups.items() for name in names)


def _limit(field: Any, group: str) -> Limit:
    minimum, maximum = _bound(field, MinValueValidator), _bound(field, MaxValueValidator)
    help, _, unset = str(field.help_text).partition(" Empty: ")
    return Limit(field.name, group, KINDS[type(field)], field.null, minimum, maximum, help, unset)


def _bound(field: Any, kind: type[BaseValidator]) -> float | None:
    # `validators` would include those of the column, and ask for a connection.
    return next((validator.limit_value for validator in field._validators if isinstance(validator, kind)), None)


RATE = ("rate_limit", "rate_window")  # set together, or not at all
OF_TENANT = _limits(
    TenantQueue,
    {
        "Share": ("num_slots", "burst_slots", "user_slots", "queue_slots", "weight"),
        "Rate limit": RATE,
        "Other limits": ("budgets", "max_waiting", "history_days", "queues"),
        "": ("paused",),
    },
)
OF_QUEUE = _limits(
    Queue,
    {
        "Share": ("weight", "pool", "concurrency", "tenant_slots"),
        "Rate limit": RATE,
        "Target": ("wait_target",),
        "Defaults for jobs": ("default_timeout", "default_max_retries", "default_backoff", "backoff_grows"),
        "": ("paused",),
    },
)


def grouped(table: Iterable[Limit]) -> dict[str, list[str]]:
    """Return the names of the limits by group, the first part of a form first."""
    groups: dict[str, list[str]] = {"": []}
    for limit in table:
        groups.setdefault(limit.group, []).append(limit.name)
    return groups
