"""Compare jobs with a call: `report.async_(priority=0).execute`."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Protocol

from jobs.calls.arguments import as_json
from jobs.calls.compose import user_key
from jobs.engine.proxy import Call
from jobs.models import AnyJob


class Source(Protocol):
    """The fields that say which method of which object a job calls."""

    @property
    def source_type(self) -> str: ...
    @property
    def source_id(self) -> str | None: ...
    @property
    def source_method(self) -> str: ...


def calls(job: Source, call: Call[...]) -> bool:
    """Whether the job calls that method; if the call has an object, on that object."""
    return (job.source_type, job.source_method) == (call.target.source_type, call.target.method) and (
        call.instance is None or call.target.class_level or job.source_id == str(call.instance.pk)
    )


def differences(job: AnyJob, call: Call[...], args: Mapping[str, Any]) -> list[str]:
    """The names of the given arguments and options in which the job differs from the call."""
    passed = as_json(call.target.signature.complete(job.args))
    wanted: dict[str, Any] = as_json(dict(args))
    return [
        *(name for name, value in wanted.items() if name not in passed or passed[name] != value),
        *(name for name, value in call.options.items() if not _has(job, name, value)),
    ]


def _has(job: AnyJob, option: str, value: Any) -> bool:
    if option == "dedup":
        return True  # it decides whether the job is stored, and is not kept
    if option == "delay":
        delay = value if isinstance(value, timedelta) else timedelta(seconds=value)
        return job.due_at is not None and job.due_at - job.created_at == delay
    columns = {"queue": job.queue.name, "user": job.user_key, "tenant": job.tenant, "at": job.due_at}
    stored = columns[option] if option in columns else getattr(job, option)
    return bool(stored == (user_key(value) if option == "user" else value))
