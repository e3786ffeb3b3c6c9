"""What works with a tenant model of the project's own; run by tests/integration/project/test_adopter.py."""

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from jobs import InvalidRequest, async_, queries, results
from jobs.calls import registry, sources
from jobs.calls.owners import path_of
from jobs.contrib.testing import drain
from jobs.engine.attempt.body import SourceGone
from jobs.engine.upkeep.prune import prune
from jobs.http import schemas
from jobs.models import Job, Schedule
from jobs.portal.members import names
from jobs.sql import files
from jobs.worker.clock.duties import recording_duties
from tenants import auth
from tenants.models import Member, TenantQueue
from tests.adopter.models import Line, Order, Parcel, Shop
from tests.factories import UserFactory, make_job
from tests.statements import fault_of

JSON = "application/json"

pytestmark = pytest.mark.django_db


def shop(slug: str = "corner", **fields: Any) -> Shop:
    made = Shop.objects.create(title=slug.title(), string_id=slug, **fields)
    TenantQueue.objects.create(tenant=made, num_slots=2)
    return made


def test_the_checks_have_nothing_against_it() -> None:
    assert run_checks(databases=["default"]) == []


class TestInsightLeftOut:
    def test_pages_offer_no_what_if(self, admin_client) -> None:
        for page in ("queues", "tenants"):
            shown = admin_client.get(reverse(f"jobs_ops:{page}"))
            assert (shown.status_code, b"other limits" in shown.content) == (200, False)
        assert admin_client.get("/ops/what-if/").status_code == 404
        assert "what-if" not in admin_client.get(reverse("jobs_api:openapi-json")).content.decode()

    def test_a_form_that_asks_what_if_says_what_is_missing_and_changes_nothing(self, admin_client) -> None:
        slots = TenantQueue.objects.get(tenant=shop())
        values = {"num_slots": "7", "was_num_slots": "2", "what_if": "1"}
        answer = admin_client.post(reverse("jobs_ops:change-tenant", args=["corner"]), values, follow=True)
        assert b"what-if is not installed here (jobs.insight)" in answer.content
        slots.refresh_from_db()
        assert slots.num_slots == 2

    def test_the_command_is_not_there(self) -> None:
        with pytest.raises(CommandError, match="invalid choice: 'what-if'"):
            call_command("jobs", "what-if")

    def test_the_clock_forecasts_nothing(self) -> None:
        assert {duty.run.__module__.split(".")[1] for duty in recording_duties()} == {"recording"}

    def test_a_waiting_job_has_no_predicted_start(self, admin_client) -> None:
        job = make_job(shop())
        assert schemas.read_job_values(job)["starts"] is None
        assert admin_client.get(reverse("jobs_ops:job", args=[job.pk])).status_code == 200


def test_a_tenant_model_keeps_its_attributes_beside_our_related_names() -> None:
    corner = shop(members=["ann"])
    assert (corner.members, corner.queue, corner.api_keys()) == (["ann"], "nobody waits", ["theirs"])
    assert corner.jobs_queue.num_slots == 2
    assert (list(corner.jobs_members.all()), list(corner.jobs_api_keys.all())) == ([], [])


class TestOf32Bits:
    """Its name and slug have names of their own, too."""

    def test_every_statement_finds_its_columns(self, subtests, onlooker) -> None:
        for name in files():
            with subtests.test(name):
                assert fault_of(name, onlooker) == ""

    def test_our_columns_have_64_bits(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public'"
                " AND column_name = 'tenant_id' AND data_type <> 'bigint'"
            )
            narrow = [name for (name,) in cursor.fetchall() if not name.startswith("sample_")]
            assert narrow == []

    def test_a_job_from_the_submit_to_the_result(self) -> None:
        order = Order.objects.create(shop=shop())
        job_id = order.async_.invoice()
        [ended] = drain()
        assert ended.status == "success"
        assert results.load(queries.job(order.shop_id, job_id)).value == f"Corner, order {order.pk}"
        call_command("check_invariants")

    def test_a_key_and_the_pages_find_it_by_its_slug(self, admin_client) -> None:
        corner = shop("the córner")
        order = Order.objects.create(shop=corner)
        order.async_.invoice()
        _, token = auth.issue(corner, "a program")
        Member.objects.create(user=UserFactory(), tenant=corner)
        assert auth.tenant_of(token) == corner
        key = {"headers": {"authorization": f"Bearer {token}"}}
        assert Client(**key).get("/api/v1/jobs").json()["jobs"][0]["id"] == Job.objects.get().pk
        for page in ("tenants", "jobs", "overview", "schedules", "dead"):
            assert admin_client.get(reverse(f"jobs_ops:{page}")).status_code == 200, page
        assert "The Córner" in admin_client.get(reverse("jobs_ops:tenants"), {"q": "CÓRNER"}).content.decode()
        assert "The Córner" in admin_client.get(reverse("jobs_ops:tenant", args=["the córner"])).content.decode()
        for page in ("tenantqueue", "member", "apikey"):
            address = reverse(f"admin:tenants_{page}_changelist")
            assert "The Córner" in admin_client.get(address, {"q": "CÓRNER"}).content.decode()

    def test_a_members_page_has_its_name(self) -> None:
        member = Member.objects.create(user=UserFactory(), tenant=shop())
        client = Client()
        client.force_login(member.user)
        assert "Corner" in client.get("/jobs/").content.decode()

    def test_a_command_names_it(self) -> None:
        shop(), shop("bridge")
        output = StringIO()
        call_command("tenants", "slots", "--json", stdout=output)
        assert [(line["tenant"], line["name"]) for line in json.loads(output.getvalue())["tenants"]] == [
            ("bridge", "Bridge"),
            ("corner", "Corner"),
        ]
        call_command("tenants", "slots", "corner", "--set", "5", stdout=output)
        assert Shop.objects.get(string_id="corner").jobs_queue.num_slots == 5

    def test_is_a_tenant_whatever_its_manager_hides(self, admin_client) -> None:
        """Its operators stop it, and nothing of it is deleted: its row is there, and may be seen again."""
        Schedule.objects.create(tenant=shop(closed=True), name="nightly", cron="0 2 * * *")
        prune()
        assert Schedule.objects.exists()
        call_command("tenants", "slots", "corner", "--set", "0", stdout=StringIO())
        assert admin_client.get(reverse("jobs_ops:tenant", args=["corner"])).context["limits"].num_slots == 0


