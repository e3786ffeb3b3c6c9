"""The page of pools: the kind of each, and the seats of its processes."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest

from jobs.console.operations.pools import left_to_do
from jobs.engine.verbs import pools as verbs
from jobs.models import Pool
from jobs.reading.pools import pools
from plumbing.admin_style import AsShown, Kept, Labelled, OnlyChanged, display


class PoolForm(AsShown):
    together = ("kind", "seats", "threads")

    class Meta:
        labels = {"seats": "Seats of a process"}
        help_texts = {
            "name": "As the queues name it. A pool that is not listed is ordinary.",
            "kind": "Ordinary: a process runs one attempt. Light: many seats in each, for jobs that are async def.",
            "seats": "The attempts that each process runs at once. 1 in an ordinary pool.",
            "threads": "In a light pool: bodies that are not async def run in threads. They should only wait.",
        }


@admin.register(Pool)
class PoolAdmin(Labelled, OnlyChanged, Kept):
    """A saved change takes effect when the pool's workers are restarted. To undo it, make the pool ordinary."""

    form = PoolForm
    list_display = ["name", "kind", "of_a_process", "threads", "queues", "workers"]
    fields = ["name", "kind", "seats", "threads"]
    search_fields = ["name"]

    def get_readonly_fields(self, request: HttpRequest, obj: Pool | None = None) -> list[str]:
        return ["name"] if obj else []  # queues and workers refer to it

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"kind": Pool.Kind.ORDINARY, "seats": 1} | super().get_changeform_initial_data(request)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Add what is there now to each row of this page of the list."""
        found = super().get_changelist_instance(request)
        there = pools()
        for row in found.result_list:
            row.view = there.get(row.pk)
        return found

    def save_model(self, request: HttpRequest, obj: Pool, form: Any, change: bool) -> None:
        verbs.store(obj, form.changed_data if change else None)
        for sentence in left_to_do(pools()[obj.name]):
            messages.warning(request, sentence)

    @display(description="seats of a process", ordering="seats")
    def of_a_process(self, row: Pool) -> int:
        return row.seats

    @display(description="queues", empty_value="")
    def queues(self, row: Any) -> str | None:
        return ", ".join(row.view.queues) if row.view else None

    @display(description="live workers")
    def workers(self, row: Any) -> str:
        if not row.view or not row.view.workers:
            return "0"
        told = f"{len(row.view.workers)}, {row.view.in_use:,} of {row.view.capacity:,} seats in use"
        return f"{told}; to be restarted: {len(row.view.outdated)}" if row.view.outdated else told
