"""The page of dead letters."""

# The bases have no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.console.admin.actions import discard_jobs, revive_jobs
from jobs.console.admin.base import cut
from jobs.console.admin.filters import ErrorClassFilter, JobTypeFilter
from jobs.console.admin.jobs import JobAdmin
from jobs.models import DeadLetter
from jobs.reading import queries
from tenants.admin_style import display


@admin.register(DeadLetter)
class DeadLetterAdmin(JobAdmin):
    """Dead jobs, latest death first."""

    newest_first = ("-died_at", "-pk")
    newest_looked_at = None
    list_display = ["id", "died", "whose", "call", "line", "error", "attempt"]
    list_filter = [ErrorClassFilter, JobTypeFilter, "queue", "tenant", "died_at"]
    actions = [revive_jobs, discard_jobs]

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeadLetter]:
        return queries.dead_letters()

    @display(description="died (UTC)")
    def died(self, letter: DeadLetter) -> str:
        return f"{letter.died_at:%Y-%m-%d %H:%M:%S}"

    @display(description="error")
    def error(self, letter: DeadLetter) -> str:
        return cut(letter.last_error, 80)
