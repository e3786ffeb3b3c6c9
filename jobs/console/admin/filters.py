"""Filters beside the lists of jobs, whose choices cost no scan."""

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest

from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, DeadLetter
from jobs.reading import queries

HELD = "held"
LATEST = 1000  # the most dead letters that are read to build the choices


class StatusFilter(SimpleListFilter):
    """Filter by status, or by held."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        return [*((status.value, status.value.capitalize()) for status in Status), (HELD, "Held (job type paused)")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == HELD:
            return queryset.filter(due_at=HELD_UNTIL)
        try:
            status = Status(self.value() or "")
        except ValueError:
            return queryset
        return queryset.filter(queries.of_status(status))


class JobTypeFilter(SimpleListFilter):
    """Filter by the job types of recent deaths, including types that were removed from the code."""

    title = "job type"
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        died = queries.dead_letters().values_list("source_type", "source_method")[:LATEST]
        return [(f"{source_type}.{method}", f"{source_type} {method}") for source_type, method in sorted(set(died))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> QuerySet[DeadLetter]:
        source_type, _, method = (self.value() or "").rpartition(".")
        return queryset.filter(source_type=source_type, source_method=method) if method else queryset


class ErrorClassFilter(SimpleListFilter):
    """Filter by the error classes of recent deaths."""

    title = "error class"
    parameter_name = "error"

    def lookups(self, request: HttpRequest, model_admin: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        letters: QuerySet[Any] = queries.dead_letters()  # error_class is an annotation, not a field
        classes = set(letters.values_list("error_class", flat=True)[:LATEST])
        return [(name, name) for name in sorted(filter(None, classes))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(error_class=self.value()) if self.value() else queryset
