"""What the pages show: of the right jobs, escaped, masked; and in answer to the script, only what changed."""

import re
import uuid
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs

import psycopg
import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import override_settings
from django.urls import clear_script_prefix, set_script_prefix
from django.utils import timezone

from jobs import store
from jobs.console.ops.shared import search_language, snapshot
from jobs.engine.verbs import limits
from jobs.engine.verbs.pause import pause_job_type
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job, JobLog, PausedJobType, Worker
from jobs.pages import regions
from jobs.reading.health import RULES
from jobs.sql import statement
from jobs.store import results
from tenants.models import Change, TenantQueue
from tests.callers import browser_of
from tests.factories import MemberFactory, QueueFactory, TenantFactory, make_job
from tests.integration.dashboard.reading import text

pytestmark = pytest.mark.django_db


def versions(page: str) -> dict[str, str]:
    return dict(re.findall(r'data-region="(\w+)" data-v="(\w+)"', page))


def live(client, path: str, known: dict[str, str]):
    return client.get(path, headers={"Live": " ".join(f"{name}={version}" for name, version in known.items())})


class TestLive:
    def test_nothing_new_is_an_empty_answer(self, client):
        QueueFactory(name="default")
        known = versions(text(client.get("/ops/queues/")))
        assert set(known) == {"old", "queues", "heat", "held", "types", "pages", "alarm"}
        answer = live(client, "/ops/queues/", known)
        assert (answer.status_code, answer.content) == (204, b"")

    def test_only_the_regions_that_changed_come_and_with_a_token_that_works(self, client):
        known = versions(text(client.get("/ops/queues/")))
        PausedJobType.objects.create(source_type="a", source_method="b")
        answer = text(live(client, "/ops/queues/", known))
        assert list(versions(answer)) == ["types"]
        assert "<html" not in answer
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', answer)[1]
        assert len(token) == 64
        assert "\x00" not in answer
        assert live(client, "/ops/queues/", known | versions(answer)).status_code == 204

    @pytest.mark.parametrize("known", ["", "nonsense", "a=b=c ==", "queues=" + "x" * 2000])
    def test_a_strange_header_gets_all(self, client, known):
        answer = client.get("/ops/queues/", headers={"Live": known})
        assert set(versions(text(answer))) >= {"queues", "types"}

    def test_a_list_of_jobs_asks_for_its_numbers_alone(self, client, django_assert_max_num_queries):
        make_job(TenantFactory())
        page = text(client.get("/ops/jobs/"))
        answer = live(client, "/ops/jobs/", versions(page))
        assert answer.status_code == 204


@pytest.mark.usefixtures("lasting")
class TestShared:
    """The overview, which operators leave open: its regions are rendered once for all who may see the same."""

    @pytest.fixture
    def rendered(self, monkeypatch):
        """The regions that were rendered."""
        rendered, render = [], regions._region
        monkeypatch.setattr(regions, "_shared", {})
        monkeypatch.setattr(regions, "_region", lambda *args: rendered.append(args[1]) or render(*args))
        return rendered

    def test_a_second_operator_gets_what_was_rendered_for_the_first_with_a_token_that_is_its_own(
        self, operator, rendered
    ):
        make_job(TenantFactory(), queue=QueueFactory(name="nightly", paused=True))
        one, other = (operator("view_job", "view_queue", "change_queue") for _ in range(2))
        first, count = text(live(one, "/ops/", {})), len(rendered)
        second = text(live(other, "/ops/", {}))
        assert (versions(first), len(rendered)) == (versions(second), count)
        secrets = [re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1] for page in (first, second)]
        assert secrets[0] != secrets[1]
        text(live(other, "/ops/?range=6h", {}))
        assert len(rendered) > count

    def test_a_stranger_gets_only_what_it_may_see_though_a_colleague_has_asked_before(self, operator, rendered):
        make_job(TenantFactory(), queue=QueueFactory(name="nightly", paused=True))
        assert "/ops/queues/" in text(live(operator("view_job", "view_queue", "change_queue"), "/ops/", {}))
        stranger = text(live(operator("view_job"), "/ops/", {}))
        assert "/ops/queues/" not in stranger
        assert "csrfmiddlewaretoken" not in stranger

    def test_a_value_that_is_read_again_is_rendered_again(self, client, rendered):
        make_job(TenantFactory())
        before = versions(text(live(client, "/ops/", {})))
        make_job(TenantFactory())
        snapshot.current.forget()
        assert "numbers" in versions(text(live(client, "/ops/", before)))


