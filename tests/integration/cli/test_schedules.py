"""`manage.py schedules`: each subcommand for people and as JSON, what it refuses, and of whom."""

import json
from functools import partial

import pytest
from django.core.management.base import CommandError

from jobs.engine.schedules import change
from jobs.models import Job, Schedule
from tenants.models import Change, TenantQueue
from tests.factories import TenantFactory, ThingFactory
from tests.integration.cli import running

pytestmark = pytest.mark.django_db
CRON = ["--cron", "0 6 * * 1-5", "--tz", "Europe/Berlin"]
run = partial(running.run, "schedules")
refusal = partial(running.refusal, "schedules")


@pytest.fixture
def thing():
    return ThingFactory(tenant=TenantFactory(slug="acme"))


@pytest.fixture
def stranger():
    return TenantFactory(slug="stranger")


def add(thing, *words: object, name: str = "Mornings") -> str:
    return run("add", name, "sample.thing", thing.pk, "echo", "--tenant", thing.tenant.slug, *words)


@pytest.fixture
def schedule(thing):
    add(thing, *CRON)
    return Schedule.objects.get()


class TestAdd:
    def test_stores_what_is_said_and_shows_it_in_words_with_the_next_five_times(self, thing):
        out = add(thing, *CRON, "--args", '{"value": 1}', "--priority", 2, "--jitter", 60, "--overlap", "skip")
        stored = Schedule.objects.get()
        assert "At 06:00 AM, Monday through Friday (Europe/Berlin)" in out
        assert out.count(":00:00 UTC") == 5
        assert out.endswith(f"Stored schedule {stored.pk}.\n")
        assert (stored.args, stored.priority, stored.jitter, stored.overlap) == ({"value": 1}, 2, 60.0, "skip")
        assert (stored.tenant.slug, stored.source_id, stored.by_tenant) == ("acme", str(thing.pk), False)
        assert Change.objects.get(kind="jobs.schedule").verb == "added"

    def test_a_schedule_of_a_class_job_has_no_object(self, thing):
        run("add", "all", "sample.thing", "-", "everything", "--tenant", "acme", "--every", 60)
        assert Schedule.objects.get().source_id is None

    def test_stores_nothing_in_a_dry_run(self, thing):
        out = add(thing, *CRON, "--dry-run")
        assert out.count(":00:00 UTC") == 5
        assert out.endswith("Nothing was stored: --dry-run.\n")
        assert json.loads(add(thing, *CRON, "--dry-run", "--json"))["id"] is None
        assert not Schedule.objects.exists()
        assert not Change.objects.exists()

    @pytest.mark.parametrize(
        ("words", "field"),
        [
            ([], "every: give either every or cron"),
            (["--every", "0.1"], "every: must be"),
            (["--every", "nan"], "every: must be"),
            (["--cron", "x"], "cron: 'x' is not a cron expression"),
            ([*CRON, "--every", "60"], "every: give either"),
            (["--cron", "@daily", "--tz", "Mars"], "tz: 'Mars' is not a time zone"),
            (["--every", "60", "--queue", "nowhere"], "queue: 'nowhere' is unknown"),
            (["--every", "60", "--args", '{"bogus": 1}'], "args: do not fit echo"),
            (["--every", "60", "--starts-at", "2030-01-01T00:00:00"], "starts_at: needs a time zone"),
            (["--every", "60", "--ends-at", "2020-01-01T00:00:00Z"], "ends_at: must be after its start"),
        ],
    )
    def test_is_refused_by_the_name_of_the_field(self, thing, words, field):
        with pytest.raises(CommandError) as refused:
            add(thing, *words)
        assert str(refused.value).startswith(field)
        assert not Schedule.objects.exists()

    def test_for_a_strangers_object_is_refused_as_for_a_missing_one(self, thing, stranger):
        call = ["add", "x", "sample.thing", thing.pk, "echo", "--tenant", "stranger", "--every", 60]
        assert refusal(*call) == f"source_id: there is no sample.thing '{thing.pk}'"


