"""The page of workers."""

# The bases have no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from datetime import timedelta

from django.contrib import admin
from django.utils import timezone

from jobs.console.admin.base import ReadOnly
from jobs.models import Worker
from jobs.store import LIVE_BEATS
from tenants.admin_style import ModelAdmin, display


@admin.register(Worker)
class WorkerAdmin(ReadOnly, ModelAdmin):
    list_display = ["name", "state", "pool", "concurrency", "pid", "started", "beat", "gone"]
    list_filter = ["pool", ("gone_at", admin.EmptyFieldListFilter)]
    search_fields = ["name"]
    ordering = ["-started_at"]

    @display(description="started (UTC)", ordering="started_at")
    def started(self, worker: Worker) -> str:
        return f"{worker.started_at:%Y-%m-%d %H:%M:%S}"

    @display(description="last beat (UTC)", ordering="beat_at")
    def beat(self, worker: Worker) -> str:
        return f"{worker.beat_at:%Y-%m-%d %H:%M:%S}"

    @display(description="gone (UTC)", ordering="gone_at", empty_value="")
    def gone(self, worker: Worker) -> str | None:
        return None if worker.gone_at is None else f"{worker.gone_at:%Y-%m-%d %H:%M:%S}"

    @display(description="state", label={"live": "success", "silent": "warning", "gone": ""})
    def state(self, worker: Worker) -> str:
        if worker.gone_at is not None:
            return "gone"
        silence = timezone.now() - worker.beat_at
        return "silent" if silence > timedelta(seconds=LIVE_BEATS * worker.beat_interval) else "live"
