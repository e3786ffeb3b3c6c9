"""GET /api/v1/batches/{id}/events: how far a batch is, as it happens, until all of its jobs have ended."""

import pytest

from jobs import batch
from jobs.engine.door.unblock import unblock
from jobs.engine.verbs.cancel import cancel
from tests.factories import TenantFactory, ThingFactory
from tests.integration.api.listening import do, events, run

pytestmark = pytest.mark.django_db(transaction=True)


def end(job_id, tenant):
    cancel(job_id, tenant_id=tenant.pk)
    unblock()


def test_each_change_is_told_until_all_have_ended_and_goes_on_where_it_was_left(listen):
    tenant, stranger = TenantFactory(), TenantFactory()
    listen.key(tenant), listen.key(stranger)
    thing = ThingFactory(tenant=tenant)
    with batch("nightly") as nightly:
        members = nightly.add(thing.async_(dedup=False).echo.request() for _ in range(2))
    path = f"/api/v1/batches/{nightly.id}/events"

    async def conversation():
        client = listen(path, tenant)
        await client.told("event: progress")
        await do(end, members[0], tenant)
        text = await client.told('"cancelled": 1')
        client.leave()
        seen = events(text)[-1][1]
        again = listen(path, tenant, **{"Last-Event-ID": seen})
        await again.told("retry")
        await do(end, members[1], tenant)
        theirs = listen(path, stranger)
        return text, await again.answer(), (await theirs.answer(), theirs.status)

    first, second, theirs = run(conversation)
    assert [(name, data["share"]) for name, _, data in events(first)] == [("progress", 0.0), ("progress", 0.5)]
    assert [(name, data["complete"]) for name, _, data in events(second)] == [("end", True)]
    assert theirs[1] == 404
