"""What must be right before anything starts: each check red and green, and every way to start refuses."""

import os
import re
import subprocess
import sys

import pytest
from django.core.checks import run_checks

from embedded import REPOSITORY
from jobs import checks as jobs_checks
from jobs import conf
from scheduler_project import checks
from tenants import checks as tenants_checks

KEY = "k" * checks.SECRET_KEY_LENGTH
GOOD = {
    "ENVIRONMENT": "production",
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": "scheduler.example.com",
    "CACHE_URL": "redis://127.0.0.1:1/1",
}
STARTS = {
    "manage.py check": ["manage.py", "check"],
    "manage.py clock": ["manage.py", "clock"],
    "web": ["-m", "scheduler_project.web", "--port", "0", "--workers", "2"],
    "uvicorn": ["-m", "uvicorn", "scheduler_project.asgi:application", "--port", "0"],
    "uvicorn, wsgi": ["-m", "uvicorn", "--interface", "wsgi", "scheduler_project.wsgi:application", "--port", "0"],
    "celery": ["-m", "celery", "-A", "scheduler_project", "worker", "-Q", "default"],
}
OTHER_STARTS = [
    pytest.param(start, id=start, marks=pytest.mark.long("a way to start that does not check, or not as others do"))
    for start in ("manage.py clock", "web", "uvicorn", "uvicorn, wsgi")
]


@pytest.fixture
def production(settings):
    """Settings that no check has anything against."""
    settings.ENVIRONMENT = "production"
    settings.EMBEDDED_ENGINES = []
    settings.ALLOW_EMBEDDED_IN_PRODUCTION = False
    settings.SECRET_KEY = KEY
    settings.DEBUG = False
    settings.ALLOWED_HOSTS = ["scheduler.example.com", "localhost"]
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache"}}
    return settings


def found() -> list[tuple[str, str]]:
    """The errors. What is only costly or unwise in an adopter's project is a warning: test_library.py."""
    every = run_checks(tags=[checks.TAG, jobs_checks.TAG, tenants_checks.TAG])
    return [(message.id, message.hint) for message in every if message.is_serious()]


def test_good_production_settings_pass(production) -> None:
    assert found() == []
    checks.refuse_unsafe_start()


UNSAFE = [
    ("scheduler.E002", "EMBEDDED_ENGINES", ["postgresql"], "DATABASE_URL"),
    ("scheduler.E003", "SECRET_KEY", "k" * (checks.SECRET_KEY_LENGTH - 1), "SECRET_KEY"),
    ("scheduler.E003", "SECRET_KEY", "insecure-" + KEY, "SECRET_KEY"),
    ("scheduler.E003", "SECRET_KEY_FALLBACKS", [KEY, KEY[1:]], "SECRET_KEY_FALLBACKS"),
    ("scheduler.E004", "DEBUG", True, "DEBUG"),
    ("scheduler.E005", "ALLOWED_HOSTS", [], "ALLOWED_HOSTS"),
    ("scheduler.E005", "ALLOWED_HOSTS", ["scheduler.example.com", "*"], "ALLOWED_HOSTS"),
    ("scheduler.E005", "ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"], "ALLOWED_HOSTS"),
    (
        "scheduler.E006",
        "CACHES",
        {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
        "CACHE_URL",
    ),
    (
        "scheduler.E006",
        "CACHES",
        {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}},
        "CACHE_URL",
    ),
]


@pytest.mark.parametrize(("identity", "name", "value", "variable"), UNSAFE)
def test_an_unsafe_setting_is_an_error_in_production_only(production, identity, name, value, variable) -> None:
    setattr(production, name, value)
    [(found_id, hint)] = found()
    assert found_id == identity
    assert variable in hint
    production.ENVIRONMENT = "development"
    assert found() == []


def test_embedded_engines_can_be_allowed(production) -> None:
    production.EMBEDDED_ENGINES = ["postgresql", "valkey"]
    production.ALLOW_EMBEDDED_IN_PRODUCTION = True
    assert found() == []


def test_the_metrics_name_few_tenants(production) -> None:
    production.JOBS_METRICS_TENANTS = ["acme"] * 200
    assert found() == []
    production.JOBS_METRICS_TENANTS = ["acme"] * 201
    [(identity, hint)] = found()
    assert identity == "jobs.E010"
    assert "at most 200" in hint


@pytest.mark.parametrize("objective", [0.949, 1, 99])
def test_an_objective_of_waits_leaves_a_budget_that_misses_can_burn(production, objective) -> None:
    production.JOBS_WAIT_OBJECTIVE = objective
    [(identity, hint)] = found()
    assert identity == "jobs.E031"
    assert "Set JOBS_WAIT_OBJECTIVE from 0.95 to 0.9999" in hint
    for good in (0.95, 0.9999):
        production.JOBS_WAIT_OBJECTIVE = good
        assert found() == []


def test_a_path_of_the_site_starts_with_a_slash_and_ends_without_one(production) -> None:
    for path in ("scheduler", "/scheduler/", "/"):
        production.FORCE_SCRIPT_NAME = path
        [(identity, hint)] = found()
        assert identity == "scheduler.E013"
        assert "FORCE_SCRIPT_NAME" in hint
    production.FORCE_SCRIPT_NAME = "/tools/scheduler"
    assert found() == []


