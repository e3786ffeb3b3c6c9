"""A tenant moves to another installation: all of it, once, and only in the right order.

The other installation is this one, after the tenant was deleted. Two real ones: tests/acceptance/test_moves.py.
"""

import json
from collections import Counter
from datetime import timedelta

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from jobs import async_, batch, events, job, store
from jobs.calls.refusals import TenantMoves
from jobs.contrib.testing import drain
from jobs.engine.door.unblock import unblock
from jobs.engine.moving import arrive, leave, tables
from jobs.engine.moving.leave import StillRunning
from jobs.engine.schedules import change
from jobs.engine.schedules.run import run_due
from jobs.engine.upkeep.history import Archive
from jobs.lifecycle import Status
from jobs.models import (
    AnyJob,
    Batch,
    BatchTally,
    FreedSlot,
    Hold,
    Job,
    JobEdge,
    JobEnd,
    JobEvent,
    JobMemory,
    KeptAnswer,
    Schedule,
    TenantBook,
    WebhookEndpoint,
    WebhookMessage,
)
from jobs.store import moving, results
from plumbing import names
from plumbing.names import OURS, PREFIX, named
from tenants import audit, auth
from tenants.models import ApiKey, Change, Member, Tenant, TenantMove, TenantQueue
from tests.callers import browser_of, caller_with_key, superuser
from tests.factories import MemberFactory, QueueFactory, TenantFactory, ThingFactory, make_job
from tests.integration.cli.running import refusal, run
from tests.integration.store.test_history import ended
from tests.sample.gathered import index
from tests.sample.models import Run, Thing
from tests.sql import sql

pytestmark = pytest.mark.django_db
ADDRESS = "https://b.example.com"
HOUR = timedelta(hours=1)


@pytest.fixture
def thing(register, sent) -> Thing:
    register()
    return ThingFactory(tenant=TenantFactory(slug="acme", name="Acme & Co.", queue__num_slots=3))


@pytest.fixture
def stranger(thing) -> Thing:
    other = ThingFactory()
    async_(other.echo)("the stranger's")
    return other


@pytest.fixture
def path(tmp_path):
    return tmp_path / "acme.jsonl.gz"


def export(thing, path) -> None:
    unblock()  # as the next dispatch does, which is a transaction of its own
    leave.close_and_write(thing.tenant, ADDRESS, path, 0, lambda why: None)


def elsewhere(thing) -> Thing:
    """This installation as another one, to which the application has copied its own object."""
    Tenant.objects.get(pk=thing.tenant_id).delete()
    for left in (BatchTally, FreedSlot, Hold, JobEdge, JobEnd, WebhookMessage):  # to the clock's upkeep
        left.objects.all().delete()
    return Thing.objects.create(pk=thing.pk, tenant=Tenant.objects.create(slug="acme", name="Acme & Co."))


def handed_over(thing, path) -> Thing:
    """The thing where its tenant is open now."""
    export(thing, path)
    there = elsewhere(thing)
    receipt = arrive.take_in(path, members=False, missing=False).receipt
    key = TenantMove.objects.get().key
    arrive.open_tenant(there.tenant, leave.words.opening(key, receipt))
    return there


def rows_of(tenant) -> dict[str, Counter[str]]:
    """All that moves of it, without the numbers of this installation."""

    def plain(table, text: str) -> str:
        row = json.loads(text)
        for name in (*table.tenants, "turn", "taken_until"):
            row.pop(name, None)
        return json.dumps(row, sort_keys=True)

    with transaction.atomic():
        return {
            table.name: Counter(plain(table, row) for row in moving.read_rows(table, tenant.pk))
            for table in tables.MOVES
        }


def fill(thing) -> None:
    """Give the tenant a row of each kind that moves."""
    tenant = thing.tenant
    first = async_(thing.echo)("ready")
    async_(thing.echo, after=[first])("after it")
    async_(thing.echo, delay=3600)("later")
    async_(thing.again, sequence="one")()
    async_(thing.again, sequence="one")()
    with batch("nightly", on_success=thing.async_.again.request()) as nightly:
        nightly.add(thing.async_.echo.request(n) for n in range(3))
    ended(Status.DEAD, tenant=tenant, end_time=timezone.now())
    ended(Status.ERROR, tenant=tenant)
    Archive().run()
    events.tell(tenant, "approved:42", {"by": "anna"})
    JobMemory.objects.create(tenant=tenant, source_type="sample.thing", source_method="echo", content={"page": 7})
    call = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
    schedule = change.add(tenant, name="hourly", every=3600.0, **call)
    schedule.runs.create(due=timezone.now() - HOUR, job_id=first)
    endpoint = WebhookEndpoint.objects.create(tenant=tenant, url="https://acme.example.com/hook", salt="ab")
    WebhookMessage.objects.create(endpoint_id=endpoint.pk, event=7, ended_at=timezone.now(), user_key="", data={})
    KeptAnswer.objects.create(tenant=tenant, key="k", digest="d", status=202, body="{}")
    queue_id = QueueFactory(name="mail").pk
    until = timezone.now() + HOUR
    said = {"held_at": timezone.now(), "until": until, "why": "busy", "owner_id": tenant.pk}
    Hold.objects.create(queue_id=queue_id, tenant_id=tenant.pk, job_id=first, attempt=1, **said)
    auth.issue(tenant, "nightly export")
    with audit.acting("anna"):
        audit.note("told", Job, [(first, f"job {first}")], tenant_id=tenant.pk)


