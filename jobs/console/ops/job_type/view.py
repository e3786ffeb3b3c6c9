"""The page of a job type: the ends, run times and errors of its attempts, its tenants and schedules; its pause."""

from contextlib import suppress
from dataclasses import dataclass

from django.db.models import F, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from jobs.calls import registry
from jobs.calls.refusals import UnknownTarget
from jobs.calls.registry import Target
from jobs.console.ops.job_type.errors import dead_of, rows
from jobs.console.ops.job_type.reads import TypeName, TypePast, lately, past
from jobs.console.ops.shared import live, snapshot
from jobs.console.ops.shared.access import action_for, page_for
from jobs.console.ops.shared.answers import done
from jobs.console.ops.shared.ended_chart import Chart
from jobs.console.ops.shared.history import AskedPeriod, ChartPeriod
from jobs.console.ops.shared.marks import marks_of
from jobs.engine.verbs.pause import pause_job_type, resume_job_type
from jobs.models import PausedJobType, Schedule, Total
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.pages.typed import texts
from jobs.reading import listing, schedule_view
from jobs.reading.listing import Sought
from plumbing.names import kind_of, named
from plumbing.text import storable
from tenants.models import Change

USUAL = "24h"
MAX_SCHEDULES = 20
MAX_CHANGES = 10
REGIONS = ("old", "head", "numbers", "ended", "waited", "runs", "errors", "tenants", "schedules", "changes")


@page_for("jobs.view_job")
def show(request: HttpRequest, name: str) -> HttpResponse:
    """Show a job type.

    `range`: the length of the charts, one of RANGES
    `until`: the minute (UTC) at which they end, if that is not now
    """
    job_type = _type(storable(name))
    target = _target(job_type)
    if target is None and not _is_known(job_type):
        raise Http404(f"There is no job type {job_type}.")
    present, period = snapshot.current(), AskedPeriod.asked(request.GET, USUAL)
    may_see_dead = request.user.has_perm(named("jobs.view_deadletter"))
    latest, dead = lately(job_type, period), dead_of(job_type, present.now) if may_see_dead else []
    schedules = schedules_of(job_type) if request.user.has_perm(named("jobs.view_schedule")) else []
    found = past(job_type, period, reverse("jobs_ops:jobs"))
    regions = {
        "snapshot": present,
        "job_type": str(job_type),
        "target": target,
        "paused_at": present.paused.get(str(job_type)),
        "past": ShownPast(period.of_chart, f"type:{job_type} {period.search}", found),
        "upto": listing.newest(),
        "marks": marks_of(request, found.chart if found else None, job_type=str(job_type)),
        "lately": latest,
        "dead": dead,
        "dead_count": sum(group.count for group in dead or ()),
        "errors": rows(latest.errors if latest else [], dead or []),
        "failures_read": sum(one.attempts for one in latest.errors) if latest else 0,
        "schedules": schedules[:MAX_SCHEDULES],
        "more_schedules": len(schedules) > MAX_SCHEDULES,
        "changes": _changes(request, job_type),
    }
    return live.page(request, "job_type", str(job_type), REGIONS, regions, every=live.REFRESH_SECONDS * 5)


@dataclass(frozen=True)
class ShownPast:
    """The past of a job type, as the shared charts show it.

    search: the words of a search for jobs of the type that ended in the period
    ended: None if it could not be read in time
    """

    period: ChartPeriod
    search: str
    ended: TypePast | None

    @property
    def chart(self) -> Chart | None:
        return self.ended.chart if self.ended else None


@dataclass(frozen=True)
class ScheduleRow:
    """A schedule that submits the type: its rule and its state in words."""

    schedule: Schedule
    rule: str
    state: str


@cached(PAST_SECONDS, before=[])
def schedules_of(name: TypeName) -> list[ScheduleRow]:
    """Return the schedules that submit a job type, the next ones first; one more than the page shows."""
    found = Schedule.objects.filter(**name._asdict()).select_related("tenant").defer("args")
    listed = found.order_by(F("next_at").asc(nulls_last=True), "pk")[: MAX_SCHEDULES + 1]
    return [ScheduleRow(one, schedule_view.in_words(one), schedule_view.state_of(one)) for one in listed]


@action_for("jobs.add_pausedjobtype")
def pause(request: HttpRequest) -> HttpResponse:
    """Hold the waiting jobs of a type; its running jobs continue."""
    name = _type(texts(request.POST, ("type",))["type"])
    held = pause_job_type(*name)
    return done(request, f"Paused {name}: {held:,} waiting jobs are held.")


@action_for("jobs.delete_pausedjobtype")
def resume(request: HttpRequest) -> HttpResponse:
    """Release the held jobs of a type. An operator who comes second gets a refusal."""
    name = _type(texts(request.POST, ("type",))["type"])
    released = resume_job_type(*name)
    return done(request, f"Resumed {name}: {released:,} jobs are released.")


def _type(name: str) -> TypeName:
    source_type, _, method = name.rpartition(".")
    return TypeName(source_type, method)


def _target(name: TypeName) -> Target | None:
    """Return the type as the code has it; None if this process does not know its code."""
    with suppress(UnknownTarget):
        return registry.resolve(*name)
    return None


def _is_known(name: TypeName) -> bool:
    """Return whether a type without code has ended attempts, is paused, or has a job among the newest ones."""
    columns = name._asdict()
    if Total.objects.filter(**columns).exists() or PausedJobType.objects.filter(**columns).exists():
        return True
    return bool(listing.page(Sought(None, others=Q(**columns)), 1).jobs)


def _changes(request: HttpRequest, name: TypeName) -> list[Change]:
    """Return who paused and resumed the type."""
    if not request.user.has_perm(named("tenants.view_change")):
        return []
    return list(Change.objects.filter(kind=kind_of(PausedJobType), subject=str(name)).order_by("-at")[:MAX_CHANGES])
