"""Traces: spans of requests and of attempts, if OpenTelemetry is installed.

A job keeps the span that submitted it as a W3C `traceparent` in its row; each attempt is a child of that, in whichever
process it runs. Spans have ids of jobs and tenants, never names or arguments.
"""

try:
    from jobs.telemetry.traces.spans import attempting, failed, parent, serving, trace_id
except ImportError:  # OpenTelemetry is an extra
    from jobs.telemetry.traces.none import attempting, failed, parent, serving, trace_id  # type: ignore[assignment]

__all__ = ["attempting", "failed", "parent", "serving", "trace_id", "trace_of"]


def trace_of(trace_parent: str | None) -> str | None:
    """The id of the trace that a kept `traceparent` names; None without one."""
    return trace_parent.split("-")[1] if trace_parent else None