def test_each_table_of_the_product_moves_or_stays_with_a_reason():
    listed = [table.name for table in tables.MOVES] + [*tables.IN_THE_HEAD, *tables.STAYS]
    models = [model for app in OURS for model in apps.get_app_config(named(app)).get_models()]
    known = {model._meta.db_table.removeprefix(PREFIX) for model in models} | set(names._TABLES.split("|"))
    assert Counter(listed) == Counter(known)
    assert all({**tables.IN_THE_HEAD, **tables.STAYS}.values())


def test_a_tenant_comes_with_all_that_it_had_and_the_jobs_run_there(thing, stranger, path):
    fill(thing)
    unblock()
    before, others = rows_of(thing.tenant), rows_of(stranger.tenant)
    empty = {name for name, rows in before.items() if not rows}
    assert empty <= {"batch_cancels", "batch_tallies", "webhook_hours", "job_logs"}
    there = handed_over(thing, path)
    assert rows_of(there.tenant) == before
    waiting = Job.objects.filter(tenant=there.tenant, end_time=None).count()
    assert store.backlog(there.tenant_id)[0] == waiting
    assert rows_of(stranger.tenant) == others
    limits = TenantQueue.objects.get(tenant=there.tenant)
    assert (limits.num_slots, limits.paused, limits.moving) == (3, False, "")
    assert drain()
    waiting = Job.objects.filter(tenant=there.tenant, end_time=None).values_list("status", flat=True)
    assert set(waiting) == {Status.SCHEDULED}
    assert Run.objects.filter(job_id__in=AnyJob.objects.filter(tenant_id=there.tenant_id).values("pk")).exists()


def test_the_use_of_budgets_and_the_results_of_a_tenant_come_with_it(thing, path):
    job_id = async_(thing.echo)("kept", times=2)
    drain()
    TenantBook.objects.filter(tenant_id=thing.tenant_id).update(used={"2026-11": {"tokens": 40}})
    export(thing, path)
    TenantBook.objects.filter(tenant_id=thing.tenant_id).delete()
    there = elsewhere(thing)
    cache.clear()
    arrive.take_in(path, members=False, missing=False)
    assert TenantBook.objects.get(tenant_id=there.tenant_id).used == {"2026-11": {"tokens": 40}}
    assert results.load(AnyJob.objects.get(pk=job_id)).value == ["kept", "kept"]


def test_a_tenant_that_leaves_takes_no_jobs_but_those_of_its_running_bodies(thing, stranger, path, monkeypatch):
    found = []

    def echo(self, value=None) -> None:
        if self == thing:
            leave.close(self.tenant, ADDRESS)
            found.append(async_(self.again)())

    monkeypatch.setattr(Thing, "echo", job(dedup=False)(echo))
    async_(thing.echo)()
    first = make_job(thing.tenant, Status.RUNNING)
    waiting = async_(thing.again, delay=60)()
    drain()
    assert Job.objects.get(pk=found[0]).status == Status.CREATED  # it waits, and goes with the tenant
    with pytest.raises(TenantMoves, match=r"moves to https://b\.example\.com: try again"):
        async_(thing.again)()
    async_(stranger.again)()
    with pytest.raises(StillRunning, match=f"1 jobs run: {first.pk}. It stays closed"):
        export(thing, path)
    assert not path.exists()
    assert "stays paused" in refusal("tenants", "slots", "acme", "--resume")
    with pytest.raises(IntegrityError), transaction.atomic():
        TenantQueue.objects.filter(tenant=thing.tenant).update(paused=False)
    Job.objects.filter(pk=first.pk).delete()
    drain()
    export(thing, path)
    assert "open" in run("tenants", "export", "acme", "--abort")
    drain()
    assert Job.objects.get(pk=found[0]).status == Status.SUCCESS
    assert Job.objects.get(pk=waiting).status == Status.SCHEDULED
    assert "does not move" in refusal("tenants", "export", "acme", "--abort")


