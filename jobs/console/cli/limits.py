"""Change a limit from the command line. A refusal names the field."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from jobs.engine import limits
from jobs.models import Queue
from tenants.models import TenantQueue


def change(row: Queue | TenantQueue, values: Mapping[str, Any]) -> None:
    """Raises CommandError."""
    try:
        limits.change(row, values)
    except ValidationError as error:
        told = (f"{field}: {' '.join(messages)}" for field, messages in error.message_dict.items())
        raise CommandError("; ".join(told)) from None
