"""`manage.py jobs`: each subcommand for people and as JSON, and what it refuses."""

import json
import re
from datetime import timedelta
from functools import partial

import pytest
from django.core.management import ManagementUtility
from django.utils import timezone

from jobs import store
from jobs.console.cli import jobs_change
from jobs.console.operations import verbs
from jobs.lifecycle import Status
from jobs.models import HELD_UNTIL, BlockedLoop, Job, PausedJobType, Worker
from jobs.store import Failure
from tenants import audit
from tenants.models import Change
from tests.factories import QueueFactory, TenantFactory, ThingFactory, make_job
from tests.integration.cli import running

pytestmark = pytest.mark.django_db(transaction=True)
run = partial(running.run, "jobs")
refusal = partial(running.refusal, "jobs")


def run_json(*words: object) -> dict:
    return json.loads(run(*words, "--json"))


@pytest.fixture
def tenant():
    return TenantFactory(slug="acme", queue__num_slots=50)


@pytest.fixture
def thing(tenant):
    return ThingFactory(tenant=tenant)


def dead(tenant, worker, error: str = "ValueError") -> Job:
    job = make_job(tenant, Status.RUNNING, worker=worker, source_type="sample.thing")
    assert store.fail(job.pk, job.attempt, Failure(error, "no such region"), dead=True)
    return job


class TestSubmit:
    def test_a_job_is_stored_with_the_given_options(self, thing):
        QueueFactory(name="emails")
        words = ["--tenant", "acme", "--args", '{"value": [1]}', "--queue", "emails", "--priority", 0]
        out = run("submit", "sample.thing", thing.pk, "echo", *words, "--delay", 60, "--timeout", 9, "--user", "ada")
        job = Job.objects.get()
        assert out == f"Submitted job {job.pk}.\n"
        assert (job.args, job.queue.name, job.priority, job.user_key) == ({"value": [1]}, "emails", 0, "ada")
        assert (job.status, job.timeout, job.source_id) == ("scheduled", 9, str(thing.pk))

    def test_an_identical_one_is_said_to_be_there_unless_one_asks_for_another(self, thing):
        words = ["submit", "sample.thing", thing.pk, "echo", "--tenant", "acme"]
        first, second = run_json(*words), run_json(*words)
        assert (first["deduplicated"], second) == (False, {"id": first["id"], "deduplicated": True})
        assert run(*words) == f"This call is part of a job that was there before: job {first['id']}.\n"
        assert run_json(*words, "--no-dedup")["id"] != first["id"]

    def test_a_job_of_the_class_and_a_moment(self, tenant):
        run("submit", "sample.thing", "-", "everything", "--tenant", "acme", "--at", "2027-01-31T09:00:00+01:00")
        job = Job.objects.get()
        assert (job.source_id, job.due_at.isoformat()) == (None, "2027-01-31T08:00:00+00:00")

    def test_a_function_without_the_dash_in_place_of_an_id_is_refused_with_what_to_type(self, tenant):
        words = ["submit", "tests.sample.tasks", "send_mail", "--tenant", "acme"]
        assert refusal(*words).endswith("has a dash as its id: tests.sample.tasks - send_mail")
        assert run_json(*words[:2], "-", *words[2:])["deduplicated"] is False

    def test_a_submit_is_noted_unless_an_identical_job_is_there(self, thing):
        for _ in range(2):
            run("submit", "sample.thing", thing.pk, "echo", "--tenant", "acme")
        change = Change.objects.get()
        assert (change.verb, change.subject, change.tenant_id) == (
            "submitted",
            f"job {Job.objects.get().pk}",
            thing.tenant_id,
        )

    def test_a_submitted_job_is_dispatched_at_once(self, thing, register, sent):
        register()
        assert [run_json("submit", "sample.thing", thing.pk, "echo", "--tenant", "acme")["id"]] == [c.id for c in sent]

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["sample.thing", "ID", "echo", "--tenant", "nobody"], "tenant: 'nobody' is unknown; known: acme, other"),
            (["sample.thing", "ID", "echo"], "the following arguments are required: --tenant"),
            (["sample.nothing", "ID", "echo", "--tenant", "acme"], "source_type: 'sample.nothing' is unknown; known:"),
            (["sample.thing", "ID", "not_a_job", "--tenant", "acme"], "source_method: 'not_a_job' is not a job; jobs:"),
            (["sample.thing", "0", "echo", "--tenant", "acme"], "source_id: there is no sample.thing '0'"),
            (["sample.thing", "ID", "echo", "--tenant", "other"], "belongs to tenant acme, not to other"),
            (["sample.thing", "ID", "echo", "--tenant", "acme", "--args", "[1]"], "--args: must be a JSON object"),
            (["sample.thing", "ID", "echo", "--tenant", "acme", "--args", "{"], "--args: must be a JSON object"),
            (["sample.thing", "ID", "echo", "--tenant", "acme", "--args", '{"no": 1}'], "args: do not fit echo("),
            (["sample.thing", "ID", "echo", "--tenant", "acme", "--queue", "no"], "queue: 'no' is unknown; known:"),
            (
                ["sample.thing", "ID", "echo", "--tenant", "acme", "--priority", "11"],
                "--priority: must be a whole number from 0 to 10, not '11'",
            ),
            (["sample.thing", "ID", "echo", "--tenant", "acme", "--delay", "soon"], "--delay: must be a number of"),
            (
                ["sample.thing", "ID", "echo", "--tenant", "acme", "--delay", "nan"],
                "delay: must be a number of seconds",
            ),
            (["sample.thing", "ID", "echo", "--tenant", "acme", "--at", "noon"], "--at: must be like 2030-01-31T09:00"),
            (["sample.thing", "ID", "echo", "--tenant", "acme", "--at", "2120-01-31"], "at: needs a time zone"),
            (
                ["sample.thing", "ID", "echo", "--tenant", "acme", "--delay", "1", "--at", "2026-12-31T00:00Z"],
                "delay: give either delay or at",
            ),
        ],
    )
    def test_refusals_name_the_field_and_store_nothing(self, thing, words, says):
        TenantFactory(slug="other")
        assert says in refusal("submit", *(str(thing.pk) if word == "ID" else word for word in words))
        assert not Job.objects.exists()

    def test_a_full_backlog_is_said_to_be_with_the_way_out(self, tenant, thing):
        tenant.jobs_queue.max_waiting = 0
        tenant.jobs_queue.save()
        assert refusal("submit", "sample.thing", thing.pk, "echo", "--tenant", "acme") == (
            "tenant: The backlog is full: at most 0 jobs may wait. Try again later, "
            "or allow more: manage.py tenants slots acme --max-waiting N"
        )
        assert not Job.objects.exists()


