"""Send spans if TRACES is set. This needs OpenTelemetry's SDK, which is no dependency: see docs/reference/traces.md."""

import sys
from importlib import import_module
from typing import Any

from django.conf import settings


def send(**_: Any) -> None:
    """Begin to send the spans of this process. Call it after forks: a thread sends them. Raises ImportError.

    It is also a receiver of a Celery signal, hence the ignored arguments.
    """
    if not settings.TRACES:
        return
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": settings.DEPLOYMENT}))
    if settings.TRACES == "console":
        stdout: Any = sys.__stdout__  # a worker sends what goes to sys.stdout to its log
        exporter = ConsoleSpanExporter(out=stdout, formatter=lambda span: span.to_json(indent=None) + "\n")
        provider.add_span_processor(SimpleSpanProcessor(exporter))
    else:
        otlp: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        provider.add_span_processor(BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
