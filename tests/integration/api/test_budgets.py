"""Units and budgets where people see and change them: a tenant its own, operators everybody's."""

import csv
import json
from datetime import timedelta

import pytest
from django.utils import timezone
from psycopg.types.multirange import Multirange

from jobs.models import HELD_UNTIL, SpentBudget, TenantBook
from jobs.reading import predictor
from jobs.reading.health import conditions
from jobs.reading.health.facts import look
from jobs.reading.starts import Reason
from jobs.recording import record
from tenants.models import Change, TenantQueue
from tests.callers import browser_of, superuser
from tests.clock import call_at
from tests.factories import TenantFactory, make_job
from tests.integration.cli.running import refusal, run
from tests.integration.engine.test_record import attempt
from tests.sample import spending

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_counted")]
assert spending.ask  # declares the unit tokens


@pytest.fixture
def _counted(tenant):
    """The tenant has used 900 of 1,000 tokens, a stranger nothing of its own budget."""
    TenantQueue.objects.filter(tenant=tenant).update(budgets={"tokens": 1000})
    use(tenant, 900)


def use(tenant, tokens: int) -> None:
    used = {f"{timezone.now():%Y-%m}": {"tokens": tokens}}
    TenantBook.objects.filter(tenant_id=tenant.pk).delete()
    TenantBook.objects.create(tenant_id=tenant.pk, version=1, in_use=0, slots=Multirange(), used=used)


def budgets(*words: str) -> list[dict]:
    return json.loads(run("tenants", "budget", *words, "--json"))["budgets"]


class TestCommand:
    def test_all_budgets_are_shown_and_one_is_changed_at_a_time(self, tenant):
        slug = tenant.slug
        assert budgets() == [{"tenant": slug, "unit": "tokens", "used": 900, "amount": 1000, "state": "low"}]
        assert [(one["amount"], one["state"]) for one in budgets(slug, "tokens=900")] == [(900, "used up")]
        assert Change.objects.latest("at").values == {"budgets": [{"tokens": 1000}, {"tokens": 900}]}
        other = TenantFactory(slug="other")
        assert [one["state"] for one in budgets("other", "tokens=5")] == ["open"]
        assert budgets(slug, "tokens=none") == []
        assert TenantQueue.of(other).budgets == {"tokens": 5}

    @pytest.mark.parametrize(
        ("words", "why"),
        [
            (["tokens"], "must be like tokens=1000000"),
            (["tokens=0"], "whole number from 1 to 1,000,000,000,000,000"),
            (["Tokens=5"], "a-z"),
            (["misspelt=5"], "budgets: No job type declares the unit misspelt; declared: tokens"),
        ],
    )
    def test_a_refusal_names_the_budget_and_what_is_allowed(self, tenant, words, why):
        assert why in refusal("tenants", "budget", tenant.slug, *words)
        assert TenantQueue.of(tenant).budgets == {"tokens": 1000}


def test_members_see_their_budget_and_no_other(tenant, mate):
    use(TenantFactory(queue__budgets={"tokens": 7}), 7)
    assert "You used 900 of 1,000 tokens" in text(mate, "/jobs/")
    use(tenant, 1234)
    told = text(mate, "/jobs/")
    assert "Your budget of 1,000 tokens for this month (UTC) is used up" in told and "You used 1,234" in told
    assert " 7 tokens" not in told


def test_operators_see_and_change_it_on_the_tenants_page(tenant):
    admin, address = browser_of(superuser()), f"/ops/tenants/{tenant.slug}/"
    assert "tokens 900/1,000 low" in text(admin, address)
    admin.post(f"{address}change", {"budgets": "tokens=900"})
    assert "tokens 900/900 used up" in text(admin, address)
    assert "misspelt" in text(admin, address, post={"budgets": "misspelt=1"})
    assert TenantQueue.of(tenant).budgets == {"tokens": 900}


def test_health_tells_of_a_budget_from_80_percent_on(tenant):
    def told() -> list[str]:
        return [one.text for one in conditions(look()) if one.code == "budget_low"]

    assert told() == [f"Tenant {tenant.slug} has used 90 % of its budget of tokens for this month."]
    use(tenant, 799)
    assert told() == []
    use(tenant, 1000)
    assert "100 %" in told()[0] and "wait for the next month" in told()[0]


def test_the_usage_has_the_units_of_a_tenant_in_every_form(tenant, owner, mate, stranger):
    now = timezone.now()
    attempt(now, tenant_id=tenant.pk, units={"tokens": 1840, "pages": 3})
    attempt(now, tenant_id=TenantFactory().pk, units={"tokens": 9, "mails": 1})
    call_at(now + timedelta(minutes=1), record.record_hours)
    answer = owner.get("/api/v1/usage").json()
    assert answer["units"] == answer["usage"][0]["units"] == {"tokens": 1840, "pages": 3}
    assert stranger.get("/api/v1/usage").json()["units"] == {}
    assert "1,840 tokens" in text(mate, "/jobs/usage/")
    [line] = csv.DictReader(run("tenants", "usage", tenant.slug, "--csv").splitlines())
    assert (line["attempts"], line["units.tokens"], line["units.pages"]) == ("1", "1840", "3")
    assert "TOKENS" in run("tenants", "usage", tenant.slug)


def test_a_held_job_starts_not_this_month_by_what_is_predicted(tenant):
    held = make_job(tenant, "scheduled", due_at=HELD_UNTIL, spends=["tokens"])
    other = make_job(tenant, "scheduled", due_at=HELD_UNTIL)
    SpentBudget.objects.create(tenant_id=TenantFactory().pk, unit="tokens", since=timezone.now())
    assert predictor.starts([held])[held.pk].reason == Reason.HELD
    SpentBudget.objects.create(tenant_id=tenant.pk, unit="tokens", since=timezone.now())
    found = predictor.starts([held, other])
    assert (found[held.pk].reason, found[other.pk].reason) == (Reason.BUDGET, Reason.HELD)
    assert found[held.pk].in_words == "not this month: a budget is used up"


def text(client, address: str, post: dict | None = None) -> str:
    response = client.get(address) if post is None else client.post(f"{address}change", post, follow=True)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())
