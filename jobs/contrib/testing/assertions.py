"""Assert which jobs the code under test has submitted: jobs are compared with a call, `report.async_().execute`."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from jobs.authoring.decorator import CALLS, GATHER
from jobs.calls.arguments import as_json
from jobs.calls.compose import as_name, user_key
from jobs.calls.refusals import InvalidRequest
from jobs.calls.sources import key_text
from jobs.engine.submitting.proxy import Call
from jobs.models import AnyJob
from jobs.store import Started

MAX_LISTED = 20  # jobs in a message


def submitted(call: Call[...] | None = None, /, **args: Any) -> list[AnyJob]:
    """Return the jobs that this test can see, the first one first: all, or those of a call with these arguments.

    Jobs with further arguments count, and so do jobs that have run. The call is written as in a submit:
    `report.async_(queue="critical").execute`. The options in it count. A call on the class, as in
    `DataReport.async_.execute`, stands for any of its objects.
    """
    call = call if call is None else checked(call)
    every = list(AnyJob.objects.select_related("tenant", "queue").order_by("id"))
    if call is None:
        return every
    return [job for job in every if calls(job, call) and not differences(job, call, args)]


def checked(call: Any) -> Call[...]:
    """Return the call. Raises TypeError for a method without `async_`, and for the id that a submit returned."""
    if not isinstance(call, Call):
        raise TypeError(f"name the call as report.async_.execute, with its arguments beside it, not {call!r}")
    return call


def assert_submitted(call: Call[...], /, **args: Any) -> list[AnyJob]:
    """Return the jobs as `submitted` does. Raises AssertionError if there are none, with the others in its text."""
    jobs = submitted(call, **args)
    if not jobs:
        raise AssertionError(f"No job {_wanted(call, args)} was submitted. {_instead(call, args)}")
    return jobs


def assert_not_submitted(call: Call[...] | None = None, /, **args: Any) -> None:
    """Raise AssertionError if there is such a job; without a call, if there is any job."""
    jobs = submitted(call, **args)
    if jobs:
        wanted = "" if call is None else f" {_wanted(call, args)}"
        raise AssertionError(f"No job{wanted} should have been submitted. Submitted:\n{_listed(jobs)}")


def _wanted(call: Call[...], args: dict[str, Any]) -> str:
    target, instance = call.target, call.instance
    which = "" if instance is None or target.class_level else f":{instance.pk}"
    options = "".join(f", {name} {value}" for name, value in call.options.items())
    return f"{target.source_type}{which} {target.method} {_text(args)}{options}"


def _instead(call: Call[...], args: dict[str, Any]) -> str:
    every = submitted()
    if not every:
        return "No job was submitted at all."
    near = {job.pk: differences(job, call, args) for job in every if calls(job, call)}
    return f"Submitted:\n{_listed(every, near)}"


def _listed(jobs: list[AnyJob], near: dict[int, list[str]] | None = None) -> str:
    lines = []
    for job in jobs[:MAX_LISTED]:
        which = f"{job.source_type}:{job.source_id}" if job.source_id is not None else job.source_type
        differs = f"  (differs in {', '.join(near[job.pk])})" if near and job.pk in near else ""
        lines.append(
            f"  {job.pk}  {which} {job.source_method} {_text(job.args)}, {job.status}, queue {job.queue.name},"
            f" priority {job.priority}, tenant {job.tenant.jobs_slug}{differs}"
        )
    more = len(jobs) - MAX_LISTED
    return "\n".join([*lines, f"  and {more} more"] if more > 0 else lines)


def _text(args: dict[str, Any]) -> str:
    return json.dumps(args, ensure_ascii=False, default=str)


def calls(job: AnyJob | Started, call: Call[...]) -> bool:
    """Return whether the job calls that method; if the call has an object, on that object."""
    return (job.source_type, job.source_method) == (call.target.source_type, call.target.method) and (
        call.instance is None or call.target.class_level or job.source_id == key_text(call.instance)
    )


def differences(job: AnyJob, call: Call[...], args: Mapping[str, Any]) -> list[str]:
    """Return the names of the given arguments and options in which the job differs from the call."""
    passed = as_json(call.target.signature.complete_json(job.args))
    wanted = {name: _comparable(value) for name, value in args.items()}
    return [
        *(name for name, value in wanted.items() if name not in passed or not _fits(call, name, value, passed[name])),
        *(name for name, value in call.options.items() if not _has(job, name, value)),
    ]


def _fits(call: Call[...], name: str, wanted: Any, passed: Any) -> bool:
    """Return whether the job has this argument. A job that has gathered the calls of others has those, too."""
    if name == CALLS and call.target.spec.identical == GATHER and isinstance(wanted, list) and isinstance(passed, list):
        return all(one in passed for one in wanted)
    return bool(wanted == passed)


def _comparable(value: Any) -> Any:
    """Return the value as JSON. A value that is no JSON, such as `mock.ANY`, itself compares with the stored value."""
    try:
        return as_json(value)
    except InvalidRequest:
        return value


def _has(job: AnyJob, option: str, value: Any) -> bool:
    if option in ("dedup", "identical"):
        return True  # it decides whether the job is stored, and is not stored itself
    if option == "delay":
        delay = value if isinstance(value, timedelta) else timedelta(seconds=value)
        return job.due_at is not None and job.due_at - job.created_at == delay
    if option == "sequence":
        value = as_name(value)
    columns = {"queue": job.queue.name, "user": job.user_key, "tenant": job.tenant, "at": job.due_at}
    stored = columns[option] if option in columns else getattr(job, option)
    return bool(stored == (user_key(value) if option == "user" else value))
