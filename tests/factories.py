"""What a test needs, in one line. Jobs are made by the verbs, or by `make_job` for a status out of thin air."""

import factory
from django.contrib.auth import get_user_model

from jobs.models import Queue
from tenants.models import Member, Tenant, TenantQueue


class TenantFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Tenant
        skip_postgeneration_save = True

    name = factory.Sequence(lambda n: f"Tenant {n}")
    slug = factory.Sequence(lambda n: f"tenant-{n}")
    queue = factory.RelatedFactory("tests.factories.TenantQueueFactory", factory_related_name="tenant")


class TenantQueueFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = TenantQueue

    num_slots = 2


class QueueFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Queue
        django_get_or_create = ["name"]

    name = "default"


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = get_user_model()

    username = factory.Sequence(lambda n: f"user{n}")


class MemberFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Member

    user = factory.SubFactory(UserFactory)
    tenant = factory.SubFactory(TenantFactory)


class ThingFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = "sample.Thing"

    tenant = factory.SubFactory(TenantFactory)
