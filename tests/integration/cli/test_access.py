"""`manage.py tenants add`, `members` and `keys`: who may see and submit what, without the admin."""

import json

import pytest
from django.test import Client

from tenants import mirror
from tenants.models import ApiKey, Change, Member, Tenant
from tests.factories import TenantFactory, UserFactory
from tests.integration.cli.running import refusal, run
from tests.sql import sql

pytestmark = pytest.mark.django_db


class TestTenants:
    def test_a_tenant_is_added_with_its_slots(self):
        assert run("tenants", "add", "acme", "Acme & Co.", "--set", 3, "--user-slots", 1) == (
            "Added tenant acme with 3 slots.\n"
        )
        tenant = Tenant.objects.get(slug="acme")
        assert (tenant.name, tenant.jobs_queue.num_slots, tenant.jobs_queue.user_slots) == ("Acme & Co.", 3, 1)

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["acme", "Acme"], "slug: Tenant with this Slug already exists; Another tenant has this name"),
            (["other", "Acme"], "Another tenant has this name"),
            (["no slug", "Other"], "slug: "),
            (["other", "Other", "--weight", "0"], "argument --weight"),
            (["other", "Other", "--rate", "1/999999999"], "rate_window: "),
        ],
    )
    def test_a_refusal_names_the_field_and_adds_nothing(self, words, says):
        TenantFactory(slug="acme", name="Acme")
        assert says in refusal("tenants", "add", *words)
        assert Tenant.objects.count() == 1

    def test_not_where_the_project_has_its_own(self, monkeypatch):
        monkeypatch.setattr(mirror, "mirrored_model", lambda: Tenant)
        assert "of its own" in refusal("tenants", "add", "acme", "Acme")

    def test_without_the_tables_the_refusal_says_what_to_run(self):
        sql("ALTER TABLE tenant_queues RENAME TO elsewhere")
        assert (
            refusal("tenants", "slots") == 'database: relation "tenant_queues" does not exist; run: manage.py migrate'
        )


class TestMembers:
    def test_a_member_is_added_seen_and_removed(self):
        TenantFactory(slug="acme"), TenantFactory(slug="other")
        user = UserFactory(username="ines")
        assert run("members") == "There are no members.\n"
        for _ in range(2):
            assert run("members", "add", "ines", "acme") == "ines is a member of acme.\n"
        assert json.loads(run("members", "list", "--json")) == {"members": [{"user": "ines", "tenant": "acme"}]}
        assert run("members", "list", "--tenant", "other") == "There are no members.\n"
        refused = refusal("members", "add", "ines", "other")
        assert "already belongs to acme; first: manage.py members remove ines" in refused
        run("members", "remove", "ines")
        assert not Member.objects.filter(user=user).exists()
        assert "member of no tenant" in refusal("members", "remove", "ines")

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["nobody", "acme"], "user: there is no 'nobody'; add one in the admin"),
            (["ines", "none"], "tenant: 'none' is unknown; known: acme"),
        ],
    )
    def test_an_unknown_member_is_refused(self, words, says):
        TenantFactory(slug="acme"), UserFactory(username="ines")
        assert says in refusal("members", "add", *words)

    def test_not_where_the_project_says_it(self, settings):
        settings.JOBS_MEMBERSHIP = "tests.sample.models.whoever"
        assert "JOBS_MEMBERSHIP" in refusal("members", "add", "ines", "acme")


class TestKeys:
    def test_a_key_is_issued_once_and_refused_when_revoked(self):
        TenantFactory(slug="acme"), TenantFactory(slug="other")
        key = json.loads(run("keys", "add", "acme", "nightly export", "--json"))
        client = Client(headers={"Authorization": f"Bearer {key['token']}"})
        assert client.get("/api/v1/jobs").status_code == 200
        listed = run("keys")
        assert key["prefix"] in listed and "good" in listed
        assert key["token"].partition(".")[2] not in listed
        assert run("keys", "list", "--tenant", "other") == "There are no keys.\n"
        assert run("keys", "revoke", key["prefix"]) == f"Key {key['prefix']} is refused from now on.\n"
        assert client.get("/api/v1/jobs").status_code == 401
        assert {"added", "revoked"} <= set(Change.objects.values_list("verb", flat=True))
        assert "revoked" in run("keys")

    def test_for_people_it_is_shown_with_a_warning(self):
        TenantFactory(slug="acme")
        shown = run("keys", "add", "acme", "ci", "--expires", "2999-01-31T09:00:00+01:00")
        assert shown.startswith(f"The key is {ApiKey.objects.get().prefix}.")
        assert "cannot be shown again" in shown

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["add", "none", "ci"], "tenant: 'none' is unknown; known: acme"),
            (["add", "acme", "x" * 101], "name: must have 1 to 100 characters"),
            (["add", "acme", "ci", "--expires", "2001-01-01T00:00+00:00"], "expires: must be in the future"),
            (["add", "acme", "ci", "--expires", "2999-01-01"], "expires: must be in the future, with a time zone"),
            (["revoke", "none"], "prefix: there is no key 'none'"),
        ],
    )
    def test_a_refusal_issues_nothing(self, words, says):
        TenantFactory(slug="acme")
        assert says in refusal("keys", *words)
        assert not ApiKey.objects.exists()
