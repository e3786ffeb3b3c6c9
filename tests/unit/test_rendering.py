"""How our templates are rendered: by which engine, and by what of the project."""

import re

from django.test import RequestFactory

from embedded import REPOSITORY
from plumbing.rendering import rendered

DJANGO = {"BACKEND": "django.template.backends.django.DjangoTemplates"}
JINJA = {"BACKEND": "tests.friction.jinja.Jinja", "APP_DIRS": True}
FRAME = "THEIRS {% block content %}{% endblock %}"


def html(settings, *engines: dict[str, object], wait: object = 7) -> str:
    settings.TEMPLATES = list(engines)
    return rendered(RequestFactory().get("/"), "tenants/429.html", {"wait": wait})


def test_jinja_before_djangos_templates_is_passed_over_and_the_projects_frame_is_used(settings, tmp_path):
    (tmp_path / "tenants").mkdir()
    (tmp_path / "tenants" / "card.html").write_text(FRAME)
    shown = html(settings, JINJA, DJANGO | {"DIRS": [tmp_path], "APP_DIRS": True})
    assert shown.startswith("THEIRS") and "in 7 seconds" in shown


def test_an_engine_that_does_not_look_into_apps_leaves_it_to_ours(settings):
    assert "in 7 seconds" in html(settings, DJANGO)


def test_a_project_without_djangos_templates_has_ours(settings):
    assert "in 7 seconds" in html(settings, JINJA)


def test_the_projects_formats_and_escaping_do_not_reach_our_templates(settings):
    """A job's number goes into addresses and forms, and a tenant chooses names."""
    settings.LANGUAGE_CODE, settings.USE_THOUSAND_SEPARATOR = "de", True
    unescaped = DJANGO | {"APP_DIRS": True, "OPTIONS": {"autoescape": False}}
    assert "in 1234567 seconds" in html(settings, unescaped, wait=1_234_567)
    assert "in &lt;b&gt; seconds" in html(settings, unescaped, wait="<b>")
    templates = "".join(page.read_text() for app in ("jobs", "tenants") for page in (REPOSITORY / app).rglob("*.html"))
    told = re.findall(r"""floatformat(?::["']?-?\w+)?""", templates)
    assert {one[-1] for one in told} == {"u"}, "without, it takes what the project has"