class TestSearch:
    @pytest.fixture
    def jobs(self):
        acme, other = TenantFactory(slug="acme"), TenantFactory(slug="other")
        mail = QueueFactory(name="mail")
        found = make_job(
            *(acme, Status.ERROR),
            queue=mail,
            source_id="7",
            user_key="ines",
            last_error="ValueError: no",
            args={"Year": 2004},
        )
        make_job(other, Status.SUCCESS, source_type="shop.order", user_key="otto", last_error="ValueErrors: x")
        return found

    @pytest.mark.parametrize(
        "typed",
        [
            "status:error",
            "tenant:acme",
            "queue:mail",
            "user:ines",
            "error:ValueError",
            "type:reports.datareport",
            "type:reports.datareport.execute",
            "reports.datareport.execute",
            "reports.datareport.execute:7",
            "status:error type:reports.datareport.execute:7 source:7",
            "args.Year:2004",
            "status:error  tenant:acme since:1h",
        ],
    )
    def test_each_word_finds_what_fits_and_nothing_else(self, client, jobs, typed):
        page = text(client.get("/ops/jobs/", {"q": typed}))
        assert re.findall(r'name="ids" value="(\d+)"', page) == [str(jobs.pk)]

    @pytest.mark.parametrize(
        "typed",
        [
            *("user:ines tenant:other", "args.Year:2005", "error:Value"),
            *("reports.datareport.execute:8", "reports.datareport.other"),
        ],
    )
    def test_words_that_do_not_all_fit_find_nothing(self, client, jobs, typed):
        assert "No job matches" in text(client.get("/ops/jobs/", {"q": typed}))

    def test_a_field_of_a_row_adds_a_filter_and_a_chip_removes_it(self, client, jobs):
        page = text(client.get("/ops/jobs/", {"q": "user:ines tenant:acme"}))
        found = re.findall(r'<a href="(\?[^"]*)">([^<]+)</a', page)
        links = {label: unescape(address) for address, label in found}
        assert {label: parse_qs(links[label][1:])["q"][0] for label in ("mail", "7")} == {
            "mail": "user:ines tenant:acme queue:mail",
            "7": "user:ines tenant:acme source:7",
        }
        for address in links.values():
            assert f'value="{jobs.pk}"' in text(client.get(f"/ops/jobs/{address}"))
        chips = re.findall(r'<a href="([^"]*)"><span class="unseen">Remove</span> (\S+) ×', page)
        assert [(unescape(address), word) for address, word in chips] == [
            ("?q=tenant%3Aacme", "user:ines"),
            ("?q=user%3Aines", "tenant:acme"),
        ]

    def test_a_word_replaces_the_one_of_its_name_and_what_no_word_can_say_is_no_link(self, client, jobs):
        assert (
            search_language.with_word("tenant:a reports.x.y:3 since:1h", "type", "a.b.c")
            == "tenant:a since:1h type:a.b.c"
        )
        assert search_language.with_word("Tenant:a args.x:1", "tenant", "b") == "args.x:1 tenant:b"
        assert search_language.with_word('q source:"c d"', "source", "a b") == 'q source:"a b"'
        assert (search_language.with_word("q", "source", 'a"b'), search_language.with_word("q", "source", "")) == (
            "",
            "",
        )
        Job.objects.filter(pk=jobs.pk).update(source_id="a b")
        page = text(client.get("/ops/jobs/", {"q": 'source:"a b"'}))
        assert re.findall(r'name="ids" value="(\d+)"', page) == [str(jobs.pk)]
        Job.objects.filter(pk=jobs.pk).update(source_id='a"b')
        assert ' class="whole">:a&quot;b</span></td>' in text(client.get("/ops/jobs/", {"q": "user:ines"}))

    @pytest.mark.parametrize(
        ("typed", "told"),
        [
            ("nonsense", "is not of the form name:value"),
            ("colour:red", "is unknown; names: status, tenant"),
            ("status:lost", "status: 'lost' is unknown; known: blocked, scheduled, created"),
            ("tenant:nobody", "'nobody' is unknown; known: "),
            ("queue:none", "'none' is unknown; known: "),
            ("since:yesterday", "since: must be like 30m, 1h, 7d"),
            ("since:999999999d", "at most ten years"),
            ("9" * 30, "no job has an id above"),
            ("status:", "is not of the form"),
            ("args.a:" + "[" * 700 + "]" * 700, "are nested more than 50 levels deep"),
        ],
    )
    def test_a_wrong_word_is_told_with_what_is_allowed(self, client, jobs, typed, told):
        page = text(client.get("/ops/jobs/", {"q": typed}))
        assert told.lower() in page.lower().replace("&#x27;", "'")
        assert "ids" not in re.findall(r'name="(\w+)"', page)

    def test_jobs_are_found_by_when_they_ended(self, client):
        at = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=30)
        early, late = (make_job(TenantFactory(), Status.SUCCESS, end_time=at + timedelta(seconds=s)) for s in (0, 60))
        make_job(TenantFactory())
        for begin, job in ((at, early), (at + timedelta(minutes=1), late)):
            words = f"ended_since:{begin:%Y-%m-%dT%H:%M} ended_until:{begin + timedelta(minutes=1):%Y-%m-%dT%H:%M}"
            page = text(client.get("/ops/jobs/", {"q": words}))
            assert re.findall(r'name="ids" value="(\d+)"', page) == [str(job.pk)]
        assert "ended_until: must be like" in text(client.get("/ops/jobs/", {"q": "ended_until:noon"})).lower()

    @pytest.mark.parametrize("typed", ["args.password:x", 'args.login:{"api-token":"x"}', "args.Client_Secret:1"])
    def test_a_masked_argument_cannot_be_guessed_by_a_search(self, client, typed):
        make_job(TenantFactory(), args={"password": "x", "login": {"api-token": "x"}, "Client_Secret": 1})
        page = text(client.get("/ops/jobs/", {"q": typed}))
        assert "what JOBS_MASKED_ARGS masks cannot be searched" in page
        assert "<tbody>" not in page

    def test_a_number_opens_its_job_and_an_unknown_one_is_not_found(self, client, jobs):
        response = client.get("/ops/jobs/", {"q": str(jobs.pk)})
        assert response["Location"] == f"/ops/jobs/{jobs.pk}/"
        response = client.get("/ops/jobs/999999999/")
        assert response.status_code == 404
        page = response.content.decode()
        assert "There is no job 999999999. The highest id is " in page
        assert 'href="/ops/jobs/"' in page, "the menu, to go on"
        assert client.get(f"/ops/jobs/{2**64}/").status_code == 404

    @pytest.mark.parametrize("before", ["x", "-1", "٣", "9" * 30])
    def test_a_strange_position_is_no_error(self, client, jobs, before):
        assert client.get("/ops/jobs/", {"before": before}).status_code == 200


