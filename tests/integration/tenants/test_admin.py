"""The admin of tenants: slots that work at once, and keys that are shown once."""

import re
from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.messages import get_messages
from django.db.models.functions import Now
from django.db.models.signals import pre_save
from django.utils import timezone

from jobs.engine.door import dispatch
from jobs.lifecycle import Status
from jobs.reading import looking
from tenants import auth
from tenants.models import ApiKey, Change, OperatorKey, Tenant, TenantQueue
from tests.callers import staff
from tests.factories import MemberFactory, QueueFactory, TenantFactory, UserFactory, make_job, operator_key
from tests.opened import opened

pytestmark = pytest.mark.django_db
TOKEN = re.compile(r"[0-9a-f]{12}\.[\w-]{43}")


def tenant_form(**fields):
    return {
        "name": "Acme",
        "slug": "acme",
        "jobs_queue-TOTAL_FORMS": 1,
        "jobs_queue-INITIAL_FORMS": 0,
        "jobs_queue-0-num_slots": 1,
        "jobs_queue-0-weight": 1,
        "jobs_members-TOTAL_FORMS": 0,
        "jobs_members-INITIAL_FORMS": 0,
    } | fields


def slots_form(queue, **fields):
    said = {"num_slots": queue.num_slots, "user_slots": "", "weight": queue.weight} | fields
    form = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": queue.pk, "_save": "Save"}
    return form | {f"form-0-{name}": value for name, value in said.items()}


@pytest.mark.parametrize(
    ("text", "told", "stored"),
    [
        ("default=3", "", {"default": 3}),
        ("default", "such as exports=3", {}),
        ("nowhere=3", "There is no queue nowhere", {}),
    ],
)
def test_slots_in_single_queues_are_written_as_text(admin_client, text, told, stored):
    QueueFactory()
    tenant = TenantFactory()
    row = tenant.jobs_queue
    form = {"num_slots": 2, "weight": 1, "queue_slots": text}
    answer = admin_client.post(f"/admin/tenants/tenantqueue/{row.pk}/change/", form)
    assert answer.status_code == (200 if told else 302)
    assert told in answer.content.decode()
    row.refresh_from_db()
    assert row.queue_slots == stored


def issue(admin_client, tenant, name="nightly export"):
    form = {"tenant": tenant.pk, "name": name, "expires_at_0": "", "expires_at_1": ""}
    return admin_client.post("/admin/tenants/apikey/add/", form, follow=True)


@contextmanager
def at_each_save(model, act):
    """Somebody else does this between the look at a row and its save."""
    pre_save.connect(act, sender=model)
    yield
    pre_save.disconnect(act, sender=model)


def test_a_new_tenant_gets_the_slots_of_the_untouched_form(admin_client):
    assert admin_client.post("/admin/tenants/tenant/add/", tenant_form()).status_code == 302
    assert TenantQueue.objects.get(tenant__slug="acme").num_slots == 1


def test_a_new_tenant_gets_its_slots_and_members(admin_client):
    user = UserFactory()
    form = tenant_form(**{"jobs_queue-0-num_slots": 5, "jobs_members-TOTAL_FORMS": 1, "jobs_members-0-user": user.pk})
    assert admin_client.post("/admin/tenants/tenant/add/", form).status_code == 302
    tenant = Tenant.objects.get(slug="acme")
    assert tenant.jobs_queue.num_slots == 5
    assert tenant.jobs_members.get().user == user


def test_a_name_that_another_tenant_has_is_refused(admin_client):
    TenantFactory(name="Acme")
    page = admin_client.post("/admin/tenants/tenant/add/", tenant_form())
    assert (page.status_code, Tenant.objects.count()) == (200, 1)
    assert "Another tenant has this name." in page.content.decode()


def test_a_user_is_a_member_of_one_tenant_only(admin_client):
    taken = MemberFactory().user
    form = tenant_form(**{"jobs_members-TOTAL_FORMS": 1, "jobs_members-0-user": taken.pk})
    assert admin_client.post("/admin/tenants/tenant/add/", form).status_code == 200
    assert not Tenant.objects.filter(slug="acme").exists()


