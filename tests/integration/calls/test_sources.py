"""The object of a job is found for its tenant alone, whatever its model is like; its statement stays planned."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
from django.db import connection, transaction
from django.forms.models import model_to_dict

from jobs.authoring.decorator import Spec
from jobs.calls import sources
from jobs.calls.compose import compose_by_name
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target
from jobs.models import Job
from jobs.portal.members import names
from tests.factories import TenantFactory
from tests.sample.models import Exhibit, Fresco, Picture, Shown, Thing
from tests.sql import sql

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = [Thing, Picture, Fresco, Exhibit]


def target(model):
    return Target(model, "show", print, Spec(), class_level=False)


@pytest.fixture
def elsewhere():
    """Another session: in its own, psycopg would forget the plans."""
    other = connection.copy()
    with other.cursor() as cursor:
        yield cursor.execute
    other.close()


@pytest.mark.parametrize("model", MODELS)
def test_its_owner_finds_it_as_it_was_stored_and_a_stranger_finds_nothing(model):
    owner, stranger = TenantFactory(), TenantFactory()
    stored = model.objects.get(pk=model.objects.create(tenant=owner).pk)
    model.objects.create(tenant=stranger)
    for _ in range(4):  # planned anew, and from the plan that was kept
        found = sources.find(target(model), str(stored.pk), owner.pk)
        assert model_to_dict(found) == model_to_dict(stored)
        assert not found._state.adding
        assert sources.find(target(model), str(stored.pk), stranger.pk) is None


@pytest.mark.parametrize("model", MODELS)
def test_an_id_that_is_none_finds_nothing(model):
    tenant = TenantFactory()
    model.objects.create(tenant=tenant)
    for wrong in ("", "x", "-1", "1e3", str(2**70), "5e188837-e6a4-4754-97ed-0160ee230bcd", None, "0x1", "a" * 500):
        assert sources.find(target(model), wrong, tenant.pk) is None


def test_another_spelling_of_its_id_is_not_its_id():
    thing = Thing.objects.create(tenant=TenantFactory())
    for spelling in (f" {thing.pk}", f"0{thing.pk}", f"+{thing.pk}"):
        assert sources.find(target(Thing), spelling, thing.tenant_id) is None


def test_one_statement_finds_it_and_its_plan_is_kept(django_assert_num_queries):
    thing = Thing.objects.create(tenant=TenantFactory())
    for _ in range(5):
        with django_assert_num_queries(1):
            sources.find(target(Thing), str(thing.pk), thing.tenant_id)
    plans = "SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%%FROM \"sample_thing\"%%'"
    assert len(sql(plans)) == 1


def test_a_migration_that_changes_a_column_while_its_plan_is_kept_harms_nothing(elsewhere):
    picture = Picture.objects.create(tenant=TenantFactory())

    def found():
        return sources.find(target(Picture), str(picture.pk), picture.tenant_id)

    for within in (nullcontext, transaction.atomic):
        for _ in range(4):
            assert found() == picture
        try:
            elsewhere('ALTER TABLE sample_picture ALTER "the title" TYPE text')
            with within():
                assert found() == picture
                assert Picture.objects.exists()
        finally:
            elsewhere('ALTER TABLE sample_picture ALTER "the title" TYPE varchar(20)')


def test_a_manager_of_the_models_own_is_asked_each_time(monkeypatch):
    exhibit = Exhibit.objects.create(tenant=TenantFactory())
    assert sources.find(target(Exhibit), str(exhibit.pk), exhibit.tenant_id) == exhibit
    monkeypatch.setattr(Shown, "hidden", {exhibit.pk})
    assert sources.find(target(Exhibit), str(exhibit.pk), exhibit.tenant_id) is None


@contextmanager
def unseen() -> Iterator[None]:
    """Things are in no schema of this session, as those of a tenant with a schema of its own."""
    sql("ALTER TABLE sample_thing RENAME TO unseen")
    try:
        yield
    finally:
        sql("ALTER TABLE unseen RENAME TO sample_thing")


@pytest.mark.parametrize("around", [nullcontext, transaction.atomic])
def test_what_is_in_no_schema_of_the_session_is_not_there_and_a_transaction_goes_on(around):
    thing = Thing.objects.create(tenant=TenantFactory())
    job = Job.objects.get(pk=thing.async_.echo())
    call = {"source_type": "sample.thing", "source_id": thing.pk, "source_method": "echo", "args": {}}
    everything = {("sample.thing", None): "all things"}
    assert names.sources([job], thing.tenant_id) == everything | {("sample.thing", str(thing.pk)): str(thing)}
    with around(), unseen():
        assert names.sources([job], thing.tenant_id) == everything
        with pytest.raises(InvalidRequest, match="there is no sample"):
            compose_by_name(thing.tenant, **call)
        find = sources.find_all([(Thing, thing.pk, thing.tenant_id)])
        assert find(target(Thing), thing.pk, thing.tenant_id) is None
        assert Job.objects.exists()