class TestJob:
    def test_the_page_of_a_job_says_why_it_waits_and_how_to_change_that(self, client):
        tenant = TenantFactory(name="Owner & Co.", slug="acme")
        TenantQueue.objects.update(num_slots=1)
        make_job(tenant, Status.QUEUED)
        page = text(client.get(f"/ops/jobs/{make_job(tenant).pk}/"))
        assert "All slots of tenant Owner &amp; Co. are in use: 1 of 1." in page
        assert "manage.py tenants slots acme --set N" in page
        assert 'href="/ops/tenants/acme/#limits"' in page

    @pytest.mark.parametrize("closed", ["tenant", "queue", "type"])
    def test_a_gate_that_somebody_closed_is_opened_by_a_button(self, client, closed):
        tenant, queue = TenantFactory(slug="acme"), QueueFactory(name="mail")
        job = make_job(tenant, queue=queue, source_type="sample.thing", source_method="echo")
        {
            "tenant": lambda: limits.change(tenant.jobs_queue, {"paused": True}),
            "queue": lambda: limits.change(queue, {"paused": True}),
            "type": lambda: pause_job_type("sample.thing", "echo"),
        }[closed]()
        page = text(client.get(f"/ops/jobs/{job.pk}/"))
        [(address, form)] = re.findall(
            r'class="verbs" action="(/ops/[^"]+)" method="post">(.*?)</form>', page, re.DOTALL
        )
        values = dict(re.findall(r'name="(paused|type|next)" value="([^"]*)"', form))
        assert client.post(address, values)["Location"] == f"/ops/jobs/{job.pk}/"
        assert "No live worker serves pool default" in text(client.get(f"/ops/jobs/{job.pk}/"))

    def test_a_job_that_its_queue_holds_leads_to_the_form_of_that_limit(self, client, register):
        register(concurrency=2)
        queue, tenant = QueueFactory(name="mail", concurrency=1), TenantFactory()
        QueueFactory(name="letters", concurrency=1)
        make_job(tenant, Status.RUNNING, queue=queue)
        page = text(client.get(f"/ops/jobs/{make_job(tenant, queue=queue).pk}/"))
        assert f'<a href="/ops/queues/?change=mail#queue-{queue.pk}">Limits of queue mail</a>' in page
        form = text(client.get("/ops/queues/?change=mail"))
        assert re.findall(r'action="/ops/queues/(\w+)/change"', form.partition('id="heat"')[0]) == ["mail"] * 2

    def test_without_the_permission_there_is_no_button(self, operator):
        job = make_job(TenantFactory(queue__paused=True))
        page = text(operator("view_job").get(f"/ops/jobs/{job.pk}/"))
        assert "is paused" in page
        assert "Resume" not in page.replace("--resume", "")

    @pytest.mark.parametrize("status", Status)
    def test_every_status_has_its_page(self, client, status):
        page = text(client.get(f"/ops/jobs/{make_job(TenantFactory(), status).pk}/"))
        assert ("Revive</button>" in page) == (status in (Status.ERROR, Status.DEAD, Status.CANCELLED))
        assert ("/ops/jobs/cancel" in page) == (status not in (*Status,)[5:])

    def test_its_result_is_shown_while_it_is_kept_masked_and_as_text(self, client, monkeypatch):
        value = {"rows": ["<b>bold</b>\x1b"], "api_token": "secret-789"}
        job = make_job(TenantFactory(), Status.SUCCESS, result_expires_at=timezone.now() + timedelta(hours=1))
        Job.objects.update(result_bytes=results.keep(job, results.as_text(value), ttl=60))
        page = text(client.get(f"/ops/jobs/{job.pk}/"))
        assert "&lt;b&gt;bold" in page
        assert "secret-789" not in page and "<b>bold" not in page and "\x1b" not in page
        monkeypatch.setattr("jobs.console.ops.job.view.MAX_RESULT", 10)
        page = text(client.get(f"/ops/jobs/{job.pk}/"))
        assert "bold" not in page and "too large for this page" in page
        Job.objects.update(result_expires_at=timezone.now() - timedelta(hours=1))
        assert "too large" not in text(client.get(f"/ops/jobs/{job.pk}/"))

    def test_secrets_are_masked_and_markup_is_shown_as_it_is(self, client):
        args = {"password": "hunter2", "text": "<script>alert(1)</script>", "deep": [{"Api-Key": "k-123"}]}
        job = make_job(TenantFactory(), Status.DEAD, args=args, stats={"token": "tok-456"}, last_error="E: \x1b[2J<b>")
        FailedAttempt.objects.create(
            job=job, attempt=1, error_class="E", error="\u202e<b>", traceback="</pre>", end_time=job.end_time
        )
        page = text(client.get(f"/ops/jobs/{job.pk}/"))
        for hidden in ("hunter2", "k-123", "tok-456", "<script>alert", "\x1b", "\u202e", "</pre></pre>", "<b>"):
            assert hidden not in page
        assert "•••" in page

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("", "<code>{}</code>"),
            ("https://traces.example/t/{trace_id}?a=1&b", '<a href="https://traces.example/t/{}?a=1&amp;b"><code>'),
        ],
    )
    def test_its_trace_is_shown_and_linked_if_there_is_an_address(self, client, settings, url, shown):
        settings.JOBS_TRACE_URL = url
        trace = "0af7651916cd43dd8448eb211c80319c"
        traced = make_job(TenantFactory(), trace_parent=f"00-{trace}-b7ad6b7169203331-01")
        page = text(client.get(f"/ops/jobs/{traced.pk}/"))
        assert shown.format(trace) in page
        assert page.count("traces.example") == bool(url)
        other = make_job(TenantFactory())
        assert "<dt>Trace</dt>" not in text(client.get(f"/ops/jobs/{other.pk}/"))


