"""Usage for bills: a tenant sees its own, operators everybody's; by API, page and command."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from jobs.console.ops.usage import view as usage_page
from jobs.models import Queue
from jobs.reading import usage
from jobs.recording import close, record, statements
from tenants.models import Tenant
from tests.callers import browser_of, program_of, staff
from tests.clock import call_at
from tests.factories import MemberFactory, QueueFactory
from tests.integration.api.test_operator_access import assert_problem
from tests.integration.engine.test_record import attempt

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
NOW = timezone.now()
TODAY, YESTERDAY = NOW.date(), (NOW - DAY).date()
PERIOD = f"from={YESTERDAY}&to={TODAY + DAY}"
OWN, ALL = f"/api/v1/usage?{PERIOD}", f"/api/v1/operator/usage?{PERIOD}"
MIDNIGHT = NOW.replace(hour=0, minute=0, second=0, microsecond=0)


@pytest.fixture
def operator():
    return program_of(staff("view_tenantqueue"))


@pytest.fixture
def used(tenant, foreign_tenant):
    """Yesterday, which is closed, and today; of the tenant and a stranger."""
    mail, default = QueueFactory(name="mail"), Queue.objects.get(name="default")
    call_at(MIDNIGHT - DAY / 2, record.record_hours)  # at noon, whatever the time is now
    attempt(MIDNIGHT - timedelta(hours=1), tenant_id=tenant.pk, queue_id=default.pk, ran=1.5)
    attempt(MIDNIGHT - timedelta(hours=2), tenant_id=tenant.pk, queue_id=mail.pk, ran=0.25, outcome="retry")
    attempt(MIDNIGHT - timedelta(hours=1), tenant_id=foreign_tenant.pk, queue_id=default.pk, ran=100.0)
    attempt(MIDNIGHT, tenant_id=tenant.pk, queue_id=default.pk, ran=3.000_001)
    statements.record_peaks(YESTERDAY, {tenant.pk: 2, foreign_tenant.pk: 9})
    now = MIDNIGHT + timedelta(minutes=10)
    call_at(now, record.record_hours)
    call_at(now, close.close_days)


@pytest.fixture
def foreign_tenant(stranger):
    return Tenant.objects.get(name="Stranger Inc.")


def lines(caller, address: str, *names: str) -> list[tuple]:
    answer = caller.get(address)
    assert answer.status_code == 200, answer.content
    return [tuple(line[name] for name in names) for line in answer.json()["usage"]]


def test_a_tenant_sees_what_it_used_by_day(owner, used):
    answer = owner.get(OWN).json()
    days = [(one["day"], one["attempts"], one["worker_seconds"], one["peak_slots"]) for one in answer["usage"]]
    assert days == [(str(YESTERDAY), 2, 1.75, 2), (str(TODAY), 1, 3.000_001, None)]
    assert (answer["attempts"], answer["worker_seconds"]) == (3, 4.750_001)
    assert (answer["from"], answer["to"]) == (str(YESTERDAY), str(TODAY + DAY))


def test_the_answer_says_whether_it_is_final(owner, used):
    assert (owner.get(OWN).json()["final"], owner.get(OWN).json()["final_at"]) == (False, None)
    yesterday = owner.get(f"/api/v1/usage?from={YESTERDAY}&to={TODAY}").json()
    assert (yesterday["final"], yesterday["attempts"]) == (True, 2)
    assert yesterday["final_at"].startswith(f"{TODAY}T00:10")


@pytest.mark.parametrize(
    ("by", "names", "expected"),
    [
        ("queue", ("queue", "attempts"), [("default", 2), ("mail", 1)]),
        ("type", ("source_type", "source_method", "attempts"), [("reports.datareport", "execute", 3)]),
        ("outcome,queue", ("queue", "outcome", "attempts"), [("default", "success", 2), ("mail", "retry", 1)]),
    ],
)
def test_by_what_it_asks_for(owner, used, by, names, expected):
    assert sorted(lines(owner, f"{OWN}&by={by}", *names)) == expected


def test_a_stranger_sees_nothing_of_it(stranger, used):
    assert lines(stranger, OWN, "attempts", "worker_seconds", "peak_slots") == [(1, 100.0, 9)]
    assert_problem(stranger.get(f"{OWN}&by=tenant"), 422)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=yesterday", "from"),
        ("from=2030-02-30", "from"),
        ("to=2030-01-01T00:00", "to"),
        ("from=2030-01-02&to=2030-01-02", "to"),
        ("from=2000-01-02&to=2030-01-02", "to"),
        ("by=hour", "by"),
        ("by=%00", "by"),
        ("untill=2030-01-01", "untill"),
    ],
)
def test_a_mistake_is_named(owner, query, field):
    answer = owner.get(f"/api/v1/usage?{query}")
    assert_problem(answer, 422)
    assert field in str(answer.json()["errors"])


def test_a_day_beside_which_there_is_none_is_no_day(owner, operator):
    for period in ("from=9999-12-31", "from=0001-01-01&to=0001-01-02"):
        assert_problem(owner.get(f"/api/v1/usage?{period}"), 422)
        assert_problem(operator.get(f"/api/v1/operator/usage?{period}"), 422)


def test_a_period_that_is_too_long_is_refused(owner, used, monkeypatch):
    monkeypatch.setattr(usage.read, "__defaults__", (1,))
    assert_problem(owner.get(OWN), 422)


class TestOperators:
    def test_operators_see_each_tenant(self, operator, tenant, foreign_tenant, used):
        found = lines(operator, ALL, "tenant", "attempts", "worker_seconds", "peak_slots")
        assert sorted(found) == sorted([(tenant.slug, 3, 4.750_001, 2), (foreign_tenant.slug, 1, 100.0, 9)])

    def test_operators_see_a_tenant_as_it_sees_itself(self, operator, owner, tenant, used):
        names = ("day", "attempts", "worker_seconds", "peak_slots")
        assert lines(operator, f"{ALL}&by=day&tenant={tenant.slug}", *names) == lines(owner, OWN, *names)
        assert_problem(operator.get(f"{ALL}&tenant=nobody"), 422)

    def test_peaks_of_several_tenants_are_not_added(self, operator, used):
        assert lines(operator, f"{ALL}&by=day", "attempts", "peak_slots") == [(3, None), (1, None)]

    def test_a_tenant_that_was_deleted_is_still_billed(self, operator, tenant, used):
        pk = tenant.pk
        tenant.delete()
        assert (f"tenant {pk}", 3) in lines(operator, ALL, "tenant", "attempts")

    def test_the_page_shows_it_and_says_what_is_wrong(self, tenant, used):
        client = browser_of(staff("view_tenantqueue"))
        page = client.get(f"/ops/usage/?{PERIOD}&by=tenant").content.decode()
        assert all(words in page for words in ("Owner &amp; Co.", "4.750", "not final yet"))
        page = client.get(f"/ops/usage/?from={YESTERDAY}&to={TODAY}&by=queue,type,outcome,day").content.decode()
        chosen = '<option value="queue,type,outcome,day" selected>'  # or the next Show would lose them
        assert all(
            words in page
            for words in ("mail", "reports.<wbr>datareport.<wbr>execute", "<strong>final</strong>", chosen)
        )
        days = client.get(f"/ops/usage/?{PERIOD}&by=day&tenant={tenant.slug}").content.decode()
        told = re.findall(r"<title>(\S+: \S+ worker-seconds, \d+ attempts)</title>", days)
        assert told == [f"{YESTERDAY}: 2 worker-seconds, 2 attempts", f"{TODAY}: 3 worker-seconds, 1 attempts"]
        assert f"?from={TODAY}&amp;to={TODAY + DAY}&amp;by=type&amp;tenant={tenant.slug}" in days
        assert 'class="chart"' not in page, "the days of one day"
        for none in ("x", "9999-12-31"):
            assert "From: must be a day" in client.get(f"/ops/usage/?from={none}").content.decode()
        assert "Nothing ended" in client.get("/ops/usage/?from=2001-01-01&to=2001-01-02").content.decode()
        assert 'href="/ops/tenants/" data-key="t" aria-current="page"' in page, "Tenants leads to it"

    def test_the_page_of_more_tenants_than_it_has_lines_begins_by_day(self, used, monkeypatch):
        monkeypatch.setattr(usage_page, "MOST_LINES", 1)
        client = browser_of(staff("view_tenantqueue"))
        of_one_day = f"/ops/usage/?from={YESTERDAY}&to={TODAY}"
        assert '<option value="day" selected>day</option>' in client.get(of_one_day).content.decode()
        assert "gives more than 1 lines" in client.get(f"{of_one_day}&by=tenant").content.decode()


def test_a_member_sees_it_and_a_strangers_member_its_own(mate, used, client, foreign_tenant):
    client.force_login(MemberFactory(tenant=foreign_tenant).user)
    own, foreign = (one.get(f"/jobs/usage/?{PERIOD}").content.decode() for one in (mate, client))
    assert "4.750" in own
    assert "100.000" in foreign
    assert "100.000" not in own
    assert "4.750" not in foreign
    assert mate.get("/jobs/usage/?from=x").status_code == 200


class TestTheCommand:
    def run(self, *words: str) -> str:
        out = io.StringIO()
        call_command("tenants", "usage", *words, f"--from={YESTERDAY}", f"--to={TODAY + DAY}", stdout=out)
        return out.getvalue()

    def test_prints_a_table_or_json(self, tenant, used):
        assert "4.750" in self.run()
        assert "not final yet" in self.run(tenant.slug)
        assert json.loads(self.run(tenant.slug, "--json"))["worker_seconds"] == 4.750_001

    def test_prints_csv_in_which_no_cell_is_a_formula(self, tenant, used):
        Queue.objects.filter(name="mail").update(name="=1+1")
        lines = list(csv.reader(self.run(tenant.slug, "--csv", "--by", "queue,type").splitlines()))
        names = ["queue", "source_type", "source_method", "attempts", "worker_seconds", "peak_slots"]
        names += ["targeted", "in_time"]
        assert lines[0] == names
        assert sorted(lines[1:]) == [
            ["'=1+1", "reports.datareport", "execute", "1", "0.250000", "", "0", "0"],
            ["default", "reports.datareport", "execute", "2", "4.500001", "", "0", "0"],
        ]

    def test_refuses_a_period_that_is_not_final(self, used):
        with pytest.raises(CommandError, match="not final yet"):
            self.run("--final")