class TestList:
    def test_newest_first_and_no_more_than_asked_for(self, tenant):
        jobs = [make_job(tenant).pk for _ in range(4)]
        found = run_json("list", "--limit", 3)
        assert ([job["id"] for job in found["jobs"]], found["more"]) == (jobs[:0:-1], True)
        assert f"Older jobs may match: --before {jobs[1]}" in run("list", "--limit", 3)
        assert "--before" not in run("list", "--limit", 4)

    def test_below_an_id_whatever_the_status(self, tenant, register):
        worker = register()
        dead_ones = [dead(tenant, worker).pk for _ in range(2)]
        held = [make_job(tenant, Status.SCHEDULED).pk for _ in range(2)]
        for status, (older, newer) in [("dead", dead_ones), ("scheduled", held)]:
            found = run_json("list", "--status", status, "--before", newer)
            assert [job["id"] for job in found["jobs"]] == [older], status

    def test_the_filters(self, tenant, register):
        other = TenantFactory(slug="other")
        emails = QueueFactory(name="emails")
        Worker.objects.filter(pk=(worker := register())).update(name="machine")
        here = make_job(tenant, Status.RUNNING, source_type="sample.thing", source_method="echo", worker=worker)
        there = make_job(
            other, queue=emails, source_type="sample.thing", source_method="urgent", retries=1, batch_id=77
        )
        gone = make_job(other, Status.SCHEDULED, source_type="code.gone", source_method="echo", due_at=HELD_UNTIL)
        ago = timezone.now() - timedelta(hours=3)
        old = {"source_type": "x.y", "source_method": "z", "created_at": ago}
        failed = make_job(tenant, Status.ERROR, **old)
        earlier = make_job(tenant, Status.ERROR, **old, end_time=ago)
        for words, expected in [
            (["--tenant", "acme", "--status", "running"], {here.pk}),
            (["--ended-since", "1h"], {failed.pk}),
            (["--ended-since", "5h", "--ended-until", "1h"], {earlier.pk}),
            (["--queue", "emails"], {there.pk}),
            (["--status", "running"], {here.pk}),
            (["--status", "success"], set()),
            (["--type", "sample.thing"], {here.pk, there.pk}),
            (["--type", "sample.thing.urgent"], {there.pk}),
            (["--type", "code.gone"], {gone.pk}),
            (["--status", "held"], {gone.pk}),
            (["--worker", "machine"], {here.pk}),
            (["--retried", "yes"], {there.pk}),
            (["--batch", "77"], {there.pk}),
            (["--retried", "no", "--tenant", "other"], {gone.pk}),
            (["--until", "4h"], set()),
            (["--since", "1h", "--until", "2999-01-31T02:00"], {here.pk, there.pk, gone.pk}),
            (["--tenant", "acme", "--queue", "emails"], set()),
        ]:
            assert {job["id"] for job in run_json("list", *words)["jobs"]} == expected, words

    @pytest.mark.parametrize("status", Status)
    def test_each_status_finds_its_own(self, tenant, status, register):
        for other in set(Status) - {Status.DEAD}:
            make_job(tenant, other)
        dead(tenant, register())
        assert {job["status"] for job in run_json("list", "--status", status)["jobs"]} == {status.value}

    def test_dead_letters_by_error(self, tenant, register):
        worker = register()
        first, _, third = dead(tenant, worker), dead(tenant, worker, "KeyError"), dead(tenant, worker)
        found = run_json("list", "--status", "dead", "--error", "ValueError")["jobs"]
        assert [job["id"] for job in found] == [third.pk, first.pk]
        assert "KeyError: no such region" in run("list", "--status", "dead")
        assert run("list", "--status", "dead", "--error", "Value") == "No jobs match.\n"

    def test_the_job_due_first_stands_first_and_a_held_one_has_no_date(self, tenant):
        make_job(tenant, Status.SCHEDULED, due_at=HELD_UNTIL)
        late = make_job(tenant, Status.SCHEDULED, due_at="2030-02-01T00:00Z")
        soon = make_job(tenant, Status.SCHEDULED, due_at="2030-01-01T00:00Z")
        found = run_json("list", "--status", "scheduled")["jobs"]
        assert [job["id"] for job in found][:2] == [soon.pk, late.pk]
        assert (found[2]["held"], found[2]["due_at"]) == (True, None)
        shown = run("list", "--status", "scheduled")
        assert "held" in shown
        assert "9999" not in shown

    def test_nothing_found(self, tenant):
        assert run("list") == "No jobs match.\n"
        assert run_json("list") == {"jobs": [], "more": False}

    @pytest.mark.parametrize("columns", [80, 140])
    def test_each_line_fits_and_the_ids_are_never_cut(self, tenant, columns, monkeypatch, register):
        monkeypatch.setenv("COLUMNS", str(columns))
        long = TenantFactory(slug="a-tenant-with-a-very-long-name-indeed-and-more")
        job = dead(long, register())
        make_job(long, source_method="m" * 100)
        for words in ([], ["--status", "dead"]):
            lines = run("list", *words).splitlines()
            assert max(map(len, lines)) <= columns
            assert str(job.pk) in lines[-1].split()
        assert ("SUBMITTED" in run("list")) == (columns == 140)

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--tenant", "no"], "tenant: 'no' is unknown; known: acme"),
            (["--queue", "no"], "queue: 'no' is unknown; known: "),
            (["--status", "lost"], "argument --status: invalid choice: 'lost'"),
            (["--limit", "0"], "argument --limit: must be a whole number from 1 to 10,000"),
            (["--limit", "9" * 5000], "argument --limit: must be a whole number"),
        ],
    )
    def test_refusals(self, tenant, words, says):
        told = refusal("list", *words)
        assert says in told
        assert "<" not in told  # as in <Status.DEAD: 'dead'>