def test_members_have_a_page_where_the_tenants_own_does_not_show_them(admin_client):
    user, tenant = UserFactory(username="mia"), TenantFactory(name="Globex")
    form = {"user": user.pk, "tenant": tenant.pk}
    assert admin_client.post("/admin/tenants/member/add/", form).status_code == 302
    assert tenant.jobs_members.get().user == user
    for typed, found in (("mia", True), ("globex", True), ("otto", False)):
        page = admin_client.get(f"/admin/tenants/member/?q={typed}").content.decode()
        assert (f"/admin/tenants/member/{user.jobs_member.pk}/change/" in page) == found


@pytest.mark.django_db(transaction=True)  # a dispatch is asked for when it commits
def test_slots_are_edited_in_the_list_and_work_at_once(admin_client, monkeypatch):
    queue = TenantFactory().jobs_queue
    passes = []
    monkeypatch.setattr(dispatch, "dispatch", lambda *args, **kwargs: passes.append(args))
    form = slots_form(queue, num_slots=7, paused="on")
    assert admin_client.post("/admin/tenants/tenantqueue/", form).status_code == 302
    queue.refresh_from_db()
    assert (queue.num_slots, queue.user_slots, queue.paused) == (7, None, True)
    assert passes


def test_the_list_tells_what_each_tenant_holds_and_has_waiting_and_not_a_strangers(admin_client, monkeypatch):
    monkeypatch.setattr(looking, "MAX_COUNTED", 2)
    owner, stranger = TenantFactory(name="Acme"), TenantFactory(name="Stranger")
    TenantFactory(name="With nothing", queue__num_slots=1500)
    make_job(owner, Status.RUNNING), make_job(stranger, Status.QUEUED), make_job(stranger, Status.RUNNING)
    for tenant, jobs in ((owner, 2), (stranger, 3)):
        for _ in range(jobs):
            make_job(tenant)
    assert cells(admin_client, "/admin/tenants/tenantqueue/") == [("1", "2"), ("2", "about 3"), ("0", "0")]
    assert cells(admin_client, "/admin/jobs/queue/?q=default") == [("3", "about 5")]
    assert ">1,500<" in admin_client.get("/admin/tenants/tenant/").content.decode(), "whatever the project's numbers"


def cells(client, path):
    """What is in use and what waits, of each row."""
    page = client.get(path).content.decode()
    found = [
        re.findall(rf'<td class="[^"]*field-{name}[^"]*"[^>]*>(.*?)</td>', page, re.S) for name in ("in_use", "waiting")
    ]
    return [tuple(re.sub("<[^>]*>", "", cell).strip() for cell in row) for row in zip(*found, strict=True)]


def test_limits_out_of_range_are_refused_at_the_field(admin_client):
    queue = TenantFactory().jobs_queue
    response = admin_client.post("/admin/tenants/tenantqueue/", slots_form(queue, num_slots=10_001, weight=0))
    assert response.status_code == 200
    assert list(response.context["cl"].formset.errors[0]) == ["num_slots", "weight"]
    queue.refresh_from_db()
    assert (queue.num_slots, queue.weight) == (2, 1)


def test_tenants_slots_and_keys_are_not_deleted_here(admin_client):
    tenant = TenantFactory()
    key, _ = auth.issue(tenant, "test")
    for page in (f"tenant/{tenant.pk}", f"tenantqueue/{tenant.jobs_queue.pk}", f"apikey/{key.pk}"):
        assert admin_client.post(f"/admin/tenants/{page}/delete/", {"post": "yes"}).status_code == 403


def test_an_issued_key_is_shown_once_and_works(admin_client):
    tenant = TenantFactory()
    page = issue(admin_client, tenant).content.decode()
    token = TOKEN.search(page).group()
    assert auth.tenant_of(token) == tenant
    key = ApiKey.objects.get()
    secret = token.partition(".")[2]
    for again in ("", f"{key.pk}/change/", f"{key.pk}/history/"):
        later = admin_client.get(f"/admin/tenants/apikey/{again}")
        assert later.status_code == 200
        assert secret not in later.content.decode()
        assert not list(get_messages(later.wsgi_request))
    assert secret not in str(list(LogEntry.objects.values()))


