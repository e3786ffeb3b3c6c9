"""The objects of many jobs are found with one query for each model, each for its tenant alone."""

import pytest
from django.db import OperationalError
from django.forms.models import model_to_dict

from jobs.authoring.decorator import Spec
from jobs.calls import queries, together
from jobs.calls.registry import Target
from jobs.calls.together import makers_of
from tests.factories import TenantFactory
from tests.sample.models import Exhibit, Fresco, Picture, Thing

pytestmark = pytest.mark.django_db(transaction=True)


def target(model):
    return Target(model, "show", print, Spec(), class_level=False)


def made(calls):
    return {place: make() for place, make in makers_of(calls).items()}


def test_each_call_finds_the_object_of_its_own_tenant_and_none_of_a_stranger(django_assert_num_queries):
    owner, stranger = TenantFactory(), TenantFactory()
    thing, picture = Thing.objects.create(tenant=owner), Picture.objects.create(tenant=stranger)
    calls = [
        (target(Thing), str(thing.pk), owner.pk),
        (target(Thing), str(thing.pk), stranger.pk),
        (target(Picture), str(picture.pk), owner.pk),
        (target(Picture), str(picture.pk), stranger.pk),
    ]
    with django_assert_num_queries(2):
        found = made(calls)
    assert found == {0: thing, 3: picture}
    assert model_to_dict(found[3]) == model_to_dict(Picture.objects.get())
    assert not found[3]._state.adding


def test_two_jobs_of_the_same_object_do_not_share_it():
    picture = Picture.objects.create(tenant=TenantFactory(), tags=["blue"])
    first, second = made([(target(Picture), str(picture.pk), picture.tenant_id)] * 2).values()
    first.tags.append("sold")
    first.title = "gone"
    assert (second.tags, second.title) == (["blue"], "100 % blue")


def test_an_object_that_needs_code_of_the_project_is_left_to_the_single_look(monkeypatch):
    owner = TenantFactory()
    exhibit, thing = Exhibit.objects.create(tenant=owner), Thing.objects.create(tenant=owner)
    assert made([(target(Exhibit), str(exhibit.pk), owner.pk)]) == {}
    monkeypatch.setattr(together.router, "routers", [object()])
    assert made([(target(Thing), str(thing.pk), owner.pk)]) == {}


def test_a_key_that_is_a_reference_is_left_to_the_single_look():
    fresco = Fresco.objects.create(tenant=TenantFactory())
    assert made([(target(Fresco), str(fresco.pk), fresco.tenant_id)]) == {}


def test_an_id_that_is_none_leaves_the_others_to_the_single_look_at_most():
    owner, stranger = TenantFactory(), TenantFactory()
    thing, other = (Thing.objects.create(tenant=tenant) for tenant in (owner, stranger))
    good = [(target(Thing), str(one.pk), one.tenant_id) for one in (thing, other)]
    assert made([*good, (target(Thing), "x", owner.pk)]) == {}
    assert made([*good, (target(Thing), str(2**70), owner.pk), (target(Thing), None, owner.pk)]) == {0: thing, 1: other}


def test_a_function_has_no_object(django_assert_num_queries):
    function = Target(None, "show", print, Spec(), class_level=True)
    with django_assert_num_queries(0):
        assert made([(function, None, 1)]) == {}


def test_a_database_that_is_away_leaves_all_to_the_single_look_which_is_patient(monkeypatch):
    thing = Thing.objects.create(tenant=TenantFactory())

    def fail(*_: object, **__: object):
        raise OperationalError

    monkeypatch.setattr(queries, "prepared_on", fail)
    assert made([(target(Thing), str(thing.pk), thing.tenant_id)]) == {}