class TestShow:
    def test_a_job_with_its_failed_attempts(self, tenant, register):
        job = dead(tenant, register())
        audit.note("revived", Job, [(job.pk, "job")], tenant_id=tenant.pk)  # nobody acts
        with audit.acting("ines"):
            audit.note("revived", Job, [(job.pk, "job")], tenant_id=tenant.pk)
        found = run_json("show", job.pk)
        assert [one["who"] for one in found["revivals"]] == ["ines"]
        assert (found["id"], found["tenant"], found["status"], found["result_kept"]) == (job.pk, "acme", "dead", False)
        assert [failed["error_class"] for failed in found["failed_attempts"]] == ["ValueError"]
        shown = run("show", job.pk)
        assert f"job         {job.pk}" in shown
        assert shown.count("ValueError: no such region") == 2
        assert re.search(r"revived .* UTC by ines\n", shown)

    def test_a_job_waits_from_ready_to_its_start(self, tenant):
        at = {name: f"2026-01-01T00:{minute}Z" for name, minute in [("created_at", "00"), ("waited_since", "10")]}
        job = make_job(tenant, Status.SUCCESS, **at, start_time="2026-01-01T00:14Z", end_time="2026-01-01T00:20Z")
        assert "waited     4m" in run("show", job.pk)

    def test_how_long_its_body_blocked_the_loop_of_its_process_and_no_strangers_did(self, tenant, register):
        job, other = (make_job(of, Status.RUNNING, worker=register()) for of in (tenant, TenantFactory()))
        facts = {"pid": 7, "pool": "mail", "seats": 12, "job_id": job.pk, "attempt": 1, "place": "m.py:3 send"}
        BlockedLoop.objects.create(**facts, worker=job.worker, seconds=5.0)
        assert "its body blocked the other 11 seats of its process for 5.0 s, at m.py:3 send.\n" in run("show", job.pk)
        assert [one["seconds"] for one in run_json("show", job.pk)["blocked_loops"]] == [5.0]
        assert "blocked" not in run("show", other.pk)

    def test_its_result(self, tenant, thing, register):
        from jobs.store import results

        job = make_job(tenant, Status.RUNNING, worker=register())
        kept = results.keep(job, None, 60)
        assert store.succeed(job.pk, job.attempt, {"rows": 3}, 60, kept)
        found = run_json("show", job.pk)
        assert (found["result_kept"], found["result"], found["stats"]) == (True, None, {"rows": 3})
        assert '{"rows": 3}' in run("show", job.pk)

    def test_refusals(self, tenant):
        assert refusal().startswith("name a command: submit, list, ")
        assert refusal("show", 999) == "id: there is no job 999"
        assert "argument id: must be a whole number from 1 to" in refusal("show", "one")
        assert "argument id: must be a whole number from 1 to" in refusal("show", 2**63)


