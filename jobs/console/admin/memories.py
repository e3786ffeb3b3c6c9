"""The page of the memories of job types."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.console.admin.base import HugeTableAdmin, cut
from jobs.engine.attempt.memory import clear
from jobs.models import JobMemory
from plumbing.admin_style import display
from plumbing.names import named
from tenants.conf import TENANT_NAME, TENANT_SLUG


@admin.register(JobMemory)
class JobMemoryAdmin(HugeTableAdmin):
    """Only jobs write memories; an operator can clear them."""

    list_display = ["name", "whose", "touched"]
    list_select_related = ["tenant"]
    search_fields = ["source_type", "source_method", "source_id", f"tenant__{TENANT_NAME}", f"tenant__{TENANT_SLUG}"]
    fields = ["tenant", ("source_type", "source_method"), "source_id", "content", "touched"]
    readonly_fields = ["touched"]
    actions = ["clear"]

    @display(description="job type, object")
    def name(self, memory: JobMemory) -> str:
        return cut(str(memory), 80)

    @display(description="tenant")
    def whose(self, memory: JobMemory) -> str:
        return cut(memory.tenant.jobs_name, 30)

    @display(description="last written (UTC)")
    def touched(self, memory: JobMemory) -> str:
        return f"{memory.touched_at:%Y-%m-%d %H:%M:%S}"

    def has_clear_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(named("jobs.delete_jobmemory")))

    @admin.action(description="Clear: the next run begins without it", permissions=["clear"])
    def clear(self, request: HttpRequest, memories: QuerySet[JobMemory]) -> None:
        cleared = sum(map(clear, memories))
        if cleared:
            count = "1 memory" if cleared == 1 else f"{cleared} memories"
            self.message_user(request, f"Cleared {count}.", messages.SUCCESS)