def test_tenants_are_found_by_name_and_state_also_those_without_work(client):
    busy, idle = TenantFactory(name="Busy", slug="busy"), TenantFactory(name="Idle", slug="idle")
    make_job(busy, Status.QUEUED)

    def shown(**query):
        return [one.tenant.id for one, _ in client.get("/ops/tenants/", query).context["tenants"]]

    assert shown() == [busy.pk]
    assert shown(state="busy") == [busy.pk]
    assert shown(state="full") == []
    assert shown(q="idl") == [idle.pk]
    assert shown(state="all") == [busy.pk, idle.pk]
    assert shown(page="x") == shown(page="-1") == [busy.pk]


def test_where_no_worker_runs_the_pages_say_how_to_start_one(client, register):
    QueueFactory(name="default")
    for path in ("/ops/", "/ops/workers/"):
        assert "manage.py jobs worker" in text(client.get(path)), path
    register()
    assert "manage.py jobs worker" not in text(client.get("/ops/"))


def test_a_list_without_rows_says_what_makes_the_first_one(client):
    found = {path: " ".join(text(client.get(f"/ops/{path}/")).split()) for path in ("jobs", "schedules")}
    assert "No job yet. Submit one with New job" in found["jobs"]
    assert "No schedule yet. Declare it in code, or make it here." in found["schedules"]
    assert "No job matches" in text(client.get("/ops/jobs/", {"q": "status:dead"}))
    assert "New webhook." in text(client.get("/ops/webhooks/"))


