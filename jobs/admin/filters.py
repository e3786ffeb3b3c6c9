from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from jobs.lifecycle import Status
from jobs.models import WITNESSES, Job

WITNESS_OF = {status: column for column, statuses in WITNESSES.items() for status in statuses}


class StatusFilter(SimpleListFilter):
    """By status, and by the column that witnesses it: the partial indexes name the column, not the status."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        return [(status.value, status.value.capitalize()) for status in Status]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:
        try:
            status = Status(self.value() or "")
        except ValueError:
            return queryset
        return queryset.filter(Q(status=status), Q((f"{WITNESS_OF[status]}__isnull", False)))
