"""The slots that a tenant may hold in single queues: {"exports": 3}; for people "exports=3, mails=1"."""

from django.core.exceptions import ValidationError

from plumbing.bounds import MOST_SLOTS, is_whole
from tenants.by_name import NumbersByName


def check(value: object) -> None:
    """Raise ValidationError unless the value is an object of names and slots."""
    if not isinstance(value, dict) or not all(name and is_whole(slots, 1, MOST_SLOTS) for name, slots in value.items()):
        raise ValidationError(f"Give each queue from 1 to {MOST_SLOTS:,} slots, such as exports=3.")


class SlotsByQueue(NumbersByName):
    """A column of slots by the name of the queue."""

    MOST = MOST_SLOTS
    default_validators = [check]