def test_a_worker_shows_what_it_ended_lately_and_how_often_it_crashed(client, register):
    mine, other = register(concurrency=2), register(concurrency=2)
    tenant, now = TenantFactory(), timezone.now()
    for end_time in (now, now, now - timedelta(minutes=2)):
        make_job(tenant, Status.SUCCESS, worker=mine, end_time=end_time)
    job = make_job(tenant, Status.ERROR, worker=other)
    failures = [("ProcessDied", 0), ("WorkerGone", 23), ("WorkerGone", 25), ("ValueError", 0), ("SharedDeath", 1)]
    for attempt, (error, hours) in enumerate(failures, start=1):
        facts = {"error_class": error, "end_time": now - timedelta(hours=hours), "worker": other}
        FailedAttempt.objects.create(job=job, attempt=attempt, **facts)
    shown = client.get("/ops/workers/").context["workers"]
    assert {row.worker.id: (row.work.ended, row.work.crashes) for row in shown} == {
        mine: (2, 0),
        other: (1, 3),
    }


def test_how_long_a_deploy_would_wait_is_told(client, register, settings):
    settings.JOBS_DEFAULT_TIMEOUT, settings.JOBS_TIMEOUT_GRACE = 300.0, 10.0
    worker, tenant, now = register(concurrency=3), TenantFactory(), timezone.now().replace(microsecond=0)
    idle = client.get("/ops/workers/")
    assert idle.context["running"].all_by is None
    assert "No worker's clock leads" in text(idle)
    with psycopg.connect(**connection.get_connection_params()) as session:
        session.execute(statement("lead"))
        led = text(client.get("/ops/workers/"))
    assert "A separate <code>manage.py clock</code> leads." in led and "No worker's clock leads" not in led
    slow = QueueFactory(name="slow", default_timeout=600.0)
    long_ago = now - timedelta(seconds=200)
    make_job(tenant, Status.RUNNING, worker=worker, start_time=now)
    make_job(tenant, Status.RUNNING, worker=worker, start_time=long_ago, queue=slow)
    make_job(tenant, Status.RUNNING, worker=worker, start_time=now, timeout=5.0)
    shown = client.get("/ops/workers/").context
    assert (shown["running"].jobs, shown["running"].longest_since) == (3, long_ago)
    assert shown["running"].all_by == long_ago + timedelta(seconds=610)
    assert shown["open_migrations"] == []
    MigrationRecorder(connection).record_unapplied("tenants", "0001_initial")
    assert client.get("/ops/workers/").context["open_migrations"] == ["tenants.0001_initial"]