@pytest.fixture(params=[Line, Order, Parcel, Shop])
def thing(request) -> Line | Order | Parcel | Shop:
    """An object with jobs, with no, one and two references to its tenant."""
    corner = shop()
    order = Order.objects.create(shop=corner)
    made = (corner, order, Line.objects.create(order=order), Parcel.objects.create(shop=corner))
    return next(thing for thing in made if isinstance(thing, request.param))


class TestAPathToTheTenant:
    def test_leads_to_it_and_a_strangers_job_finds_nothing(self, thing, django_assert_num_queries) -> None:
        corner, stranger = Shop.objects.get(), shop("stranger")
        target = registry.target(type(thing), registry.methods(type(thing))[0])
        for find in (
            sources.find,
            sources.find_all([(type(thing), thing.pk, tenant.pk) for tenant in (corner, stranger)]),
        ):
            for _ in range(3):  # planned anew, and from the plan that was kept
                assert find(target, str(thing.pk), corner.pk) == thing
                assert find(target, str(thing.pk), stranger.pk) is None
        alone = sources.find_all([(type(thing), thing.pk, stranger.pk)])
        assert alone(target, str(thing.pk), stranger.pk) is None
        with django_assert_num_queries(1):
            sources.find(target, str(thing.pk), corner.pk)

    def test_is_the_way_of_a_job_from_the_submit_to_the_body(self, thing) -> None:
        number = async_(getattr(thing, registry.methods(type(thing))[0]))()
        [ended] = drain()
        assert (ended.status, Job.objects.get().tenant) == ("success", Shop.objects.get())
        assert results.load(queries.job(Shop.objects.get().pk, number)).value.startswith("Corner")

    @pytest.mark.parametrize("of_line", [True, False])
    def test_is_walked_again_before_the_body(self, of_line) -> None:
        """An object that has another tenant by then is nothing that the job may load."""
        order = Order.objects.create(shop=shop())
        async_(Line.objects.create(order=order).pack if of_line else order.invoice)()
        Order.objects.update(shop=shop("stranger"))
        with pytest.raises(SourceGone):
            drain()

    def test_is_the_way_of_a_call_over_http(self) -> None:
        corner, stranger = shop(), shop("stranger")
        line = Line.objects.create(order=Order.objects.create(shop=corner))
        body = {"source_type": "shop.line", "source_id": line.pk, "source_method": "pack"}
        answers = [
            Client(headers={"authorization": f"Bearer {auth.issue(tenant, 'it')[1]}"}).post("/api/v1/jobs", body, JSON)
            for tenant in (corner, stranger)
        ]
        assert [answer.status_code for answer in answers] == [202, 422]

    def test_shows_members_the_names_of_their_objects_alone(self) -> None:
        corner, stranger = shop(), shop("stranger")
        line = Line.objects.create(order=Order.objects.create(shop=corner))
        async_(line.pack)()
        [job] = Job.objects.all()
        assert ("shop.line", str(line.pk)) in names.sources([job], corner.pk)
        assert ("shop.line", str(line.pk)) not in names.sources([job], stranger.pk)

    def test_a_broken_path_is_refused_at_the_submit(self) -> None:
        with pytest.raises(InvalidRequest, match="has none"):
            async_(Line.objects.create().pack)()

    @pytest.mark.parametrize(
        ("path", "fault"),
        [
            ("tenant", "needs a foreign key 'tenant' of shop.Line"),
            ("order__customer", "needs a foreign key 'customer' of shop.Order"),
            ("order__id", "needs a foreign key 'id' of shop.Order"),
            ("order", "ends at shop.Order, no tenant"),
            ("pk", "ends at shop.Line, no tenant"),
        ],
    )
    def test_a_path_to_no_tenant_is_refused_by_a_check_and_the_submit(self, path, fault, monkeypatch) -> None:
        monkeypatch.setattr(Line, "jobs_tenant", path)
        path_of.cache_clear()
        try:
            [message] = run_checks(tags=["jobs"])
            with pytest.raises(InvalidRequest, match=re.escape(fault)):
                async_(Line.objects.create().pack)()
        finally:
            path_of.cache_clear()
        assert (message.id, fault in message.msg, "jobs_tenant" in message.hint) == ("jobs.E020", True, True)
