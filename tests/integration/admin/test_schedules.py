"""The page of schedules: an operator makes them after a preview, and pauses and runs them; each takes its right."""

import json
import re
from datetime import UTC, datetime

import pytest
from django.contrib.admin.models import LogEntry

from jobs.console.admin.schedules import ScheduleAdmin
from jobs.engine.schedules import change
from jobs.models import Job, Schedule
from tenants import audit
from tenants.models import Change
from tests.callers import browser_of, staff
from tests.factories import TenantFactory, ThingFactory, UserFactory
from tests.opened import opened

pytestmark = pytest.mark.django_db
PAGE = "/admin/jobs/schedule/"


@pytest.fixture
def thing():
    return ThingFactory(tenant=TenantFactory(name="Acme"))


@pytest.fixture
def schedule(thing):
    call = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
    return change.add(thing.tenant, name="Mornings", cron="0 6 * * *", **call)


def form(thing, **said):
    filled = {"tenant": thing.tenant_id, "name": "Mornings", "job_type": "sample.thing.echo", "source_id": thing.pk}
    filled |= {"args": "{}", "every": "", "cron": "0 6 * * 1-5", "tz": "Europe/Berlin", "jitter": 0}
    return filled | {"catch_up": "one", "overlap": "queue"} | said


def act(client, action, *schedules):
    chosen = {"action": action, "_selected_action": [schedule.pk for schedule in schedules]}
    return client.post(PAGE, chosen, follow=True).content.decode()


class TestTheForm:
    def test_shows_the_rule_in_words_and_the_next_five_times_before_it_is_saved(self, admin_client, thing):
        page = admin_client.post(f"{PAGE}add/", form(thing, _preview="")).content.decode()
        assert "Not stored yet. At 06:00 AM, Monday through Friday (Europe/Berlin)." in page
        assert page.count(":00:00</div>") == 5
        assert "Please correct" not in page
        assert not Schedule.objects.exists()
        assert not Change.objects.filter(kind="jobs.schedule").exists()

    def test_stores_it_by_the_engine(self, admin_client, thing):
        said = {"args": json.dumps({"value": 1}), "priority": 2}
        assert admin_client.post(f"{PAGE}add/", form(thing, **said)).status_code == 302
        stored = Schedule.objects.get()
        assert (stored.tenant_id, stored.source_id, stored.args) == (thing.tenant_id, str(thing.pk), {"value": 1})
        assert (stored.priority, stored.queue, stored.by_tenant) == (2, None, False)
        assert stored.next_at is not None
        assert LogEntry.objects.get().object_id == str(stored.pk)
        assert Change.objects.get(kind="jobs.schedule").verb == "added"

    def test_changes_one_and_keeps_its_tenant(self, admin_client, thing, schedule):
        other = TenantFactory()
        said = {"cron": "", "every": 60, "name": "Often", "tenant": other.pk}
        assert admin_client.post(f"{PAGE}{schedule.pk}/change/", form(thing, **said)).status_code == 302
        schedule.refresh_from_db()
        assert (schedule.every, schedule.cron, schedule.name) == (60.0, "", "Often")
        assert schedule.tenant_id == thing.tenant_id

    def test_notes_and_stores_only_what_was_changed(self, admin_client, thing, schedule):
        start = f"{schedule.starts_at:%Y-%m-%d %H:%M:%S}".split()
        said = {"cron": "0 6 * * *", "tz": "UTC", "name": "Early", "starts_at_0": start[0], "starts_at_1": start[1]}
        assert admin_client.post(f"{PAGE}{schedule.pk}/change/", form(thing, **said)).status_code == 302
        assert Change.objects.get(kind="jobs.schedule").values == {"name": ["Mornings", "Early"]}
        assert Schedule.objects.get().starts_at == schedule.starts_at
        open_since = opened(admin_client.get(f"{PAGE}{schedule.pk}/change/"))
        change.change(schedule, every=60, cron="", jitter=5)
        admin_client.post(f"{PAGE}{schedule.pk}/change/", open_since | {"args": "{}", "name": "Often"})
        changed = Schedule.objects.get()
        assert (changed.name, changed.every, changed.cron, changed.jitter) == ("Often", 60, "", 5)

    def test_says_of_which_zone_its_moments_are(self, admin_client, schedule, settings):
        settings.TIME_ZONE = "America/New_York"
        start = datetime(2026, 11, 1, 6, 30, 0, 123456, UTC)  # in the hour that comes twice
        change.change(schedule, starts_at=start)
        page = admin_client.get(f"{PAGE}{schedule.pk}/change/")
        assert "America/New_York. Empty: now." in page.content.decode()
        admin_client.post(f"{PAGE}{schedule.pk}/change/", opened(page) | {"args": "{}", "name": "Often"})
        assert Schedule.objects.values_list("name", "starts_at").get() == ("Often", start)
        schedule.runs.create(due="2030-01-31T06:00:00Z")
        assert "2030-01-31 06:00:00" in admin_client.get("/ops/schedules/").content.decode(), "its times are in UTC"

    def test_says_what_to_do_while_it_is_empty(self, admin_client):
        page = admin_client.get(f"{PAGE}add/").content.decode()
        assert "Fill in a rule and press Preview." in page
        assert 'dir="ltr"' in re.search(r'<input[^>]* name="cron"[^>]*>', page)[0], "whatever the language of the admin"

    @pytest.mark.parametrize(
        ("said", "field"),
        [
            ({"cron": "x"}, "cron"),
            ({"every": 60}, "every"),
            ({"tz": "Mars"}, "tz"),
            ({"job_type": "sample.thing.not_a_job"}, "job_type"),
            ({"source_id": 999_999}, "source_id"),
            ({"args": "[]"}, "args"),
            ({"args": "{"}, "args"),
            ({"args": "[" * 5000}, "args"),
            ({"args": '{"value": "\\ud800"}'}, "args"),
            ({"args": '{"bogus": 1}'}, "args"),
            ({"name": ""}, "name"),
            ({"tenant": 999_999}, "tenant"),
            ({"ends_at_0": "2020-01-01", "ends_at_1": "00:00:00"}, "ends_at"),
        ],
    )
    def test_refuses_what_does_not_fit_at_its_field(self, admin_client, thing, said, field):
        for button in ("_save", "_preview"):
            response = admin_client.post(f"{PAGE}add/", form(thing, **said, **{button: ""}))
            assert list(response.context["adminform"].form.errors) == [field]
        assert not Schedule.objects.exists()

    def test_refuses_a_strangers_object_as_a_missing_one(self, admin_client, thing):
        foreign = ThingFactory()
        response = admin_client.post(f"{PAGE}add/", form(thing, source_id=foreign.pk))
        assert response.context["adminform"].form.errors["source_id"] == [f"There is no sample.thing '{foreign.pk}'."]

    def test_refuses_a_second_one_of_the_name(self, admin_client, thing, schedule):
        response = admin_client.post(f"{PAGE}add/", form(thing))
        assert response.context["adminform"].form.errors == {"name": ["There is a schedule 'Mornings' already."]}


