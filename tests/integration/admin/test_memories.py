"""The page of memories: an operator reads them, and clears them with the right to."""

import pytest

from jobs.models import JobMemory
from tenants.models import Change
from tests.callers import browser_of, staff
from tests.factories import TenantFactory

pytestmark = pytest.mark.django_db
PAGE = "/admin/jobs/jobmemory/"


def remember(tenant, source_id=""):
    call = {"source_type": "reports.datareport", "source_method": "execute", "source_id": source_id}
    return JobMemory.objects.create(tenant=tenant, content={"cursor": "<b>7</b>"}, **call)


@pytest.fixture
def memories():
    tenant = TenantFactory(name="Acme")
    return [remember(tenant), remember(tenant, "5"), remember(TenantFactory())]


def clear(client, *memories):
    chosen = {"action": "clear", "_selected_action": [memory.pk for memory in memories]}
    return client.post(PAGE, chosen, follow=True).content.decode()


def test_lists_and_shows_them(admin_client, memories):
    page = admin_client.get(PAGE).content.decode()
    assert "Acme" in page
    assert "reports.datareport 5 execute" in page
    shown = admin_client.get(f"{PAGE}{memories[0].pk}/change/").content.decode()
    assert "cursor" in shown
    assert "<b>7</b>" not in shown


def test_clears_those_that_are_chosen_and_notes_it(admin_client, memories):
    first, second, other = memories
    assert "Cleared 2 memories." in clear(admin_client, first, second)
    assert list(JobMemory.objects.all()) == [other]
    assert set(Change.objects.values_list("verb", "subject_id")) == {
        ("cleared", str(first.pk)),
        ("cleared", str(second.pk)),
    }


def test_a_user_who_may_only_look_clears_no_memory(memories):
    looking = browser_of(staff("view_jobmemory"))
    assert looking.get(PAGE).status_code == 200
    clear(looking, *memories)
    assert JobMemory.objects.count() == 3
    allowed = browser_of(staff("view_jobmemory", "delete_jobmemory"))
    assert "Cleared 1 memory." in clear(allowed, memories[0])


def test_no_user_adds_changes_or_deletes_a_memory_by_hand(admin_client, memories):
    url = f"{PAGE}{memories[0].pk}/"
    assert admin_client.get(f"{PAGE}add/").status_code == 403
    assert admin_client.post(f"{url}change/", {"content": "{}"}).status_code == 403
    assert admin_client.post(f"{url}delete/", {"post": "yes"}).status_code == 403
    assert JobMemory.objects.get(pk=memories[0].pk).content == {"cursor": "<b>7</b>"}