def test_a_worker_shows_what_it_runs_only_to_those_who_may_see_jobs(client, operator, register):
    job = make_job(TenantFactory(), Status.RUNNING, worker=register(concurrency=2))
    assert f"/ops/jobs/{job.pk}/" in text(client.get("/ops/workers/"))
    assert f"/ops/jobs/{job.pk}/" not in text(operator("view_worker").get("/ops/workers/"))


def test_the_log_of_an_attempt_is_for_operators_and_no_strangers(client, operator):
    job = make_job(TenantFactory(), Status.SUCCESS)
    JobLog.objects.create(tenant=job.tenant, job_id=job.pk, attempt=1, text="<b>sent\x1b[2J 3 mails")
    other = make_job(TenantFactory(), Status.SUCCESS)
    path = f"/ops/jobs/{job.pk}/"
    assert "&lt;b&gt;sent" in text(client.get(path))
    assert "\x1b" not in text(client.get(path))
    assert "sent" not in text(client.get(f"/ops/jobs/{other.pk}/"))
    assert operator("view_worker").get(path).status_code == 403


def test_the_rows_of_attempts_say_what_failed_where_and_who_revived_the_job(client, operator, register):
    now, worker = timezone.now(), register()
    job = make_job(TenantFactory(), Status.CREATED, attempt=2, created_at=now - timedelta(minutes=20), worker=worker)
    FailedAttempt.objects.create(
        job=job,
        attempt=1,
        error_class="ValueError",
        error="<b>no",
        traceback="line 7 of /srv",
        worker=worker,
        start_time=now - timedelta(minutes=19),
        end_time=now - timedelta(minutes=18),
    )
    about = {"kind": "jobs.job", "subject": "job", "values": {}}
    revived = Change.objects.create(who="quentin", verb="revived", subject_id="", bulk=uuid.uuid4(), **about)
    revived.subjects.create(subject_id=job.pk)
    Change.objects.create(who="mallory", verb="revived", subject_id=str(job.pk + 1), **about)
    Change.objects.filter(pk=revived.pk).update(at=now - timedelta(minutes=1))
    name = Worker.objects.get(pk=worker).name
    ops = text(client.get(f"/ops/jobs/{job.pk}/"))
    wanted = ["Revived by quentin", "had ended for 17 min", "Attempt 2 was no failure", "ValueError: &lt;b&gt;no", name]
    assert [said for said in [*wanted, "line 7 of /srv"] if said not in ops] == []
    assert "mallory" not in ops
    assert "quentin" not in text(operator("view_job").get(f"/ops/jobs/{job.pk}/"))
    mate, stranger = (browser_of(MemberFactory(tenant=one).user) for one in (job.tenant, TenantFactory()))
    members = text(mate.get(f"/jobs/{job.pk}/"))
    assert "Revived by an operator" in members and "had ended for 17 min" in members
    assert [said for said in ("quentin", "/srv", "&lt;b&gt;no", "traceback", name) if said in members] == []
    assert stranger.get(f"/jobs/{job.pk}/").status_code == 404
    Change.objects.update(who="frances", actor_tenant_id=job.tenant_id)
    assert "Revived by frances" in text(mate.get(f"/jobs/{job.pk}/"))