def test_no_page_shows_a_digest(admin_client):
    tenant = TenantFactory()
    issue(admin_client, tenant)
    key = ApiKey.objects.get()
    for page in (f"tenant/{tenant.pk}/change/", "apikey/", f"apikey/{key.pk}/change/"):
        response = admin_client.get(f"/admin/tenants/{page}")
        assert response.status_code == 200
        assert key.prefix in response.content.decode()
        assert key.digest not in response.content.decode()


def test_changing_a_key_keeps_its_secret_and_its_tenant(admin_client):
    tenant, other = TenantFactory(), TenantFactory()
    key, token = auth.issue(tenant, "test")
    form = {"tenant": other.pk, "name": "renamed", "expires_at_0": "", "expires_at_1": ""}
    page = admin_client.post(f"/admin/tenants/apikey/{key.pk}/change/", form, follow=True).content.decode()
    key.refresh_from_db()
    assert (key.name, key.tenant) == ("renamed", tenant)
    assert auth.tenant_of(token) == tenant
    assert not TOKEN.search(page)


def test_values_that_change_while_a_form_is_saved_stay(admin_client):
    """A key that is revoked then would live again, and a user's new password would be the old one."""
    key, _ = auth.issue(TenantFactory(), "loader")
    user = UserFactory()

    def revoke(**_):
        ApiKey.objects.filter(pk=key.pk).update(revoked_at=Now())

    def set_password(**_):
        User.objects.filter(pk=user.pk).update(password="new")

    form = {"tenant": key.tenant_id, "name": "renamed", "expires_at_0": "", "expires_at_1": ""}
    with at_each_save(ApiKey, revoke):
        assert admin_client.post(f"/admin/tenants/apikey/{key.pk}/change/", form).status_code == 302
    key.refresh_from_db()
    assert (key.name, key.state) == ("renamed", "revoked")
    form = {"username": user.username, "first_name": "Ada", "is_active": "on"}
    form |= {"date_joined_0": "2030-01-01", "date_joined_1": "09:00:00"}
    with at_each_save(User, set_password):
        assert admin_client.post(f"/admin/auth/user/{user.pk}/change/", form).status_code == 302
    user.refresh_from_db()
    assert (user.first_name, user.password) == ("Ada", "new")


def test_values_that_change_while_a_form_is_open_stay(admin_client, subtests):
    """Slots that somebody took away would come back with a new name or weight, and a deactivated user with another."""
    tenant, group = TenantFactory(), Group.objects.create(name="ops")
    slots, user = tenant.jobs_queue, UserFactory(is_staff=True)
    user.groups.add(group)
    key, _ = auth.issue(tenant, "loader")
    for page, of, field, typed, row, meanwhile in (
        (f"tenants/tenant/{tenant.pk}/change", Tenant, "name", "Globex", slots, {"num_slots": 0}),
        (f"tenants/tenantqueue/{slots.pk}/change", TenantQueue, "weight", "3", slots, {"num_slots": 9, "paused": True}),
        ("tenants/tenantqueue", TenantQueue, "form-0-weight", "4", slots, {"num_slots": 0}),
        (f"auth/user/{user.pk}/change", User, "first_name", "Ada", user, {"is_active": False}),
        (f"tenants/apikey/{key.pk}/change", ApiKey, "name", "renamed", key, {"expires_at": timezone.now()}),
    ):
        with subtests.test(page=page):
            form = opened(admin_client.get(f"/admin/{page}/"))
            type(row).objects.filter(pk=row.pk).update(**meanwhile)
            user.groups.clear()
            assert admin_client.post(f"/admin/{page}/", form | {field: typed, "_save": "Save"}).status_code == 302
            now = type(row).objects.get(pk=row.pk)
            assert {name: getattr(now, name) for name in meanwhile} == meanwhile
            assert of.objects.filter(**{field.rpartition("-")[2]: typed}).exists()
            assert not user.groups.exists()
    with subtests.test("who changes half of a rate limit means the other half as it was shown"):
        found = TenantQueue.objects.filter(pk=slots.pk)
        found.update(rate_limit=5, rate_window=60)
        form = opened(admin_client.get(f"/admin/tenants/tenantqueue/{slots.pk}/change/"))
        found.update(rate_limit=None, rate_window=None)
        admin_client.post(f"/admin/tenants/tenantqueue/{slots.pk}/change/", form | {"rate_window": "600"})
        assert (found.get().rate_limit, found.get().rate_window) == (5, 600)


