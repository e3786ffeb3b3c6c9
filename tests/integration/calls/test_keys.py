"""An object whose key was given in another spelling than the database's is found by its jobs."""

import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from django.db import connection, models
from django.test.utils import isolate_apps

from jobs import Asynchronous, async_, job
from jobs.calls import registry, sources
from jobs.contrib.testing import drain
from jobs.models import Job
from tenants.models import Tenant
from tests.factories import QueueFactory, TenantFactory

pytestmark = pytest.mark.django_db
ONE, TWO, THREE = (uuid.UUID(int=0xA0EEBC999C0B4EF8BB6D6BB9BD380A11 + n) for n in range(3))
MOMENT = datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=2)))
GIVEN = {
    "uuid": (models.UUIDField(primary_key=True), [str(ONE).upper(), str(TWO).upper(), THREE.hex]),
    "integer": (models.IntegerField(primary_key=True), ["007", True, 8.0]),
    "decimal": (models.DecimalField(primary_key=True, max_digits=6, decimal_places=2), [Decimal("1.5"), "2.500", 3]),
    "moment": (models.DateTimeField(primary_key=True), [MOMENT, str(MOMENT + timedelta(hours=1))]),
    "day": (models.DateField(primary_key=True), [datetime(2026, 3, 1, 12, tzinfo=UTC), date(2026, 3, 2), "2026-03-03"]),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_a_job_of_an_object_as_it_was_created_runs_and_a_stranger_finds_nothing(kind, monkeypatch):
    key, (first, *given) = GIVEN[kind]
    with isolate_apps("tests.sample"):

        class Item(Asynchronous, models.Model):
            id = key.clone()
            tenant = models.ForeignKey(Tenant, models.CASCADE, db_constraint=False)

            class Meta:
                app_label = "sample"

            @job
            def show(self) -> str:
                return str(self.pk)

        class Part(Item):
            class Meta:
                app_label = "sample"

    with connection.schema_editor() as editor:
        editor.create_model(Item)
        editor.create_model(Part)
    monkeypatch.setattr(registry, "source_types", lambda **_: {"sample.item": Item, "sample.part": Part})
    QueueFactory()
    tenant, stranger = TenantFactory(), TenantFactory()
    items = [Item.objects.create(id=one, tenant=tenant) for one in given]
    part = Part.objects.create(id=first, tenant=tenant)  # its key is a reference
    for one in (*items, part):
        async_(one.show)()
    attempts = drain()
    assert [attempt.status for attempt in attempts] == ["success"] * (len(given) + 1)
    assert {attempt.value for attempt in attempts[:-1]} == {str(one.pk) for one in Item.objects.exclude(part=part)}
    show = registry.target(Item, "show")
    for stored in Job.objects.filter(source_type="sample.item"):
        assert sources.find(show, stored.source_id, stranger.pk, of_a_job=True) is None
    assert sources.find(show, f" {items[0].pk}", tenant.pk) is None, "nobody was given that spelling"
