"""One trace from the caller's request over the submit to every attempt; without an SDK nothing but its id."""

import re
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import StatusCode

from jobs import Cancelled, RetryLater, current_job, job, telemetry
from jobs.calls import registry
from jobs.engine.attempt.execute import execute
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.lifecycle import HandBack
from jobs.models import Job
from jobs.telemetry import traces
from scheduler_project.logs import JsonLines, Lines
from tenants.models import TenantQueue
from tests.factories import ThingFactory
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db(transaction=True)
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, UNSAMPLED = f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00"
OTHER = f"00-{'ab' * 16}-{SPAN}-01"


@pytest.fixture
def spans(monkeypatch):
    """What a process with the SDK would send."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("jobs.telemetry.traces._tracer", provider.get_tracer("test"))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    return exporter.get_finished_spans


@pytest.fixture
def thing(tenant, monkeypatch):
    """Its method `tell` may be called over HTTP, in these tests only."""
    with monkeypatch.context() as patch:
        patch.setattr(Thing.tell, "job_spec", replace(Thing.tell.job_spec, http=True))
        registry.source_types.cache_clear()
        yield ThingFactory(tenant=tenant)
    registry.source_types.cache_clear()


@pytest.fixture
def post(owner, thing):
    def post(method="tell", **headers):
        said = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": method}
        return owner.post("/api/v1/jobs", said, content_type="application/json", headers=headers)

    return post


def attempt(worker):
    """Run the attempt that was claimed, as a process of that worker does."""
    job = Job.objects.get(status="queued")
    execute(job.pk, job.attempt, AttemptHost(ProcessHost(worker)))
    return job


def ids(span):
    return trace.format_trace_id(span.context.trace_id), trace.format_span_id(span.context.span_id)


def parent_of(span):
    return span.parent and trace.format_span_id(span.parent.span_id)


def test_from_the_callers_span_to_the_attempt(post, register, spans, tenant):
    worker = register()
    assert post(traceparent=SAMPLED).status_code == 202
    job = attempt(worker)
    request, wait, run = spans()
    assert [span.name for span in (request, wait, run)] == ["HTTP POST", "wait", "execute sample.thing.tell"]
    assert {ids(span)[0] for span in (request, wait, run)} == {TRACE}
    assert parent_of(request) == SPAN
    assert parent_of(wait) == parent_of(run) == ids(request)[1]
    assert job.trace_parent == f"00-{TRACE}-{ids(request)[1]}-01"
    said = {"scheduler.job": job.pk, "scheduler.attempt": 1, "scheduler.tenant": tenant.pk}
    assert run.attributes.items() >= (said | {"messaging.destination.name": "default"}).items()
    assert wait.start_time == pytest.approx(job.waited_since.timestamp() * 1e9, abs=1e6)


def test_without_an_sdk_the_callers_trace_is_kept_all_the_same(post):
    post(traceparent=SAMPLED)
    assert Job.objects.get().trace_parent == SAMPLED


@pytest.mark.parametrize("header", [UNSAMPLED, "garbage", f"00-{'0' * 32}-{SPAN}-01", SAMPLED.upper() + "x"])
def test_a_header_without_a_sampled_trace_is_not_kept(post, header):
    assert post(traceparent=header).status_code == 202
    assert Job.objects.get().trace_parent is None


def test_a_trace_that_the_sampler_drops_is_not_kept(post, monkeypatch):
    monkeypatch.setattr("jobs.telemetry.traces._tracer", TracerProvider(sampler=ALWAYS_OFF).get_tracer("test"))
    post()
    assert Job.objects.get().trace_parent is None


def test_a_failure_tells_its_class_and_not_its_text(thing, register, spans):
    worker = register()
    thing.async_.refuse("of the owner")
    attempt(worker)
    *_, run = spans()
    assert (run.status.description, run.attributes["error.type"]) == ("ValueError", "ValueError")
    assert "of the owner" not in run.to_json()


@pytest.mark.parametrize("end", ["later", "stop", "hand back"])
def test_an_attempt_that_asks_for_a_later_one_or_stops_is_no_failure(end, register, spans, thing, monkeypatch):
    def ask(self):
        if end == "hand back":
            current_job().checkpoint(1)
        raise {"later": RetryLater(60), "stop": Cancelled("stopped")}[end]

    worker = register()
    monkeypatch.setattr(AttemptHost, "asked_back", lambda _: HandBack.DRAIN)
    monkeypatch.setattr(Thing, "echo", job(ask))
    thing.async_.echo()
    attempt(worker)
    *_, run = spans()
    assert (run.status.status_code, "error.type" in run.attributes) == (StatusCode.UNSET, False)


def test_each_attempt_is_a_child_of_the_submit(thing, register, spans, monkeypatch):
    worker = register()
    with traces.serving("POST", {"traceparent": SAMPLED}) as request:
        thing.async_.refuse()
    attempt(worker)
    Job.objects.update(status="queued", end_time=None, slot=1, attempt=2, ticket=1)
    attempt(worker)
    runs = [span for span in spans() if span.name.startswith("execute")]
    assert [run.attributes["scheduler.attempt"] for run in runs] == [1, 2]
    assert {parent_of(run) for run in runs} == {trace.format_span_id(request.get_span_context().span_id)}


def test_an_attempt_leaves_no_span_behind_for_the_next(thing, register, spans):
    worker = register()
    with traces.serving("POST", {"traceparent": SAMPLED}):
        thing.async_.echo("traced")
    attempt(worker)
    assert traces.parent() is None
    thing.async_.echo("not traced")
    attempt(worker)
    assert ids(spans()[-1])[0] != TRACE
    assert Job.objects.order_by("pk").last().trace_parent is None


def test_a_wait_that_began_by_a_clock_ahead_of_ours_does_not_end_before(spans):
    with traces.attempting(SAMPLED, "x", timezone.now() + timedelta(seconds=30), {}):
        pass
    wait, _ = spans()
    assert wait.start_time <= wait.end_time


@pytest.mark.parametrize("form", [Lines(), JsonLines()])
@pytest.mark.parametrize("parent", [OTHER, None])
def test_the_log_line_of_a_job_that_follows_has_its_own_trace(thing, register, caplog, form, parent):
    caplog.set_level("INFO")
    lines = []
    caplog.handler.addFilter(lambda line: lines.append(form.format(line)) or True)
    worker = register()
    TenantQueue.objects.update(num_slots=1)
    with traces.serving("POST", {"traceparent": SAMPLED}):
        thing.async_.echo.many([{"value": 1}, {"value": 2}])
    Job.objects.filter(status="created").update(trace_parent=parent)
    first = Job.objects.get(status="queued")
    execute(first.pk, first.attempt, AttemptHost(ProcessHost(worker, pool="default")))
    [line] = [line for line in lines if re.search(r' follow |"event": "follow"', line)]
    assert re.findall(r"\b[0-9a-f]{32}\b", line) == ([parent[3:35]] if parent else [])


def test_the_log_lines_of_its_code_have_the_trace(post, register, caplog):
    caplog.set_level("INFO")
    seen = []
    caplog.handler.addFilter(lambda line: seen.append((line.getMessage(), telemetry.known().get("trace"))) or True)
    worker = register()
    post(traceparent=SAMPLED)
    attempt(worker)
    assert ("half-way", TRACE) in seen
