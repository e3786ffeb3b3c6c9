"""The form of a schedule, of the admin and of the pages. The engine checks it by storing it, and rolls that back."""

import json
from typing import Any

from django import forms
from django.db import transaction
from django.utils import timezone

from jobs.authoring.recurrence import CATCH_UP_HELP, OVERLAP_HELP
from jobs.calls import registry
from jobs.calls.refusals import InvalidRequest
from jobs.engine.schedules import change
from jobs.models import Queue, Schedule
from plumbing.admin_style import AsShown

PREVIEW = "_preview"  # the button that stores nothing
FIELDS = (
    *("name", "source_id", "args", "priority", "every", "cron", "tz", "jitter", "starts_at", "ends_at"),
    *("catch_up", "overlap"),
)
MOMENTS = ("starts_at", "ends_at")  # in the zone of Django's admin: TIME_ZONE
LABELS = {"tz": "Time zone", "source_id": "Object", "args": "Arguments"}
HELP = {
    "source_id": "The id of the tenant's object; empty for a job of the class.",
    "args": 'The arguments by name, as JSON: {"region": "EU"}.',
    "priority": "0 is first, 10 is last. Empty: the priority of the method.",
    "every": "Seconds between two due times. Give either this or cron.",
    "cron": "Five fields, or @daily and the like: 0 6 * * 1-5 is 6:00 on working days.",
    "tz": "The time zone of cron, such as Europe/Berlin.",
    "jitter": "Seconds over which the runs of many tenants are spread.",
    "starts_at": "Empty: now.",
    "ends_at": "Empty: never.",
    "catch_up": CATCH_UP_HELP,
    "overlap": OVERLAP_HELP,
}


class Storable(json.JSONDecoder):
    """Read JSON. Refuse what Python could not read or show again: very deep lists, and half of a surrogate pair."""

    def decode(self, text: str, *args: Any) -> Any:
        try:
            found = super().decode(text, *args)
            json.dumps(found, ensure_ascii=False).encode()
        except (RecursionError, UnicodeEncodeError):
            raise json.JSONDecodeError("cannot be stored", text, 0) from None
        return found


class ScheduleForm(AsShown):
    together = ("every", "cron", "tz")
    job_type = forms.ChoiceField()
    queue = forms.ChoiceField(required=False)

    class Meta:
        model = Schedule
        fields = FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "args" not in self.fields:  # the user may only view it
            return
        known = {str(target) for target in registry.targets()}
        queues = list(Queue.objects.order_by("name").values_list("name", flat=True))
        if self.instance.pk:
            now = f"{self.instance.source_type}.{self.instance.source_method}"
            self.initial.update(job_type=now, queue=self.instance.queue or "")
            known.add(now)
            queues += [queue for queue in [self.instance.queue] if queue and queue not in queues]
        self._offer("job_type", [("", "Choose one"), *((name, name) for name in sorted(known))])
        self._offer("queue", [("", "As the method says"), *((name, name) for name in queues)])
        for name in ("args", "starts_at"):
            self.fields[name].required = False
        for name in ("args", "cron"):
            self.fields[name].widget.attrs["dir"] = "ltr"  # in an Arabic admin 0 6 * * 1-5 would be 1-5 * * 6 0
        self.fields["args"].widget.attrs["rows"] = 3
        self.fields["args"].decoder = Storable  # type: ignore[attr-defined]  # it is a JSONField
        for name, label in LABELS.items():
            self.fields[name].label = label
        for name, text in HELP.items():
            zone = f"{timezone.get_current_timezone_name()}. " if name in MOMENTS else ""
            self.fields[name].help_text = f"{zone}{text}"

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name].choices = choices  # type: ignore[attr-defined]  # it is a ChoiceField

    def is_valid(self) -> bool:
        """Return whether the form can be stored. A preview cannot: the page shows it again."""
        return super().is_valid() and PREVIEW not in self.data

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            try:
                with transaction.atomic():
                    self.store()
                    transaction.set_rollback(True)
            except InvalidRequest as refused:
                field = "job_type" if refused.field in ("source_type", "source_method") else refused.field
                self.add_error(
                    field if field in self.fields else None, f"{refused.message[:1].upper()}{refused.message[1:]}."
                )
        return self.cleaned_data

    def store(self) -> Schedule:
        """Store a new or a changed schedule. Raises InvalidRequest."""
        values = self._values()
        if self.instance.pk:
            return change.change(self.instance, **values)
        return change.add(self.cleaned_data["tenant"], **values)

    def _values(self) -> dict[str, Any]:
        """Return the entered values; for a stored schedule only the changed ones.

        The page shows moments only to the second, and would cut those that the user did not touch.
        """
        values = {name: self.cleaned_data[name] for name in FIELDS}
        source_type, _, method = self.cleaned_data["job_type"].rpartition(".")
        values |= {"source_type": source_type, "source_method": method, "queue": self.cleaned_data["queue"] or None}
        values["args"] = {} if values["args"] is None else values["args"]
        if not self.instance.pk:
            return values
        changed = {*self.changed_data, *(("source_type", "source_method") if "job_type" in self.changed_data else ())}
        return {name: value for name, value in values.items() if name in changed}

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # the stubs do not know it
        if not self.cleaned_data.get("starts_at"):
            self.instance.starts_at = self.initial.get("starts_at") or timezone.now()
