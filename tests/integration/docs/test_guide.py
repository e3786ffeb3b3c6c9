"""The guide to jobs runs: each page, block by block, against a database and a worker that is always idle."""

import doctest
import io
import json
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connection
from django.test import Client

from embedded import REPOSITORY
from jobs import signals
from jobs.authoring.decorator import FUNCTIONS
from jobs.calls import registry
from jobs.engine.attempt.execute import execute
from jobs.engine.process.host import AttemptHost, ProcessHost
from tests.factories import QueueFactory, TenantFactory
from tests.pages import Block, blocks

GUIDE = REPOSITORY / "docs/jobs.md"
REQUESTING = [f"docs/{name}.md" for name in ("calls", "recurring", "results", "operations", "first-production-hour")]
Names = dict[str, Any]


@pytest.fixture
def names(transactional_db: None) -> Iterator[Names]:
    """The names that the guide's reader has. The model it declares is in the app `reports`, and gone afterwards."""
    QueueFactory(name="default")
    QueueFactory(name="mail")
    cache.clear()
    receivers = list(signals.job_died.receivers)
    tenant = TenantFactory(queue__num_slots=50)
    with names_of("reports.guide", tenant=tenant) as names:
        yield names
    signals.job_died.receivers = receivers
    signals.job_died.sender_receivers_cache.clear()
    model = apps.all_models["reports"].pop("letter")
    with connection.schema_editor() as editor:
        editor.delete_model(model)
    apps.clear_cache()
    registry.source_types.cache_clear()


@contextmanager
def names_of(name: str, **given: Any) -> Iterator[Names]:
    """The names of a module, as if it were a file: its functions are jobs, which are found there."""
    module = sys.modules[name] = module_from_spec(ModuleSpec(name, None))
    module.__dict__.update(given)
    try:
        yield module.__dict__
    finally:
        del sys.modules[name]
        for named in [named for named in FUNCTIONS if named[0] == name]:
            del FUNCTIONS[named]


def declare(block: Block, names: Names, page: Path = GUIDE) -> None:
    """Execute the block; make the table of the model that it declares."""
    known = set(apps.all_models["reports"])
    exec(compile(block.text, f"{page.name}:{block.line}", "exec"), names)
    for name in set(apps.all_models["reports"]) - known:
        with connection.schema_editor() as editor:
            editor.create_model(apps.all_models["reports"][name])
        registry.source_types.cache_clear()


def converse(block: Block, names: Names, work: Callable[[], object], page: Path = GUIDE) -> None:
    """Type each line of a session and compare what is shown; after each, the worker does its work."""
    for example in doctest.DocTestParser().get_examples(block.text):
        shown, where = io.StringIO(), f"{page.name}:{block.line + example.lineno}"
        raised = None
        with redirect_stdout(shown):
            try:
                exec(compile(example.source, where, "single"), names)
            except Exception as error:
                assert example.exc_msg, f"{where}\n{traceback.format_exc()}"
                raised = traceback.format_exception_only(error)[-1]
            work()
        assert _as_shown(example.exc_msg or "", raised or ""), f"{where} raises {raised!r}"
        good = _as_shown(example.want, shown.getvalue())
        assert good or raised, f"{where} shows {shown.getvalue()!r}, not {example.want!r}"


def _as_shown(want: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


@pytest.mark.parametrize("page", ["calls", "options", "recurring", "results", "checkpoints", "events", "processes"])
def test_a_page_of_the_guide_runs_after_the_example(page: str, names, register, sent) -> None:
    worker = register(concurrency=100)

    def work() -> None:
        while sent:
            message = sent.pop(0)
            execute(message.id, message.attempt, AttemptHost(ProcessHost(worker)))

    for path in (GUIDE, GUIDE.with_name(f"{page}.md")):
        for block in blocks(path, "python", "pycon"):
            if block.language == "python":
                declare(block, names, path)
            else:
                converse(block, names, work, path)


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["README.md", *REQUESTING])
def test_the_requests_are_those_of_the_api(page: str) -> None:
    """Addresses, filters and fields of the curl commands, against the OpenAPI document."""
    document = Client().get("/api/v1/openapi.json").json()
    text = "".join(block.text for block in blocks(REPOSITORY / page, "sh")).replace("\\\n", " ")
    requests = [one for one in re.split(r"^ *(?:JOB=\$\()?curl ", text, flags=re.MULTILINE)[1:] if "/api/" in one]
    assert requests
    for request in requests:
        path, query = re.search(r"(/api/v1/[\w/$-]+)\??([\w=&]*)", request).groups()
        body = re.search(r"-d '([^']*)'", request)
        said = re.search(r"-X ([A-Z]+)", request)
        method = said[1].lower() if said else "post" if body else "get"
        path = re.sub(r"/schedules/\d+", "/schedules/{schedule_id}", path)
        path = re.sub(r"/memories/\d+", "/memories/{memory_id}", path)
        operation = document["paths"][re.sub(r"/(\d+|\$JOB)", "/{job_id}", path)][method]
        known = {parameter["name"] for parameter in operation.get("parameters", [])}
        assert {pair.partition("=")[0] for pair in query.split("&") if pair} <= known
        if body:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert set(json.loads(body[1])) <= set(document["components"]["schemas"][schema]["properties"])