@pytest.mark.parametrize("url", ["https://host/{id}", "javascript:{trace_id}", "host/{trace_id}"])
def test_an_address_of_traces_needs_the_place_of_the_id(production, url) -> None:
    production.JOBS_TRACE_URL = url
    [(identity, hint)] = found()
    assert identity == "jobs.E011"
    assert "JOBS_TRACE_URL" in hint
    production.JOBS_TRACE_URL = "https://host/trace/{trace_id}?a=1"
    assert found() == []


@pytest.mark.parametrize("url", ["javascript:alert(1)", "https://host/docs/operations.md", "https://host/index.html"])
def test_an_address_of_the_documents_is_a_folder_of_the_web(production, url) -> None:
    production.JOBS_DOCS_URL = url
    [(identity, hint)] = found()
    assert identity == "jobs.E011"
    assert "JOBS_DOCS_URL" in hint
    production.JOBS_DOCS_URL = "https://host/docs/"
    assert found() == []


@pytest.mark.parametrize("environment", ["prod", "Production", ""])
def test_an_unknown_environment_is_an_error(production, environment) -> None:
    production.ENVIRONMENT = environment
    [(identity, hint)] = found()
    assert identity == "scheduler.E001"
    assert "production" in hint


@pytest.mark.parametrize("environment", checks.ENVIRONMENTS)
def test_another_database_than_postgresql_is_an_error_everywhere(production, monkeypatch, environment) -> None:
    production.ENVIRONMENT = environment
    monkeypatch.setitem(production.DATABASES["default"], "ENGINE", "django.db.backends.sqlite3")
    [(identity, hint)] = found()
    assert identity == "jobs.E001"
    assert "DATABASE_URL" in hint


@pytest.mark.parametrize("url", ["ftp://host/T0/secret", "host/T0/secret", "file:///etc/passwd"])
def test_a_webhook_that_is_no_web_address_is_an_error_that_does_not_show_it(production, url) -> None:
    production.JOBS_DEATH_WEBHOOK = url
    [(identity, hint)] = found()
    assert identity == "jobs.E003"
    assert "JOBS_DEATH_WEBHOOK" in hint
    assert url not in str(run_checks(tags=[jobs_checks.TAG]))
    production.JOBS_DEATH_WEBHOOK = "https://host/T0/secret"
    assert found() == []


@pytest.mark.parametrize("net", ["10.1.0.0/33", "intranet", "10.1.2.3/16"])
def test_an_invalid_network_for_webhooks_is_an_error(production, net) -> None:
    production.JOBS_WEBHOOK_NETWORKS = ["fd00::/8", net]
    [(identity, hint)] = found()
    assert identity == "jobs.E025"
    assert "JOBS_WEBHOOK_NETWORKS" in hint
    production.JOBS_WEBHOOK_NETWORKS = ["fd00::/8", "10.1.0.0/16"]
    assert found() == []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


VARIABLES = (REPOSITORY / "deploy" / ".env.example").read_text()
RANGES = {"LOGIN_FAILURES": ("tenants.E003", False)}
RANGES |= dict.fromkeys(checks.NOT_NEGATIVE, ("scheduler.E008", True))
RANGES |= {name: ("jobs.E002", one.zero) for name, one in conf.ALL_SETTINGS.items() if _is_number(one.default)}


def test_numbers_have_a_range_everywhere(production, subtests) -> None:
    production.ENVIRONMENT = "development"
    for name, (wanted, zero) in RANGES.items():
        with subtests.test(name):
            assert f"\n#{name}=" in VARIABLES, "the hint names it: that is what an operator can set"
            for value in (-1, float("nan"), float("inf")):
                setattr(production, name, value)
                [(identity, hint)] = found()
                assert identity == wanted
                assert name in hint
            setattr(production, name, 0)
            assert len(found()) == (not zero)
            setattr(production, name, 0.99 if name == "JOBS_WAIT_OBJECTIVE" else 0.5)  # has a test of its own
            assert found() == []


@pytest.mark.parametrize("start", ["manage.py check", "celery", *OTHER_STARTS])
def test_nothing_starts_in_production_with_the_default_secret_key(start) -> None:
    done = _run(STARTS[start], SECRET_KEY="")
    assert done.returncode > 0
    assert "scheduler.E003" in done.stderr
    assert "Set SECRET_KEY to" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) < 14  # with a warning, where nobody has collected static files


@pytest.mark.parametrize("start", ["celery", *(one for one in OTHER_STARTS if "uvicorn" in one.id)])
def test_the_exit_status_tells_systemd_not_to_try_again(start) -> None:
    assert _run(STARTS[start], JOBS_BEAT_INTERVAL="0").returncode == os.EX_CONFIG


@pytest.mark.parametrize("direct", ["", "postgres://u:p@127.0.0.1:1/x"])
def test_with_good_settings_the_command_line_starts_and_warns_of_nothing(direct) -> None:
    done = _run(STARTS["manage.py check"], DATABASE_DIRECT_URL=direct)
    assert done.returncode == 0, done.stderr
    # In a checkout nobody has collected static files.
    assert set(re.findall(r"\((\w+\.W\d+)\)", done.stderr)) <= {"scheduler.W001"}


def _run(argv: list[str], **environ: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], **GOOD, **environ}
    return subprocess.run(
        [sys.executable, *argv], cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False, timeout=60
    )
