"""`manage.py jobs memory`: what it shows and clears, for people and as JSON, and of whom."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from jobs.models import JobMemory
from tenants.models import Change
from tests.factories import TenantFactory

pytestmark = pytest.mark.django_db


def run(*words: object) -> str:
    out = StringIO()
    call_command("jobs", "memory", *map(str, words), stdout=out)
    return out.getvalue()


def remember(tenant, source_id="", method="execute", source_type="reports.datareport", **content):
    call = {"source_type": source_type, "source_method": method, "source_id": source_id}
    return JobMemory.objects.create(tenant=tenant, content=content, **call)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def acme():
    return TenantFactory(slug="acme")


@pytest.fixture
def memories(acme):
    remember(TenantFactory(slug="stranger"), secret="of the stranger")
    return [remember(acme, cursor=7), remember(acme, "5", rows=3), remember(acme, method="refresh", evil="\x1b[2J")]


def test_shows_those_of_the_tenant_alone(acme, memories):
    shown = run("--tenant", "acme")
    assert [line.split()[0] for line in shown.splitlines()[1:]] == [str(memory.pk) for memory in memories]
    assert '{"cursor": 7}' in shown
    assert "stranger" not in shown
    assert "\x1b" not in shown
    assert len(run("--tenant", "acme", "--type", "reports.datareport").splitlines()) == 4
    assert "There are no such memories." in run("--tenant", "acme", "--type", "sample.thing")


def test_narrows_and_says_that_there_are_more(acme, memories):
    told = json.loads(run("--tenant", "acme", "--type", "reports.datareport.refresh", "--json"))
    assert ([memory["id"] for memory in told["memories"]], told["more"]) == ([memories[2].pk], False)
    assert "There are more than 1: see --type and --limit." in run("--tenant", "acme", "--limit", 1)
    assert json.loads(run("--tenant", "acme", "--limit", 1, "--json"))["more"]


def test_narrows_to_the_functions_of_a_module_however_deep_it_lies(acme):
    for method in ("send", "post"):
        remember(acme, source_type="shop.mail.outbox.tasks", method=method)
    for name, found in (("shop.mail.outbox.tasks", 2), ("shop.mail.outbox.tasks.send", 1), ("shop.mail.outbox", 0)):
        assert len(json.loads(run("--tenant", "acme", "--type", name, "--json"))["memories"]) == found


def test_clears_those_and_notes_it(acme, memories):
    assert run("--tenant", "acme", "--type", "reports.datareport.refresh", "--clear") == "Cleared 1 memory.\n"
    change = Change.objects.get()
    assert (change.verb, change.subject) == ("cleared", "acme: reports.datareport refresh")
    assert json.loads(run("--tenant", "acme", "--clear", "--json")) == {"cleared": 2}
    assert run("--tenant", "acme", "--clear") == "Cleared 0 memories.\n"
    assert Change.objects.count() == 2
    assert JobMemory.objects.get().tenant.slug == "stranger"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "--tenant"),
        (["--tenant", "acne"], "tenant: 'acne' is unknown; known: acme, stranger"),
        (["--tenant", "acme", "--type", "reports"], "must be like reports.datareport or reports.datareport.execute"),
        (["--tenant", "acme", "--clear", "--type", "reports."], "must be like reports.datareport or"),
        (["--tenant", "acme", "--limit", "0"], "must be a whole number from 1 to 1,000"),
    ],
)
def test_refuses_what_it_cannot_tell(memories, words, told):
    with pytest.raises(CommandError) as refused:
        run(*words)
    assert told in str(refused.value)
    assert JobMemory.objects.count() == 4