@pytest.mark.django_db(transaction=True)
class TestAFasterChange:
    def test_the_first_to_take_a_name_after_the_check_has_it(self, admin_client, thing, schedule, race, monkeypatch):
        change.change(schedule, name="Theirs")
        save = ScheduleAdmin.save_model

        def save_after_them(page, *args):
            race.begin("UPDATE schedules SET name = 'Mornings' WHERE id = %s", schedule.pk)
            save(page, *args)

        monkeypatch.setattr(ScheduleAdmin, "save_model", save_after_them)
        response = race.run(admin_client.post, f"{PAGE}add/", form(thing)).result()
        assert Schedule.objects.get(name="Mornings").pk == schedule.pk or not race.lost
        assert response.status_code == (200 if race.lost else 302)
        if race.lost:
            assert response.context["adminform"].form.errors == {"name": ["There is a schedule 'Mornings' already."]}

    def test_a_deleted_schedule_cannot_be_changed(self, admin_client, thing, schedule, race):
        race.begin("DELETE FROM schedules WHERE id = %s", schedule.pk)
        url = f"{PAGE}{schedule.pk}/change/"
        response = race.run(admin_client.post, url, form(thing, name="Early"), follow=True).result()
        told = "doesn’t exist" if race.lost else "was changed successfully"
        assert told in response.content.decode()

    def test_a_deleted_schedule_cannot_be_deleted_again(self, admin_client, schedule, race):
        race.begin("DELETE FROM schedules WHERE id = %s", schedule.pk)
        chosen = {"action": "delete_selected", "_selected_action": [schedule.pk], "post": "yes"}
        assert race.run(admin_client.post, PAGE, chosen).result().status_code == 302
        assert not Schedule.objects.exists()


