"""Memories over HTTP: their tenant (with a key) and a team mate (with a session) use them; a stranger sees none."""

from datetime import datetime, timedelta

import pytest

from jobs.models import JobMemory
from jobs.portal.api import memories
from jobs.reading import queries
from tenants.models import Change, Tenant
from tests.sql import sql

pytestmark = pytest.mark.django_db
URL = "/api/v1/memories"


def remember(tenant: Tenant, source_id: str = "", **fields) -> JobMemory:
    call = {"source_type": "reports.datareport", "source_method": "execute", "source_id": source_id}
    return JobMemory.objects.create(tenant=tenant, **call | {"content": {"cursor": 7}} | fields)


@pytest.fixture
def memory(tenant):
    return remember(tenant)


def ids(response) -> list[int]:
    assert response.status_code == 200, response.content
    return [memory["id"] for memory in response.json()["memories"]]


class TestReading:
    def test_a_memory_has_its_content_and_its_end(self, owner, mate, memory, settings):
        settings.JOBS_MEMORY_TTL = 3600
        for caller in (owner, mate):
            told = caller.get(f"{URL}/{memory.pk}").json()
            touched, expires = (datetime.fromisoformat(told.pop(name)) for name in ("touched_at", "expires_at"))
            assert expires - touched == timedelta(hours=1)
            assert told == {
                "id": memory.pk,
                "source_type": "reports.datareport",
                "source_id": None,
                "source_method": "execute",
                "content": {"cursor": 7},
            }

    def test_the_list_leaves_the_content_out(self, owner, memory):
        [told] = owner.get(URL).json()["memories"]
        assert (told["id"], "content" in told) == (memory.pk, False)

    def test_the_list_is_filtered(self, owner, tenant, memory):
        of_object = remember(tenant, "5")
        refresh = remember(tenant, source_method="refresh")
        thing = remember(tenant, source_type="sample.thing")
        assert ids(owner.get(URL)) == [memory.pk, of_object.pk, refresh.pk, thing.pk]
        for query, wanted in {
            "source_type=sample.thing": [thing],
            "source_method=refresh": [refresh],
            "source_id=5": [of_object],
            "source_id=&source_type=reports.datareport": [memory, refresh],
            "source_type=sample.thing&source_method=refresh": [],
        }.items():
            assert ids(owner.get(f"{URL}?{query}")) == [found.pk for found in wanted], query

    def test_the_list_goes_on_with_the_same_filters(self, owner, tenant):
        wanted = [remember(tenant, str(n)).pk for n in range(5)]
        remember(tenant, source_method="refresh")
        found, url = [], f"{URL}?source_method=execute&limit=2"
        while url:
            page = owner.get(url)
            found.append(ids(page))
            url = page.json()["next"]
        assert found == [wanted[:2], wanted[2:4], wanted[4:]]

    @pytest.mark.parametrize("query", ["source=a", "limit=0", "limit=101", "after=0", "after=x", "source_id=%00"])
    def test_a_bad_filter_is_named(self, owner, query):
        response = owner.get(f"{URL}?{query}")
        assert response.status_code == 422
        assert response.json()["errors"][0]["field"] == query.partition("=")[0]

    def test_after_the_largest_number_there_is_nothing(self, owner, memory):
        assert ids(owner.get(f"{URL}?after={10**30}")) == []
        assert owner.get(f"{URL}/{10**30}").status_code == 404


class TestClearing:
    def test_deletes_it_once_and_notes_who_did(self, owner, tenant, memory):
        other = remember(tenant, "5")
        assert owner.delete(f"{URL}/{memory.pk}").status_code == 204
        assert [left.pk for left in JobMemory.objects.all()] == [other.pk]
        change = Change.objects.get()
        assert (change.who, change.verb, change.kind) == (tenant.slug, "cleared", "jobs.jobmemory")
        assert (change.subject_id, change.subject) == (str(memory.pk), "reports.datareport execute")
        assert owner.delete(f"{URL}/{memory.pk}").status_code == 404

    def test_the_second_of_two_deletions_finds_it_gone(self, owner, memory, monkeypatch):
        monkeypatch.setattr(memories, "_memory_of", lambda *_: memory)
        memory_id = memory.pk
        assert [owner.delete(f"{URL}/{memory_id}").status_code for _ in range(2)] == [204, 404]
        assert Change.objects.count() == 1

    def test_needs_the_token_of_the_session(self, mate, memory):
        mate.handler.enforce_csrf_checks = True
        assert mate.delete(f"{URL}/{memory.pk}").status_code == 403
        assert JobMemory.objects.exists()


class TestAStranger:
    def test_sees_none(self, stranger, memory):
        assert ids(stranger.get(URL)) == []
        assert ids(stranger.get(f"{URL}?source_type=reports.datareport")) == []

    def test_is_answered_as_for_one_that_does_not_exist(self, stranger, memory):
        missing = memory.pk + 1000
        for ask in (stranger.get, stranger.delete):
            foreign, none = ask(f"{URL}/{memory.pk}"), ask(f"{URL}/{missing}")
            assert foreign.status_code == none.status_code == 404
            assert foreign.content == none.content
        assert JobMemory.objects.get() == memory

    def test_without_a_key_is_refused(self, client, memory):
        assert client.get(f"{URL}/{memory.pk}").status_code == 401


@pytest.fixture
def impatient(transactional_db):
    """The session waits for locks no longer than that of a web process, and much less."""
    sql("SET lock_timeout = '50ms'")
    yield
    sql("RESET lock_timeout")


def test_a_memory_that_a_job_is_writing_is_answered_with_try_again(impatient, owner, memory, onlooker):
    owner.raise_request_exception = False
    with onlooker.transaction():
        onlooker.execute("SELECT FROM job_memories FOR UPDATE")
        response = owner.delete(f"{URL}/{memory.pk}")
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert JobMemory.objects.exists()


def test_an_index_has_the_tenants_memories_in_the_order_of_the_list(tenant):
    sql("SET LOCAL enable_seqscan = off")
    sql("SET LOCAL enable_sort = off")
    sql("SET LOCAL enable_bitmapscan = off")
    plan = queries.memories(tenant.pk)[:21].explain()
    assert "job_memories_of_tenant" in plan
    assert "Sort" not in plan