class TestExplain:
    def test_the_gate_for_people_and_programs(self, tenant, register):
        register()
        tenant.jobs_queue.paused = True
        tenant.jobs_queue.save()
        job = make_job(tenant)
        found = run_json("explain", job.pk)
        assert (found["gate"], found["place"], found["status"]) == ("tenant_paused", 1, "created")
        shown = run("explain", job.pk)
        assert shown.startswith(found["sentence"])
        assert "manage.py tenants slots acme --resume" in shown

    def test_a_job_that_does_not_exist_and_without_a_number_one_that_waits(self, tenant):
        assert refusal("explain", 999) == "id: there is no job 999"
        assert refusal("explain") == "id: no job is waiting; give the id of a job"
        for status in (Status.BLOCKED, Status.SCHEDULED, Status.CREATED):
            make_job(tenant, status)
            assert run_json("explain")["status"] == status


class TestChange:
    def test_cancel(self, tenant, register):
        waiting, running = make_job(tenant), make_job(tenant, Status.RUNNING, worker=register())
        assert run_json("cancel", waiting.pk, running.pk)["jobs"] == [
            {"id": waiting.pk, "outcome": "cancelled"},
            {"id": running.pk, "outcome": "requested"},
        ]
        noted = {(str(waiting.pk), "cancelled"), (str(running.pk), "asked to stop")}
        assert set(Change.objects.values_list("subject_id", "verb")) == noted
        waiting.refresh_from_db()
        assert waiting.status == "cancelled"

    def test_revive_dispatches_at_once(self, tenant, register, sent):
        job = dead(tenant, register())
        assert run("revive", job.pk) == f"Job {job.pk} waits again with a new series of attempts.\n"
        assert [claimed.id for claimed in sent] == [job.pk]

    def test_discard(self, tenant, register):
        job = dead(tenant, register())
        assert run("discard", job.pk) == f"Job {job.pk} is discarded.\n"
        assert run_json("list", "--status", "dead")["jobs"] == []

    @pytest.mark.parametrize("verb", ["cancel", "revive", "discard"])
    def test_an_impossible_change_is_named_and_the_others_are_done(self, tenant, register, verb):
        good = make_job(tenant) if verb == "cancel" else dead(tenant, register())
        success = make_job(tenant, Status.SUCCESS)
        said = refusal(verb, success.pk, good.pk, 999)
        assert said.startswith(f"id: job {success.pk} is success; there is no job 999. Only ")
        assert refusal(verb, 999) == "id: there is no job 999"
        assert Job.objects.get(pk=good.pk).status == ("queued" if verb == "revive" else "cancelled")

    def test_all_that_fit_are_counted_first_and_changed_with_yes(self, tenant, register, monkeypatch):
        monkeypatch.setattr(jobs_change, "STEP", 2)
        monkeypatch.setattr(verbs, "BATCH", 1)
        worker, other = register(), TenantFactory(slug="other", queue__num_slots=50)
        fit = [dead(tenant, worker).pk for _ in range(5)]
        others = [dead(other, worker).pk, dead(tenant, worker, "KeyError").pk]
        words = ["--tenant", "acme", "--error", "ValueError"]
        assert run("revive", *words).startswith(f"This would revive 5 jobs, such as {fit[4]}, {fit[3]}, {fit[2]}. ")
        assert Job.objects.filter(died_at__isnull=False).count() == 7
        assert run("revive", *words, "--yes") == "Revived 5 jobs.\n"
        assert set(Job.objects.filter(died_at__isnull=False).values_list("pk", flat=True)) == set(others)
        change = Change.objects.get(verb="revived")
        assert change.values["filter"] == "tenant:acme error:ValueError"
        assert set(change.subjects.values_list("subject_id", flat=True)) == set(fit)
        assert run("revive", *words) == f"Nothing to revive. {verbs.REVIVE.possible}\n"
        assert run_json("discard", *words) == {"would_change": 0}

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["cancel"], "id: give ids, or filters"),
            (["cancel", "1", "--tenant", "acme"], "id: give ids, or filters"),
            (["cancel", "--status", "dead"], "status: Only jobs that have not ended can be cancelled."),
            (["revive", "--tenant", "nobody", "--yes"], "tenant: 'nobody' is unknown; known: acme"),
            (["revive", "--since", "x"], "since: must be like 30m"),
        ],
    )
    def test_filters_that_cannot_be_are_refused(self, tenant, words, says):
        assert says in refusal(*words)


