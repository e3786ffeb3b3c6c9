"""`manage.py jobs what-if`: what other limits would have done in a time of the past."""

import json
import re
from datetime import timedelta
from uuid import uuid4

import pytest

from jobs import store
from jobs.insight import replay
from jobs.models import Attempt, Job, LimitChange
from jobs.store import EVERY_TENANT
from tenants.models import TenantQueue
from tests.factories import TenantFactory, make_job
from tests.integration.cli.running import refusal, run
from tests.recorded import LENGTH, ran_in_turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant():
    return TenantFactory(slug="acme", name="Acme", queue__num_slots=1)


@pytest.fixture
def since(tenant):
    return ran_in_turn(tenant, worker=uuid4())


def asked(since, *words: object) -> dict:
    times = ("--since", since.isoformat(), "--until", (since + LENGTH).isoformat())
    return json.loads(run("jobs", "what-if", *times, *words, "--json"))


def means(found: dict) -> tuple:
    (line,) = found["lines"]
    found = [(line[name] or {}).get("mean") for name in ("recorded", "replayed", "changed")]
    return tuple(None if mean is None else round(mean) for mean in found)


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], None),
        (["--tenant", "acme.num_slots=4"], 0),
        (["--tenant", "acme.burst_slots=4"], 0),
        (["--tenant", "acme.num_slots=4", "--pool", "default.processes=2"], 5),
        (["--tenant", "acme.num_slots=4", "--tenant", "acme.queue_slots=default=2"], 5),
        (["--tenant", "acme.num_slots=4", "--queue", "default.tenant_slots=2"], 5),
        (["--tenant", "acme.rate_limit=1", "--tenant", "acme.rate_window=30"], 45),
        (["--tenant", "acme.num_slots=4", "--pool", "default.processes=1", "--pool", "default.seats=2"], 5),
        (["--queue", "default.paused=true"], None),
    ],
)
def test_the_waits_as_they_were_as_they_are_replayed_and_as_they_would_be(since, words, changed):
    found = asked(since, *words)
    assert means(found) == (15, 15, changed)
    assert (found["attempts"], found["knows"], found["error"]["mean"] < 0.05, found["unknown"]) == (4, True, True, [])
    assert found["lines"][0]["never"] == (4 if "paused" in str(words) else 0)


def test_a_time_of_the_day_is_the_last_one_in_utc(since):
    assert json.loads(run("jobs", "what-if", "--since", "00:00", "--json"))["since"].endswith("T00:00:00Z")


def test_nothing_is_changed(since, tenant):
    asked(since, "--tenant", "acme.num_slots=4", "--queue", "default.weight=3")
    assert TenantQueue.objects.get(tenant=tenant).num_slots == 1


def test_a_table_for_people(since, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    shown = run("jobs", "what-if", "--since", since.isoformat(), "--tenant", "acme.num_slots=4")
    assert "acme" in shown
    assert "15s" in shown
    heads = re.split(r"  +", re.search(r"^TENANT +QUEUE +ATTEMPTS +SLOT S +WAITED.*", shown, re.M)[0])
    assert len(heads) == len(set(heads)), "no two columns have one name"
    assert re.search(r"^acme +default +4 +40 +15s.* 100 % less$", shown, re.M)
    assert "Acme in queue default would wait 0.0 s instead of 15 s on average (100 % less)" in shown
    assert "Accuracy: replaying the real limits misses" in shown


def test_the_gaps_of_the_record_are_named(since, tenant):
    LimitChange.objects.update(at=since + timedelta(minutes=1))
    Attempt.objects.update(worker_pid=None)
    TenantQueue.objects.update(budgets={"tokens": 5})
    waiting, cancelled = (make_job(tenant, ready_at=since + timedelta(minutes=2)) for _ in range(2))
    store.cancel([cancelled.pk], tenant_id=EVERY_TENANT)
    found = asked(since)
    assert [gap["code"] for gap in found["unknown"]] == ["limits", "pauses", "held", "waiting", "left"]
    assert found["attempts"] == 4
    assert Job.objects.get(pk=waiting.pk).status == "created"


def test_an_attempt_before_the_window_and_a_strangers_later_one_are_not_counted(since):
    Attempt.objects.filter(job_id=1).update(waited_since=since - timedelta(seconds=20))
    Attempt.objects.filter(job_id=4).update(waited_since=since + 2 * LENGTH)
    assert asked(since)["attempts"] == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--tenant", "acme.num_slots"], "must be like acme.num_slots=10, not 'acme.num_slots'"),
        (["--tenant", "acme.slots=3"], "tenants.acme.slots: is no limit; known: num_slots"),
        (["--tenant", "acme.num_slots=x"], "tenants.acme.num_slots: “x” value must be an integer."),
        (["--tenant", "acme.weight=0"], "tenants.acme.weight: "),
        (["--tenant", "acme.rate_limit=3"], "tenants.acme.rate_"),
        (["--tenant", "nobody.weight=2"], "'nobody' is unknown; known: acme"),
        (["--queue", "nobody.weight=2"], "'nobody' is unknown; known: default"),
        (["--pool", "nobody.processes=2"], "pools: 'nobody' is unknown; known: default"),
        (["--pool", "default.processes=-2"], "pools.default.processes: must be a whole number"),
        (["--pool", "default.seats=0"], "pools.default.seats: must be a whole number from 1 to 1,000, not '0'"),
        (["--since", "2130-01-01T00:00:00Z"], "since: must not be in the future"),
        (["--since", "2020-01-01T00:00:00Z"], "since: must be within the last 8 days"),
        (
            ["--since", "25:00"],
            "since: must be like 30m, 1h, 7d ago (at most ten years), 14:00 of today or else yesterday,",
        ),
        (["--until", "noon"], "until: must be like 30m"),
        (["--until", "0001-01-01"], "since: must be before until"),
        (["--since", "1h", "--until", "2h"], "since: must be before until; they are 20"),
    ],
)
def test_a_refusal_names_the_field(tenant, words, why):
    assert why in refusal("jobs", "what-if", *words)


def test_a_window_with_too_many_attempts_is_refused(since, monkeypatch):
    monkeypatch.setattr("jobs.insight.what_if_command.MOST", 3)
    assert "more than 3 attempts" in refusal("jobs", "what-if", "--since", since.isoformat())
    with pytest.raises(replay.TooMuch):
        replay.read(since, since + LENGTH, 3)