def test_how_a_worker_went_is_told(client, register):
    stopped, lost, live = register(), register(), register()
    store.leave(stopped)
    Worker.objects.filter(pk=lost).update(beat_at=timezone.now() - timedelta(minutes=1))
    store.declare_gone()
    shown = client.get("/ops/workers/")
    assert {worker.id: worker.lost for worker, *_ in shown.context["gone"]} == {stopped: False, lost: True}
    assert re.findall(r'"How">\s*(?:<strong class="bad">)?(\w+)', text(shown)) == ["lost", "stopped"]
    assert [row.worker.id for row in shown.context["workers"]] == [live]


def test_a_draining_worker_says_until_when_at_the_latest(client, operator, register, settings):
    settings.JOBS_DEFAULT_TIMEOUT, settings.JOBS_TIMEOUT_GRACE = 300.0, 10.0
    busy, since = register(concurrency=2), timezone.now().replace(microsecond=0)
    make_job(TenantFactory(), Status.RUNNING, worker=busy, start_time=since)
    assert "running, takes no more" not in text(client.get("/ops/workers/"))
    Worker.objects.filter(pk=busy).update(concurrency=0)
    page = text(client.get("/ops/workers/"))
    assert "1 running, takes no more; at the latest until\n" in page
    assert [row.last_end for row in client.get("/ops/workers/").context["workers"]] == [since + timedelta(seconds=310)]
    assert "1 running, takes no more\n" in text(operator("view_worker").get("/ops/workers/"))


def test_health_shows_the_conditions_that_hold_and_counts_the_others(client, settings):
    settings.JOBS_BEAT_INTERVAL = 1e-6
    store.beat(uuid.uuid4(), name="quiet@host", pid=1, pool="other", capacity=1)
    page = text(client.get("/ops/health/"))
    assert "Worker quiet@host of pool other missed three heartbeats." in page
    assert re.search(r"worker_silent<.code>.*no_clock<.code>\s*No clock leads", page, re.DOTALL), (
        "the cause, and its consequence"
    )
    assert f"{len(RULES) - 2} other checks" in page
    assert 'href="/ops/runbooks/worker_silent/"' in page
    for rule in RULES:
        runbook = text(client.get(f"/ops/runbooks/{rule.code}/"))
        assert f"<code>{rule.code}</code>)</h1>" in runbook
        assert not re.search(r'href="(?!/ops/|/admin/|/static/|https://|#)[^"]', runbook)
    assert client.get("/ops/runbooks/nothing/").status_code == 404
    assert "glossary" not in page
    settings.JOBS_DOCS_URL = "https://wiki.example/docs/"
    page = text(client.get("/ops/health/"))
    assert 'href="https://wiki.example/docs/runbooks/worker_silent.html"' in page
    assert 'href="https://wiki.example/docs/glossary.html">What the words mean' in page


def test_the_theme_is_kept_for_the_pages_wherever_they_are(client):
    with override_settings():  # forgets at its end STATIC_URL, which Django keeps with the prefix that it met first
        set_script_prefix("/inner/")
        try:
            client.post("/ops/theme", {"theme": "dark"})
        finally:
            clear_script_prefix()
    assert client.cookies["theme"]["path"] == "/inner/ops/"
