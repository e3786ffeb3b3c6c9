"""What a `traceparent` that a job keeps says, with or without OpenTelemetry."""


def trace_of(trace_parent: str | None) -> str | None:
    """The id of its trace; None without one."""
    return trace_parent.split("-")[1] if trace_parent else None
