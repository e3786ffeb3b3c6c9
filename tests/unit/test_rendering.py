"""Which engine renders our templates."""

from django.test import RequestFactory

from tenants.rendering import rendered

DJANGO = {"BACKEND": "django.template.backends.django.DjangoTemplates"}
JINJA = {"BACKEND": "tests.friction.jinja.Jinja", "APP_DIRS": True}
FRAME = "THEIRS {% block content %}{% endblock %}"


def html(settings, *engines: dict[str, object]) -> str:
    settings.TEMPLATES = list(engines)
    return rendered(RequestFactory().get("/"), "tenants/429.html", {"wait": 7})


def test_jinja_before_djangos_templates_is_passed_over_and_the_projects_frame_is_used(settings, tmp_path):
    (tmp_path / "tenants").mkdir()
    (tmp_path / "tenants" / "card.html").write_text(FRAME)
    shown = html(settings, JINJA, DJANGO | {"DIRS": [tmp_path], "APP_DIRS": True})
    assert shown.startswith("THEIRS") and "in 7 seconds" in shown


def test_an_engine_that_does_not_look_into_apps_leaves_it_to_ours(settings):
    assert "in 7 seconds" in html(settings, DJANGO)


def test_a_project_without_djangos_templates_has_ours(settings):
    assert "in 7 seconds" in html(settings, JINJA)