def test_a_form_that_is_shown_again_with_an_error_still_knows_what_was_typed(admin_client):
    """A moment in two fields, and no group where there was one before: what was typed first counts the second time."""
    tenant, user = TenantFactory(), UserFactory(is_staff=True)
    key, _ = auth.issue(tenant, "loader")
    group = Group.objects.create(name="ops")
    for page, typed, wrong, row, name, stored in (
        (
            f"tenants/apikey/{key.pk}",
            {"expires_at_0": "2030-01-31", "expires_at_1": "09:00:00"},
            "name",
            key,
            "expires_at",
            datetime(2030, 1, 31, 9, tzinfo=UTC),
        ),
        (f"auth/user/{user.pk}", {"groups": [group.pk]}, "username", user, "groups", group),
    ):
        form = opened(admin_client.get(f"/admin/{page}/change/"))
        again = admin_client.post(f"/admin/{page}/change/", form | typed | {wrong: ""})
        assert again.status_code == 200
        assert admin_client.post(f"/admin/{page}/change/", opened(again) | {wrong: "other"}).status_code == 302
        assert type(row).objects.filter(**{"pk": row.pk, name: stored}).exists()


def test_the_action_revokes_the_chosen_keys(admin_client):
    tenant = TenantFactory()
    (leaked, leaked_token), (_, good_token) = auth.issue(tenant, "leaked"), auth.issue(tenant, "good")
    form = {"action": "revoke", "_selected_action": [leaked.pk]}
    page = admin_client.post("/admin/tenants/apikey/", form, follow=True)
    assert auth.tenant_of(leaked_token) is None
    assert auth.tenant_of(good_token) == tenant
    assert b"Revoked 1 key" in page.content
    assert b"Revoked 0 keys" in admin_client.post("/admin/tenants/apikey/", form, follow=True).content
    assert LogEntry.objects.get().change_message == "Revoked."


def test_half_a_rate_limit_is_refused_at_the_field_that_is_missing(admin_client):
    queue = TenantFactory().jobs_queue
    form = {"num_slots": 1, "weight": 1}
    page = f"/admin/tenants/tenantqueue/{queue.pk}/change/"
    refused = admin_client.post(page, form | {"rate_limit": 5})
    assert list(refused.context["adminform"].form.errors) == ["rate_window"]
    new = tenant_form(**{"jobs_queue-0-rate_limit": 5})
    assert admin_client.post("/admin/tenants/tenant/add/", new).status_code == 200
    assert not Tenant.objects.filter(slug="acme").exists()
    assert admin_client.post(page, form | {"rate_limit": 5, "rate_window": 60}).status_code == 302
    listed = admin_client.get("/admin/tenants/tenantqueue/").content.decode()
    assert "5 per 60 s" in listed.replace("\N{NO-BREAK SPACE}", " ")


def issue_to(client, name="deploy script", **fields):
    return client.post("/admin/tenants/operatorkey/add/", {"name": name} | fields, follow=True)


def test_a_superuser_issues_an_operators_key_and_sees_it_once(admin_client):
    user = UserFactory(is_staff=True)
    page = issue_to(admin_client, user=user.pk)
    (token,) = TOKEN.findall(page.content.decode())
    assert auth.operator_of(token) == user
    assert not TOKEN.search(admin_client.get("/admin/tenants/operatorkey/").content.decode())


def test_an_operators_key_is_found_by_the_name_with_which_its_user_logs_in(admin_client, monkeypatch):
    monkeypatch.setattr(User, "USERNAME_FIELD", "email")
    issue_to(admin_client, "theirs", user=UserFactory(is_staff=True, email="olga@example.com").pk)
    for typed, found in (("olga@", True), ("otto@", False)):
        page = admin_client.get(f"/admin/tenants/operatorkey/?q={typed}").content.decode()
        assert (">theirs<" in re.sub(r"\s*([<>])\s*", r"\1", page)) == found


