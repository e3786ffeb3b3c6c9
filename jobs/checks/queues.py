"""The check of JOBS_QUEUES, once the models are loaded."""

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError

from jobs.checks import Fault, check
from jobs.conf import settings
from jobs.models import Queue

FIELDS = {field.name for field in Queue._meta.concrete_fields} - {"id", "name"}


@check("jobs.E023")
def queues_can_be_made() -> Iterator[Fault]:
    """What `migrate` could not store is refused before, by its name."""
    for name, values in settings.JOBS_QUEUES.items():
        for field, why in _faults(name, values):
            where = f'JOBS_QUEUES["{name}"]' + (f'["{field}"]' if field else "")
            yield f"{where}: {why}", f"A queue has the fields {', '.join(sorted(FIELDS))}."


def _faults(name: str, values: Any) -> list[tuple[str, str]]:
    """Fields and what is wrong with each; the field is empty for the name and for the whole."""
    if not isinstance(values, dict):
        return [("", f"{values!r} is no dictionary of fields.")]
    if unknown := sorted(set(values) - FIELDS):
        return [(field, "There is no such field.") for field in unknown]
    try:
        queue = Queue(name=name, **values)
        queue.clean_fields()
        queue.clean()
    except ValidationError as error:
        return [("" if field == "name" else field, " ".join(said)) for field, said in error.message_dict.items()]
    return []
