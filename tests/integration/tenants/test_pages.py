"""Logging in and out."""

import pytest
from django.test import Client

from tests.factories import MemberFactory

pytestmark = pytest.mark.django_db
LOGIN = "/accounts/login/"


@pytest.fixture
def anna():
    user = MemberFactory().user
    user.set_password("correct horse")
    user.save()
    return user


def test_a_member_logs_in_and_lands_on_the_reports(client, anna):
    response = client.post(LOGIN, {"username": anna.username, "password": "correct horse"})
    assert (response.status_code, response["Location"]) == (302, "/")
    assert client.get("/api/v1/jobs").status_code == 200


@pytest.mark.parametrize("asked", [LOGIN, "/admin/login/?next=/admin/"])
def test_an_operator_logs_in_and_lands_on_the_live_pages(client, anna, asked):
    anna.is_staff = anna.is_superuser = True
    anna.save()
    form = {"username": anna.username, "password": "correct horse"}
    page = client.get(asked, follow=True)
    assert page.request["PATH_INFO"] == LOGIN
    assert client.post(LOGIN, form)["Location"] == "/ops/"
    anna.is_superuser = False
    anna.save()
    assert client.post(LOGIN, form)["Location"] == "/admin/", "who may not see the jobs"


def test_a_page_of_the_admin_opens_after_the_one_login(client):
    asked = client.get("/admin/jobs/queue/")
    assert client.get(asked["Location"])["Location"] == f"{LOGIN}?next=/admin/jobs/queue/"


def test_a_user_who_was_sent_to_log_in_goes_on_to_the_page_they_wanted(client, anna):
    asked = client.get("/reports/1/")
    page = client.get(asked["Location"]).content.decode()
    assert 'name="next" value="/reports/1/"' in page
    form = {"username": anna.username, "password": "correct horse", "next": "/reports/1/"}
    assert client.post(LOGIN, form)["Location"] == "/reports/1/"


def test_a_login_never_leads_to_another_site(client, anna):
    form = {"username": anna.username, "password": "correct horse", "next": "https://evil.example/"}
    assert client.post(LOGIN, form)["Location"] == "/"


@pytest.mark.parametrize("name", ["known", "unknown"])
def test_a_wrong_password_and_an_unknown_name_read_the_same(client, anna, name):
    username = anna.username if name == "known" else "nobody"
    response = client.post(LOGIN, {"username": username, "password": "wrong"})
    page = response.content.decode()
    assert response.status_code == 200
    assert "do not belong together" in page
    assert f'value="{username}"' in page
    assert "wrong" not in page


def test_the_login_form_needs_its_csrf_token(anna):
    response = Client(enforce_csrf_checks=True).post(LOGIN, {"username": anna.username, "password": "correct horse"})
    assert response.status_code == 403


def test_logging_out_takes_a_post_and_ends_the_session(client, anna):
    client.force_login(anna)
    opened = client.get("/accounts/logout/")
    assert (opened.status_code, "for a form or a button" in opened.content.decode()) == (405, True)
    assert client.get("/api/v1/jobs").status_code == 200
    assert client.post("/accounts/logout/")["Location"] == LOGIN
    assert client.get("/api/v1/jobs").status_code == 401