def test_the_words_of_both_installations_keep_people_from_the_wrong_order(thing, path):
    async_(thing.echo)("once")
    older = path.with_name("older.jsonl")
    export(thing, older)
    export(thing, path)  # again, as after a failure
    assert "left from here" in refusal("tenants", "import", path)
    strange = leave.words.new_receipt(leave.words.new_key())
    assert "for the last file" in refusal("tenants", "moved", "acme", strange)
    late = make_job(thing.tenant)
    key = TenantMove.objects.get().key
    receipt = leave.words.new_receipt(key)
    assert "export and import it again" in refusal("tenants", "moved", "acme", receipt)
    late.delete()
    with audit.acting("anna"):
        audit.note("changed", JobMemory, [(1, "sample.thing echo")], tenant_id=thing.tenant_id)
    assert "was changed here" in refusal("tenants", "moved", "acme", receipt)
    Change.objects.filter(who="anna").delete()
    make_job(thing.tenant, Status.DEAD)
    assert store.backlog(thing.tenant_id)[0] == 2
    assert "given up here for good" in run("tenants", "moved", "acme", receipt)
    assert not Job.objects.filter(tenant=thing.tenant).exists()
    assert store.backlog(thing.tenant_id)[0] == 1  # of the one that the test has deleted itself
    assert "for good" in refusal("tenants", "export", "acme", "--abort")
    assert "of another installation" in refusal("tenants", "moved", "acme", leave.words.new_receipt(key))
    word = leave.words.opening(key, receipt)
    assert word in run("tenants", "moved", "acme", receipt)
    assert "has not come here" in refusal("tenants", "open", "acme", word)

    there = elsewhere(thing)
    first = json.loads(run("tenants", "import", older, "--json"))["receipt"]
    newer = json.loads(run("tenants", "import", path, "--json"))["receipt"]
    assert Job.objects.filter(tenant=there.tenant).count() == 1
    assert json.loads(run("tenants", "import", path, "--json")) | {"rows": {}} == {
        **{"tenant": "acme", "rows": {}, "receipt": newer, "not_members": []}
    }
    assert "is older than" in refusal("tenants", "import", older)
    assert "is not what" in refusal("tenants", "open", "acme", leave.words.opening(key, first))
    drain()
    assert not Run.objects.exists()
    assert "jobs run here" in run("tenants", "open", "acme", leave.words.opening(key, newer))
    assert "jobs run here" in run("tenants", "open", "acme", leave.words.opening(key, newer))
    assert "nothing is to be done" in refusal("tenants", "import", path)
    drain()
    assert Run.objects.count() == 1


def test_a_file_is_refused_with_what_is_missing_or_wrong(thing, stranger, path):
    async_(thing.echo)("once")
    export(thing, path)
    text = leave.file.gzip.decompress(path.read_bytes())
    there = elsewhere(thing)
    refused = {
        b"".join(text.splitlines(keepends=True)[:-1]): "cut off",
        text.replace(b'"once"', b'"twice"'): "checksum does not fit",
        text.replace(b'"version": 1', b'"version": 2'): "version 2",
        b"{}\n": "no file of",
    }
    for content, why in refused.items():
        path.write_bytes(content)
        assert why in refusal("tenants", "import", path)
    path.write_bytes(text)
    Thing.objects.filter(pk=there.pk).update(tenant=stranger.tenant)
    assert f"sample.thing {there.pk} is missing here" in refusal("tenants", "import", path)
    assert not Job.objects.filter(tenant=there.tenant).exists()
    sql("SELECT setval(pg_get_serial_sequence('jobs', 'id'), 1)")
    assert "skip-numbers" in refusal("tenants", "import", path, "--missing-objects", "allow")
    run("jobs", "skip-numbers")
    make_job(stranger.tenant, id=json.loads(text.splitlines()[1])["row"]["id"])
    assert "which is another one here" in refusal("tenants", "import", path, "--missing-objects", "allow")


def test_a_file_waits_for_the_news_of_its_tenant_alone(thing, stranger):
    mine = make_job(thing.tenant, Status.SUCCESS)
    many = Batch.objects.create(pk=10**9, tenant=thing.tenant, name="nightly")
    for news in ({"job_id": mine.pk}, {"batch_id": many.pk}, {"tenant_id": thing.tenant_id, "sequence": "one"}):
        noted = JobEnd.objects.create(xid=0, **news)
        assert moving.under_way_of_tenant(thing.tenant_id) == ([], True)
        assert moving.under_way_of_tenant(stranger.tenant_id) == ([], False)
        noted.delete()
    FreedSlot.objects.create(xid=0, tenant_id=thing.tenant_id, job_id=mine.pk)
    assert moving.under_way_of_tenant(thing.tenant_id) == ([], True)


