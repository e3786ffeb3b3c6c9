"""What docs/own-project.md adds to the settings of an existing project."""

from copy import deepcopy
from typing import Any

from django.core.checks import run_checks

from embedded import REPOSITORY
from jobs import checks
from tests.pages import blocks

[BLOCK] = [block for block in blocks(REPOSITORY / "docs" / "own-project.md", "py") if 'CACHES["jobs"]' in block.text]
THEIRS: dict[str, Any] = {
    "INSTALLED_APPS": ("shop",),  # as a tuple or a list
    "MIDDLEWARE": ["django.contrib.auth.middleware.AuthenticationMiddleware"],
    "LOGIN_URL": "/sign-in/",
    "DATABASES": {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": "shop",
            "OPTIONS": {"application_name": "shop"},
        }
    },
    "CACHES": {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
}


def test_the_block_changes_no_setting_and_passes_all_checks(settings, monkeypatch):
    names = deepcopy(THEIRS)
    exec(BLOCK.text, {}, names)
    assert set(names) - set(THEIRS) == {"JOBS_CACHE"}
    assert names["LOGIN_URL"] == THEIRS["LOGIN_URL"]
    assert names["CACHES"]["default"] == THEIRS["CACHES"]["default"]
    for name in ("INSTALLED_APPS", "MIDDLEWARE"):
        assert names[name][:1] == [*THEIRS[name]]
    database = names["DATABASES"]["default"]
    assert (database["NAME"], database["OPTIONS"]["application_name"]) == ("shop", "shop")
    for name, value in database.items():
        monkeypatch.setitem(settings.DATABASES["default"], name, value)
    settings.CACHES, settings.MIDDLEWARE, settings.JOBS_CACHE = (
        names["CACHES"],
        names["MIDDLEWARE"],
        names["JOBS_CACHE"],
    )
    assert run_checks(tags=[checks.TAG]) == []
