"""What the jobs of a tenant may use in a month (UTC), by unit: {"tokens": 1000000}; for people "tokens=1000000"."""

from django.core.exceptions import ValidationError

from plumbing.units import MOST_UNITS, is_amount, why_not_names
from tenants.by_name import NumbersByName


def check(value: object) -> None:
    """Raise ValidationError unless the value is an object of at most MOST_NAMES units and their budgets."""
    if not isinstance(value, dict) or not all(is_amount(amount, 1) for amount in value.values()):
        raise ValidationError(f"Give each unit a budget from 1 to {MOST_UNITS:,}, such as tokens=1000000.")
    if wrong := why_not_names(value):
        raise ValidationError(f"Budgets: {wrong}.")


class Budgets(NumbersByName):
    """A column of budgets by unit."""

    MOST = MOST_UNITS
    default_validators = [check]
