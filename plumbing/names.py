"""The names of our apps, tables and permissions in this project: JOBS_PREFIX, then the name in the code.

By default there is no prefix. A project that has an app `jobs` or `tenants`, or tables named like ours, sets one before
its first `migrate`: with "scheduler_" the apps are `scheduler_jobs` and `scheduler_tenants`, the table of jobs is
`scheduler_jobs`, and its permission `scheduler_jobs.view_job`.
"""

import re

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model

OURS = ("jobs", "tenants")  # the apps


def prefix() -> str:
    """Return the setting JOBS_PREFIX. Raises ImproperlyConfigured if no table's name could begin with it."""
    value: object = getattr(settings, "JOBS_PREFIX", "")
    if isinstance(value, str) and re.fullmatch("([a-z][a-z0-9_]{0,19})?", value):
        return value
    raise ImproperlyConfigured(
        f'JOBS_PREFIX is {value!r}: use up to 20 of a-z, 0-9 and "_", first a letter, such as "scheduler_".'
    )


PREFIX = prefix()

# A list, since migrations name tables that no model has, or has any more. tenant_model.py names the table of tenants.
_TABLES = (
    "all_failed_attempts|all_jobs|arrivals|attempts|attempts_default|batch_cancels|batch_tallies|batches|blocked_loops|calibrations|change_subjects|changes|closed_days|death_notices|door"
    "|failed_attempts|forecasts|freed_slots|full_hours|holds"
    "|job_edges|job_ends|job_events|job_history|job_history_rest|job_logs|job_memories|job_minutes|job_minutes_default|jobs|kept_answers|lanes|left_line|limit_changes"
    "|paused_job_types|pool_changes|pools|prediction_totals|predictions|queue_turns|queues|recorded|repairs|samples|schedule_runs|schedules|servers|slot_hours|slot_peaks|spent_budgets|stacks|tenant_books|tenant_hours"
    "|tenant_hours_default|tenant_moves|tenant_queues|tenant_shares|tenants_apikey|totals|usage_days|webhook_endpoints|webhook_hours|webhook_messages|what_ifs|workers"
)
# In our SQL keywords are upper case and names lower case, so an alias differs from a keyword that follows a table.
_READ_OR_WRITTEN = re.compile(rf"\b(FROM|JOIN|UPDATE|INTO)(\s+)({_TABLES})\b(\s+(?:AS\s+)?[a-z]\w*)?")
_DEFINED = re.compile(
    rf"((?:\b(?:TABLE|VIEW|ON|LIKE|OF|REFERENCES)\s+)|NULL::|pg_get_serial_sequence\(')({_TABLES})\b(?!\.)"
)
_WITH = re.compile(rf"\b({_TABLES})(?: \([^)]*\))? AS (?:MATERIALIZED )?\(")


def named(name: str) -> str:
    """Return the name, in this project, of our app, table, model ("jobs.job") or permission ("jobs.view_job")."""
    return PREFIX + name


def kind_of(model: type[Model]) -> str:
    """Return the name of a model in the audit log, such as "jobs.queue". Our models have no prefix there."""
    app = model._meta.app_label
    ours = {named(name): name for name in OURS}
    return f"{ours.get(app, app)}.{model._meta.model_name}"


def with_our_names(sql: str) -> str:
    """Return the SQL with the names of our tables in this project.

    A table without an alias gets its name in the code as an alias, so that its columns can be named. Where a statement
    reads a name that it defines itself (WITH), that query is meant, and the name stays.
    """
    if not PREFIX:
        return sql
    queries = {match[1] for match in _WITH.finditer(sql)}

    def table(match: re.Match[str]) -> str:
        verb, space, name, alias = match.groups()
        if name in queries and verb in ("FROM", "JOIN"):
            return match[0]
        return f"{verb}{space}{named(name)}{alias or f' AS {name}'}"

    return _DEFINED.sub(lambda match: match[1] + named(match[2]), _READ_OR_WRITTEN.sub(table, sql))