def test_no_key_is_issued_for_who_is_no_operator(admin_client):
    page = issue_to(admin_client, user=UserFactory().pk)
    assert "user" in page.context["adminform"].form.errors
    assert not OperatorKey.objects.exists()


def test_an_operator_issues_keys_for_nobody_else(admin_user, client):
    """Otherwise who may issue keys could come back as a superuser."""
    user = staff("add_operatorkey", "view_operatorkey")
    client.force_login(user)
    assert b'name="user"' not in client.get("/admin/tenants/operatorkey/add/").content
    page = issue_to(client, user=admin_user.pk)
    (token,) = TOKEN.findall(page.content.decode())
    assert auth.operator_of(token) == user
    page.wsgi_request.user = SimpleNamespace()  # of a project's own model, which may know no superusers
    assert "user" not in admin.site.get_model_admin(OperatorKey).get_fields(page.wsgi_request)


def test_an_operators_key_is_revoked(admin_client):
    key, token = operator_key(UserFactory(is_staff=True), "leaked")
    admin_client.post("/admin/tenants/operatorkey/", {"action": "revoke", "_selected_action": [key.pk]})
    assert auth.operator_of(token) is None


def test_only_a_superuser_changes_operators_and_gives_rights(admin_client, admin_user, client, subtests):
    """Otherwise who may change users could become one."""
    helper, group, member = UserFactory(is_staff=True), Group.objects.create(name="ops"), MemberFactory().user
    helper.groups.add(group)
    users_and_groups = Permission.objects.filter(
        content_type__app_label="auth", content_type__model__in=["user", "group"]
    )
    helper.user_permissions.set(users_and_groups)
    client.force_login(helper)
    rights = {
        "is_staff": "on",
        "is_superuser": "on",
        "groups": [group.pk],
        "user_permissions": [users_and_groups[0].pk],
    }
    own = {"date_joined_0": "2030-01-31", "date_joined_1": "09:00", "is_active": "on", **rights}
    for page, form in (
        (f"user/{helper.pk}/change/", {"username": "helper", **own}),
        (f"user/{admin_user.pk}/change/", {"username": "mine", **own}),
        (f"user/{admin_user.pk}/password/", {"password1": "a new one, and long", "password2": "a new one, and long"}),
        (f"user/{admin_user.pk}/delete/", {"post": "yes"}),
        ("user/", {"action": "delete_selected", "_selected_action": [admin_user.pk], "post": "yes"}),
        ("user/", {"action": "reset_second_factor", "_selected_action": [member.pk, admin_user.pk]}),
        (f"group/{group.pk}/change/", {"name": "ops", "permissions": [one.pk for one in users_and_groups]}),
        (f"group/{group.pk}/delete/", {"post": "yes"}),
        ("group/add/", {"name": "mine"}),
    ):
        with subtests.test(page=page):
            assert client.post(f"/admin/auth/{page}", form).status_code == 403, form
    for of, form in (
        (f"{member.pk}/change/", {"username": "theirs", **own}),
        ("add/", {"username": "new", "password1": "a new one, and long", "password2": "a new one, and long", **rights}),
    ):
        with subtests.test(page=of):
            assert client.post(f"/admin/auth/user/{of}", {"usable_password": "true", **form}).status_code == 302
            changed = User.objects.get(username=form["username"])
            got = changed.is_staff, changed.is_superuser, changed.groups.count(), changed.user_permissions.count()
            assert got == (False, False, 0, 0)
    assert User.objects.get(pk=admin_user.pk).password == admin_user.password
    with subtests.test("a superuser does"):
        assert admin_client.post(f"/admin/auth/user/{member.pk}/change/", {"username": "op", **own}).status_code == 302
        given = Change.objects.filter(subject="op", verb="changed").values_list("values", flat=True)
        assert {"groups": [[], ["ops"]]} in given, "and the audit log has it"
        assert {"user_permissions": [[], [str(users_and_groups[0])]]} in given
        for page in ("user/", "group/", "user/add/", "group/add/"):
            assert admin_client.get(f"/admin/auth/{page}").status_code == 200