def test_a_call_or_an_event_that_comes_after_the_file_is_refused(thing, stranger, path):
    call = async_(index, tenant=thing.tenant)
    gathering = call(calls=["a"])
    leave.close(thing.tenant, ADDRESS)
    assert events.tell(thing.tenant, "before")  # it moves with the file
    export(thing, path)
    with pytest.raises(TenantMoves):
        call(calls=["b"])
    with pytest.raises(TenantMoves):
        events.tell(thing.tenant, "after")
    assert events.tell(stranger.tenant, "after")
    assert Job.objects.get(pk=gathering).args["calls"] == ["a"]


def test_a_link_goes_with_its_tenant_and_opens_no_event_of_another(thing, stranger, path):
    link = events.link(thing.tenant, "approved:42", seconds=60)
    browser = Client()
    there = handed_over(thing, path)
    Tenant.objects.filter(pk=there.tenant_id).update(slug="other")
    assert browser.get(link).status_code == 410
    Tenant.objects.filter(pk=there.tenant_id).update(slug="acme")
    assert browser.post(link).status_code == 201
    assert JobEvent.objects.get().tenant_id == there.tenant_id
    export(there, path)
    leave.give_up(there.tenant, leave.words.new_receipt(TenantMove.objects.latest("pk").key))
    moved = browser.post(events.link(there.tenant, "approved:43", seconds=60))
    assert (moved.status_code, moved["Location"].partition("/jobs/")[0]) == (308, ADDRESS)


def test_members_come_only_if_the_accounts_are_the_same_and_they_belong_to_nobody_else(thing, path):
    mine, taken = MemberFactory(tenant=thing.tenant), MemberFactory()
    export(thing, path)
    there = elsewhere(thing)
    head = leave.file.read_head(path)
    assert head["members"] == [mine.user.username]
    assert arrive.take_in(path, members=False, missing=False).strangers == [mine.user.username]
    assert arrive._let_in(there.tenant, [mine.user.username, taken.user.username]) == [taken.user.username]
    assert set(Member.objects.values_list("user", "tenant")) == {
        (mine.user_id, there.tenant_id),
        (taken.user_id, taken.tenant_id),
    }


def test_a_schedule_waits_while_its_tenant_moves(thing):
    call = {"source_type": "sample.thing", "source_method": "again", "source_id": str(thing.pk)}
    schedule = change.add(thing.tenant, name="hourly", every=3600.0, **call)
    due = timezone.now() - timedelta(seconds=5)
    Schedule.objects.update(starts_at=due, next_due=due, next_at=due)
    leave.close(thing.tenant, ADDRESS)
    assert run_due() == 0
    Schedule.objects.update(next_at=due)  # as the code that declares one may do meanwhile
    assert run_due() == 1
    schedule.refresh_from_db()
    assert (schedule.paused, schedule.next_due, schedule.runs.count()) == (False, due, 0)
    leave.take_back(thing.tenant)
    assert run_due() == 1
    assert Job.objects.get().source_method == "again"


def test_requests_of_a_tenant_that_moved_get_the_address_there(thing, path):
    key, mate = caller_with_key(thing.tenant), browser_of(MemberFactory(tenant=thing.tenant).user)
    stranger = caller_with_key(TenantFactory())
    job_id = async_(thing.echo)("once")
    export(thing, path)
    refused = key.post(f"/api/v1/jobs/{job_id}/cancel")
    assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (503, "tenant_moves", "10")
    assert key.get(f"/api/v1/jobs/{job_id}").status_code == 200
    assert mate.get("/jobs/").status_code == 200
    operator = browser_of(superuser())
    assert "export acme --abort" in operator.get("/ops/tenants/acme/").content.decode()
    assert mate.post(f"/jobs/{job_id}/cancel").status_code == 503
    leave.give_up(thing.tenant, leave.words.new_receipt(TenantMove.objects.get().key))
    moved = key.get(f"/api/v1/jobs/{job_id}?wait=1")
    assert (moved.status_code, moved["Location"]) == (308, f"{ADDRESS}/api/v1/jobs/{job_id}?wait=1")
    assert moved.json()["code"] == "tenant_moved"
    assert f'moved to <a href="{ADDRESS}">' in operator.get("/ops/tenants/acme/").content.decode()
    page = mate.get("/jobs/")
    assert (page.status_code, f'href="{ADDRESS}"' in page.content.decode()) == (410, True)
    assert stranger.get("/api/v1/jobs").status_code == 200


def test_a_copy_closes_nothing_and_has_no_secrets(thing, path):
    fill(thing)
    copy = path.with_name("acme.jsonl")
    assert "Wrote" in run("tenants", "export", "acme", copy, "--copy")
    async_(thing.echo)("goes on")
    text = copy.read_text()
    assert ApiKey.objects.get().digest not in text and '"salt"' not in text
    assert {"jobs", "job_history", "schedules"} <= {json.loads(line).get("table") for line in text.splitlines()}
    assert copy.stat().st_mode & 0o077 == 0
    assert "is a copy" in refusal("tenants", "import", copy)
