"""Traces: spans of requests and of attempts, by OpenTelemetry's interface.

A job keeps the span that submitted it as a W3C `traceparent` in its row. Each attempt is a child of that span, in
whichever process it runs. Spans have ids of jobs and tenants, never names or arguments. Without OpenTelemetry's SDK
they only hand on the id of the caller's trace.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

HEADER = "traceparent"
_w3c = TraceContextTextMapPropagator()
_tracer = trace.get_tracer("scheduler")


def parent() -> str | None:
    """Return the present span as a W3C traceparent; None without one, or if it is not sampled."""
    if not trace.get_current_span().get_span_context().trace_flags.sampled:
        return None
    carrier: dict[str, str] = {}
    _w3c.inject(carrier)
    return carrier.get(HEADER)


def trace_of(trace_parent: str | None) -> str | None:
    """Return the id of the trace that a kept `traceparent` names; None without one."""
    return trace_parent.split("-")[1] if trace_parent else None


def trace_id() -> dict[str, str]:
    """Return the id of the present trace as a fact of log lines; no fact if it is not sampled."""
    present = trace.get_current_span().get_span_context()
    return {"trace": trace.format_trace_id(present.trace_id)} if present.trace_flags.sampled else {}


@contextmanager
def serving(method: str, headers: Mapping[str, str]) -> Iterator[trace.Span]:
    """Open a span of a request, as a child of the caller's. If another library has begun one, use that."""
    present = trace.get_current_span()
    if present.get_span_context().is_valid:
        yield present
        return
    given = _w3c.extract({HEADER: headers.get(HEADER, "")})
    with (
        trace.use_span(trace.get_current_span(given)),
        _tracer.start_as_current_span(f"HTTP {method}", kind=SpanKind.SERVER) as span,
    ):
        yield span


@contextmanager
def attempting(
    trace_parent: str | None, name: str, waited_since: datetime | None, facts: Mapping[str, str | int]
) -> Iterator[trace.Span]:
    """Open the spans of an attempt: its wait, which is over, and its execution, which is the block."""
    if trace_parent is None and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        yield trace.INVALID_SPAN  # no SDK, no trace: OpenTelemetry would spend time at every job without any effect
        return
    with trace.use_span(trace.get_current_span(_w3c.extract({HEADER: trace_parent or ""}))):
        if waited_since is not None:
            # PostgreSQL's clock may be ahead of ours; no wait ends before it began.
            begins = min(int(waited_since.timestamp() * 1e9), time.time_ns())
            wait = _tracer.start_span("wait", start_time=begins, attributes=facts)
            wait.end()
        with _tracer.start_as_current_span(f"execute {name}", kind=SpanKind.CONSUMER, attributes=facts) as span:
            yield span


def failed(span: trace.Span, error: BaseException) -> None:
    """Record the class of an error, not its text, which may quote the tenant's data."""
    span.set_status(Status(StatusCode.ERROR, type(error).__name__))
    span.set_attribute("error.type", type(error).__name__)