class TestList:
    def test_is_by_tenant_and_name_and_fits_80_columns(self, schedule, thing, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        change.pause(schedule)
        add(thing, "--every", 60, name="x" * 300)
        lines = run().splitlines()
        assert max(map(len, lines)) <= 80
        assert [line.split()[-1] for line in lines] == ["STATE", "paused", "on"]
        assert "Mornings" in lines[1]

    def test_the_list_of_a_tenant_has_no_strangers_and_may_be_empty(self, schedule, stranger):
        assert "Mornings" in run("list", "--tenant", "acme")
        assert run("list", "--tenant", "stranger") == "There are no such schedules.\n"
        assert refusal("list", "--tenant", "x") == "tenant: 'x' is unknown; known: acme, stranger"

    def test_is_bounded_and_says_so(self, schedule, thing):
        add(thing, "--every", 60, name="other")
        assert run("list", "--limit", 1).endswith("There are more than 1: see --tenant, --paused and --limit.\n")
        told = json.loads(run("list", "--limit", 1, "--json"))
        assert ([one["name"] for one in told["schedules"]], told["more"]) == (["Mornings"], True)
        assert json.loads(run("list", "--json"))["more"] is False
        assert json.loads(run("list", "--paused", "--json"))["schedules"] == []


class TestASchedule:
    def test_is_changed_and_shown(self, schedule):
        out = run("change", schedule.pk, "--every", 90, "--name", "Often")
        schedule.refresh_from_db()
        assert (schedule.every, schedule.cron, schedule.name) == (90.0, "", "Often")
        assert "Every 1 minute 30 seconds" in out
        run("change", schedule.pk, "--priority", "none", "--ends-at", "none", "--cron", "@daily", "--dry-run")
        schedule.refresh_from_db()
        assert schedule.every == 90.0
        assert refusal("change", schedule.pk).startswith("change: name what to change")

    def test_is_paused_resumed_run_and_deleted(self, schedule):
        assert "paused" in run("pause", schedule.pk, "--tenant", "acme")
        assert json.loads(run("resume", schedule.pk, "--json"))["paused"] is False
        assert run("run-now", schedule.pk) == f"Submitted job {Job.objects.get().pk}.\n"
        assert run("delete", schedule.pk) == f"Deleted schedule {schedule.pk}, 'Mornings'; its jobs stay.\n"
        assert not Schedule.objects.exists()
        verbs = Change.objects.filter(kind="jobs.schedule").order_by("pk").values_list("verb", flat=True)
        assert list(verbs) == ["added", "changed", "changed", "run by hand", "deleted"]

    @pytest.mark.parametrize("verb", ["change", "pause", "resume", "delete", "run-now"])
    def test_is_not_found_for_a_stranger(self, schedule, stranger, verb):
        refused = refusal(verb, schedule.pk, "--tenant", "stranger")
        assert refused.startswith(f"id: there is no schedule {schedule.pk} of stranger")
        assert refusal(verb, 999_999).startswith("id: there is no schedule 999999;")

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("words", [["change", "--every", 60], ["pause"], ["resume"], ["delete"], ["run-now"]])
    def test_is_as_none_if_somebody_deletes_it_meanwhile(self, schedule, race, words):
        race.begin("DELETE FROM schedules WHERE id = %s", schedule.pk)
        running = race.run(run, words[0], schedule.pk, *words[1:])
        if race.lost:
            with pytest.raises(CommandError, match=f"^id: there is no schedule {schedule.pk}; see"):
                running.result()
        else:
            assert running.result()

    def test_is_not_run_while_too_many_wait(self, schedule):
        TenantQueue.objects.update(max_waiting=0)
        assert "manage.py tenants slots acme --max-waiting N" in refusal("run-now", schedule.pk)

    def test_a_declared_schedule_is_neither_changed_nor_deleted(self, schedule):
        Schedule.objects.update(declared=True)
        for words in (["change", schedule.pk, "--every", 60], ["delete", schedule.pk]):
            assert refusal(*words).startswith("id: the code declares this schedule")
        run("pause", schedule.pk)
        assert Schedule.objects.get().paused