class TestPause:
    def test_waiting_jobs_are_held_until_the_type_is_resumed(self, tenant, register, sent):
        job = make_job(tenant, source_type="sample.thing", source_method="echo")
        assert run("pause", "sample.thing.echo") == "sample.thing.echo is paused; 1 job held.\n"
        job.refresh_from_db()
        assert job.due_at == HELD_UNTIL
        register()
        assert run_json("resume", "sample.thing", "echo") == {
            "source_type": "sample.thing",
            "source_method": "echo",
            "paused": False,
            "jobs": 1,
        }
        assert [claimed.id for claimed in sent] == [job.pk]

    def test_an_unknown_type_is_not_paused_and_what_is_not_paused_is_not_resumed(self, db):
        assert refusal("pause", "sample.thing", "no").startswith("source_method: 'no' is not a job; jobs: ")
        assert refusal("resume", "no.thing", "no") == "source_method: no.thing.no is not paused; paused: none"
        assert refusal("pause", "echo") == "type: write it with its method, such as reports.datareport.execute"

    def test_a_job_type_whose_code_was_removed_is_resumed(self, db):
        PausedJobType.objects.create(source_type="no.thing", source_method="removed")
        assert run("resume", "no.thing", "removed") == "no.thing.removed is resumed; 0 jobs released.\n"


@pytest.mark.parametrize("words", [["show", "999"], ["show", "one"], ["lost"], ["list", "--lost"]])
def test_a_refusal_on_the_command_line_is_one_line_and_not_zero(db, words, capfd):
    argv = ["manage.py", "jobs", *words]
    with pytest.raises(SystemExit) as left:
        ManagementUtility(argv).execute()
    said = capfd.readouterr()
    assert left.value.code != 0
    assert said.out == ""
    assert said.err.startswith("CommandError: ")
    assert said.err.count("\n") == 1
