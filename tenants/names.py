"""The names of our apps, tables and permissions in this project: JOBS_PREFIX, then the name that the code says.

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
    """The project's setting. Raises ImproperlyConfigured if no table could begin like that."""
    said: object = getattr(settings, "JOBS_PREFIX", "")
    if isinstance(said, str) and re.fullmatch("([a-z][a-z0-9_]{0,19})?", said):
        return said
    raise ImproperlyConfigured(
        f'JOBS_PREFIX is {said!r}: use up to 20 of a-z, 0-9 and "_", first a letter, such as "scheduler_".'
    )


PREFIX = prefix()

# A list, since migrations name tables that no model has (any more). That of the tenants is not one: tenant_model.py.
_TABLES = (
    "all_failed_attempts|all_jobs|arrivals|attempts|attempts_default|batch_cancels|batch_tallies|batches|calibrations|change_subjects|changes|closed_days|death_notices|door"
    "|failed_attempts|forecasts|freed_slots|full_hours"
    "|job_edges|job_ends|job_history|job_history_rest|job_logs|job_memories|job_minutes|job_minutes_default|jobs|kept_answers|lanes|left_line|limit_changes|may_run"
    "|paused_job_types|pool_changes|prediction_totals|predictions|queue_turns|queues|recorded|repairs|samples|schedule_runs|schedules|servers|slot_peaks|tenant_books|tenant_hours"
    "|tenant_hours_default|tenant_queues|tenant_shares|tenants_apikey|totals|usage_days|webhook_endpoints|webhook_events|webhook_hours|webhook_messages|what_ifs|workers"
)
# Keywords are upper case and names lower case in our SQL, so an alias can be told from what else may follow a table.
_READ_OR_WRITTEN = re.compile(rf"\b(FROM|JOIN|UPDATE|INTO)(\s+)({_TABLES})\b(\s+(?:AS\s+)?[a-z]\w*)?")
_DEFINED = re.compile(rf"((?:\b(?:TABLE|VIEW|ON|LIKE|OF)\s+)|NULL::|pg_get_serial_sequence\(')({_TABLES})\b(?!\.)")
_WITH = re.compile(rf"\b({_TABLES})(?: \([^)]*\))? AS (?:MATERIALIZED )?\(")


def named(name: str) -> str:
    """The name here of an app, a table, a model ("jobs.job") or a permission ("jobs.view_job") of ours."""
    return PREFIX + name


def kind_of(model: type[Model]) -> str:
    """The name of a model in the audit log, "jobs.queue": that of a model of ours has no prefix."""
    app = model._meta.app_label
    ours = {named(name): name for name in OURS}
    return f"{ours.get(app, app)}.{model._meta.model_name}"


def with_our_names(sql: str) -> str:
    """The SQL with the names here of our tables. One without an alias gets its former name, for the columns.

    A table that has the name of a query of the same statement (WITH) is that query where it is read.
    """
    if not PREFIX:
        return sql
    queries = {found[1] for found in _WITH.finditer(sql)}

    def table(found: re.Match[str]) -> str:
        verb, space, name, alias = found.groups()
        if name in queries and verb in ("FROM", "JOIN"):
            return found[0]
        return f"{verb}{space}{named(name)}{alias or f' AS {name}'}"

    return _DEFINED.sub(lambda found: found[1] + named(found[2]), _READ_OR_WRITTEN.sub(table, sql))
