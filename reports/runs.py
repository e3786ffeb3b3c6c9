"""Read the runs of reports: their jobs, as the report pages show them."""

import re
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.timesince import timesince

from jobs.lifecycle import FINAL, Status
from jobs.models import AnyJob
from jobs.reading import queries
from jobs.reading.status_words import WORDS
from reports.models import DataReport
from reports.parameters import Parameter

SOURCE_TYPE = DataReport._meta.label_lower
RECENT = 1_000  # the newest jobs of a tenant that are read: a report that last ran before them shows as not run


@dataclass(frozen=True)
class Line:
    """A report of the list, with the state of its latest run."""

    report: DataReport
    run: AnyJob | None

    @property
    def word(self) -> str:
        return WORDS[Status(self.run.status)] if self.run else "Not run yet"

    @property
    def under_way(self) -> bool:
        return self.run is not None and self.run.status not in FINAL

    @property
    def ago(self) -> str:
        """The time since the run was submitted, in the largest unit."""
        if self.run is None:
            return ""
        minute = 60
        if (timezone.now() - self.run.created_at).total_seconds() < minute:
            return "just now"
        return f"{timesince(self.run.created_at, depth=1)} ago"


@dataclass(frozen=True)
class Field:
    """A parameter as a form shows it."""

    parameter: Parameter
    value: Any


def lines(tenant_id: int) -> list[Line]:
    """Return every report of the tenant, by name."""
    runs = latest(tenant_id)
    reports = DataReport.objects.filter(tenant_id=tenant_id).select_related("source")
    return [Line(report, runs.get(str(report.pk))) for report in reports]


def latest(tenant_id: int) -> dict[str, AnyJob]:
    """Return the newest run of each report of the tenant, by the report's id as text."""
    # Bounded: otherwise the search for a report that never ran would read all jobs of the tenant.
    recent = queries.jobs(tenant_id).order_by("-id")[:RECENT]
    runs = AnyJob.objects.filter(pk__in=recent.values("pk"), source_type=SOURCE_TYPE, source_method="execute")
    return {str(run.source_id): run for run in runs.order_by("source_id", "-id").distinct("source_id")}


def named(tenant_id: int, report_id: int, job_id: str | None) -> AnyJob | None:
    """Return the run with that id, if it is a run of this report of this tenant; else None."""
    if not job_id or not re.fullmatch("[0-9]{1,19}", job_id):  # no job id exceeds 2^63
        return None
    run = queries.job(tenant_id, int(job_id))
    of_report = run and (run.source_type, run.source_id) == (SOURCE_TYPE, str(report_id))
    return run if of_report else None


def fields(parameters: list[Parameter], run: AnyJob | None) -> list[Field]:
    """Return the form's fields, filled with the parameters of the shown run, or else with the defaults."""
    values = (run.args.get("parameters") or {}) if run else {}
    return [Field(parameter, values.get(parameter.name, parameter.default)) for parameter in parameters]