class TestTheList:
    def test_says_of_each_what_when_and_how_it_is(self, admin_client, schedule):
        change.run_now(schedule)
        Schedule.objects.update(paused=True, paused_because="source_id: gone", next_at=None, next_due=None)
        page = admin_client.get(PAGE).content.decode()
        for shown in ("Mornings", "Acme", "At 06:00 AM (UTC)", "paused itself"):
            assert shown in page
        page = admin_client.get(f"{PAGE}{schedule.pk}/change/").content.decode()
        assert "Run by hand." in page
        assert "source_id: gone" in page
        assert f"job {Job.objects.get().pk}" in page

    def test_shows_what_would_be_drawn_over_the_lines_of_others(self, admin_client, schedule):
        name = "user\u202egnp.exe" + "\u0301" * 30
        Schedule.objects.update(name=name)
        with audit.acting("olga", "192.0.2.1"):
            audit.note("run by hand", Schedule, [(schedule.pk, name)], tenant_id=schedule.tenant_id)
        for address in (PAGE, "/admin/tenants/change/"):
            page = admin_client.get(address).content.decode()
            cells = re.sub("<input[^>]*>", "", page)  # a box to choose it has the name as its label
            assert r"user\u202egnp.exe" in cells, address
            assert "\u202e" not in cells, address
            assert "\u0301" * 7 not in cells, address

    def test_has_the_verbs(self, admin_client, schedule):
        assert "Paused 1 schedule." in act(admin_client, "pause", schedule)
        assert Schedule.objects.get().paused
        assert "Resumed 1 schedule." in act(admin_client, "resume", schedule)
        assert not Schedule.objects.get().paused
        assert "Ran 1 schedule." in act(admin_client, "run_now", schedule)
        assert Job.objects.count() == 1
        verbs = Change.objects.filter(kind="jobs.schedule").order_by("pk").values_list("verb", flat=True)
        assert list(verbs) == ["changed", "changed", "run by hand"]

    def test_finds_by_tenant_and_name_and_filters(self, admin_client, schedule):
        for query, found in [("q=acme", True), ("q=Morn", True), ("q=nobody", False), ("paused__exact=1", False)]:
            assert ("Mornings" in admin_client.get(f"{PAGE}?{query}").content.decode()) is found, query

    def test_deletes_some_and_their_jobs_stay(self, admin_client, schedule):
        change.run_now(schedule)
        chosen = {"action": "delete_selected", "_selected_action": [schedule.pk], "post": "yes"}
        admin_client.post(PAGE, chosen)
        assert (Schedule.objects.count(), Job.objects.count()) == (0, 1)
        assert Change.objects.filter(kind="jobs.schedule", verb="deleted").exists()

    def test_says_which_cannot_be_resumed_and_why(self, admin_client, thing, schedule):
        change.pause(schedule)
        thing.delete()
        assert "Mornings: source_id: there is no sample.thing" in act(admin_client, "resume", schedule)
        assert Schedule.objects.get().paused


def test_a_declared_schedule_is_only_looked_at_and_paused(admin_client, schedule):
    Schedule.objects.update(declared=True)
    url = f"{PAGE}{schedule.pk}/"
    page = admin_client.get(f"{url}change/").content.decode()
    assert "At 06:00 AM (UTC)" in page
    assert 'name="_save"' not in page
    assert 'name="_preview"' not in page
    assert admin_client.post(f"{url}change/", {"name": "x"}).status_code == 403
    assert admin_client.post(f"{url}delete/", {"post": "yes"}).status_code == 403
    act(admin_client, "delete_selected", schedule)
    admin_client.post(PAGE, {"action": "delete_selected", "_selected_action": [schedule.pk], "post": "yes"})
    assert Schedule.objects.count() == 1
    assert "Paused 1 schedule." in act(admin_client, "pause", schedule)


def test_each_takes_its_permission(client, thing, schedule):
    client.force_login(staff("view_schedule"))
    assert client.get(PAGE).status_code == 200
    assert client.get(f"{PAGE}{schedule.pk}/change/").status_code == 200
    assert client.post(f"{PAGE}add/", form(thing, name="other")).status_code == 403
    assert client.post(f"{PAGE}{schedule.pk}/change/", form(thing)).status_code == 403
    for action in ("pause", "run_now"):
        act(client, action, schedule)
    assert not Schedule.objects.get().paused
    assert not Job.objects.exists()


def test_a_user_who_is_no_operator_sees_nothing(schedule):
    assert browser_of(UserFactory()).get(PAGE).status_code == 302
    assert browser_of(staff()).get(PAGE).status_code == 403
