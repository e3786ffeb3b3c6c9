"""The object of a job is found for its tenant alone, whatever its model is like; its statement stays planned."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import pytest
from django.db import connection, connections, transaction
from django.forms.models import model_to_dict

from jobs import async_, submit_many
from jobs.authoring.decorator import Spec
from jobs.calls import sources
from jobs.calls.compose import compose, compose_by_name
from jobs.calls.refusals import InvalidRequest
from jobs.calls.registry import Target
from jobs.models import Job
from jobs.portal.members import names
from jobs.routing import Primary
from tenants.models import Tenant
from tests.factories import TenantFactory
from tests.sample.models import Exhibit, Fresco, Picture, Shown, Thing
from tests.sample.tasks import greet
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


class WritesThings:
    def __init__(self, alias):
        self._alias = alias

    def db_for_write(self, model, **hints):
        return self._alias if model is Thing else None


@pytest.fixture
def second(monkeypatch):
    """Another database of the project: the alias of sessions that have tables of their own."""
    monkeypatch.setitem(connections.databases, "second", connections.databases["default"])
    other = connections["second"] = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("CREATE SCHEMA second; SET search_path TO second, public")
        cursor.execute("CREATE TABLE sample_thing (LIKE public.sample_thing INCLUDING ALL)")
        cursor.execute("CREATE TABLE tenants_tenant (LIKE public.tenants_tenant INCLUDING ALL)")
    yield "second"
    sql("DROP SCHEMA second CASCADE")
    other.close()
    del connections["second"]


def test_an_object_of_another_database_is_refused_as_a_job_would_run_on_another_row(second, settings, subtests):
    thing = Thing.objects.create(tenant=TenantFactory())
    other = Thing(pk=thing.pk, tenant_id=thing.tenant_id)
    other.save(using=second)
    ours = Tenant.objects.using(second).create(pk=thing.tenant_id, name="theirs", slug="theirs")
    other = Thing.objects.using(second).get(pk=thing.pk)
    why = "is in the database second; a job would look in default"
    calls = {
        "source_id": [
            other.async_.echo,
            async_(other.echo),
            lambda: other.async_.echo.many([{}]),
            lambda: submit_many([thing.async_.echo.request(), other.async_.echo.request()]),
        ],
        "tenant": [lambda: Thing.async_(tenant=ours).everything(), lambda: async_(greet, tenant=ours)("a")],
    }
    for field, several in calls.items():
        for call in several:
            with subtests.test(field), pytest.raises(InvalidRequest, match=f"^{field}: {why}"):
                call()
    assert not Job.objects.exists()
    for written in (second, "default"):  # its model is in that database; or it was read from a replica of this one
        settings.DATABASE_ROUTERS = [Primary(), WritesThings(written)]
        assert other.async_.echo.request().source_id == str(other.pk)


def test_no_object_is_an_argument_not_even_of_a_function():
    with pytest.raises(InvalidRequest, match=r"^args\.name: Thing is not JSON"):
        async_(greet, tenant=TenantFactory())(Thing(pk=1))


def test_an_object_that_was_never_saved_is_refused_even_if_it_has_a_key_of_its_own():
    picture = Picture(tenant=TenantFactory())
    with pytest.raises(InvalidRequest, match=r"^source_id: show runs on one object, which must be saved first"):
        compose(target(Picture), picture, {})
    picture.save()
    assert compose(target(Picture), picture, {}).source_id == str(picture.pk)


def test_a_key_is_spelled_as_the_job_will_find_it():
    key = uuid.uuid4()
    picture = Picture.objects.create(pk=key.hex.upper(), tenant=TenantFactory())
    asked = compose(target(Picture), picture, {})
    assert sources.find(target(Picture), asked.source_id, asked.tenant_id).pk == key
    assert asked.source_id == str(key)


@contextmanager
def unseen() -> Iterator[None]:
    """Things are in no schema of this session, as those of a tenant with a schema of its own."""
    sql("ALTER TABLE sample_thing RENAME TO unseen")
    try:
        yield
    finally:
        sql("ALTER TABLE unseen RENAME TO sample_thing")


@pytest.mark.parametrize("around", [nullcontext, transaction.atomic])
def test_an_object_in_another_schema_is_missing_and_the_transaction_goes_on(around):
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
