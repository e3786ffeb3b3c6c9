"""What another project meets: settings with defaults, checks with remedies, and a core without the extras."""

import os
import subprocess
import sys
from contextlib import suppress
from types import ModuleType, SimpleNamespace

import pytest
from amqp import ChannelError
from celery import Celery, signals
from celery.apps import worker
from django.contrib.messages.middleware import MessageMiddleware
from django.core.checks import CheckMessage, Tags, run_checks
from django.db.backends.postgresql.base import DatabaseWrapper
from django.urls import include, path
from kombu.transport.memory import Channel

from embedded import REPOSITORY
from jobs import celery, checks, conf
from jobs.console import remedies
from jobs.reading.explain.explanation import Gate
from jobs.store import Claimed
from jobs.worker import bootstrap, message  # noqa: F401 - the first connects the check
from tenants import checks as tenant_checks
from tenants import tenant_model

OPTIONS = {"prepare_threshold": 2}
IN_TIME = {"socket_timeout": 5}
SHARED = {
    "BACKEND": "django.core.cache.backends.redis.RedisCache",
    "OPTIONS": {"serializer": "jobs.cache.Text"} | IN_TIME,
}
OTHERS = {
    "BACKEND": "django_redis.cache.RedisCache",
    "OPTIONS": {"SERIALIZER": "django_redis.serializers.json.JSONSerializer", "SOCKET_TIMEOUT": 5},
}
LOCAL = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}

TABLE = {"BACKEND": "django.core.cache.backends.db.DatabaseCache"}


@pytest.fixture
def database(settings, monkeypatch):
    """Change the database's settings: Django refuses another `DATABASES`."""

    def change(**items):
        for name, value in items.items():
            monkeypatch.setitem(settings.DATABASES["default"], name, value)

    change(ENGINE="django.db.backends.postgresql", CONN_MAX_AGE=None, OPTIONS=OPTIONS)
    return change


@pytest.fixture
def project(settings, database):
    """The settings of a project that no check has anything against."""
    settings.CACHES = {"default": SHARED}
    return settings


@pytest.fixture(autouse=True)
def carrier(monkeypatch) -> None:
    """Which app of Celery carries jobs is afterwards as it was."""
    monkeypatch.setattr(celery, "_app", celery._app)
    monkeypatch.setattr(celery, "_checks", celery._checks)


@pytest.fixture
def unconfigured(carrier, monkeypatch) -> None:
    monkeypatch.setattr(celery, "_app", None)


def found() -> dict[str, str]:
    """The hints by id."""
    return {message.id: message.hint for message in run_checks(tags=[checks.TAG])}


def test_a_project_as_the_page_has_it_passes_and_its_cache_has_a_time_limit_with_an_older_redis_py(
    project, monkeypatch
) -> None:
    assert found() == {}
    monkeypatch.setattr("redis.Connection", lambda: SimpleNamespace(socket_timeout=None))
    for cache in (SHARED, OTHERS, LOCAL | {"LOCATION": "x"}):
        project.CACHES = {"default": cache}
        assert "jobs.W013" not in found()
    project.CACHES = {"default": SHARED | {"OPTIONS": {"serializer": "jobs.cache.Text"}}}
    assert list(found()) == ["jobs.W013"]


@pytest.mark.parametrize(
    ("identity", "name", "value", "remedy"),
    [
        ("jobs.E004", "JOBS_METRICS_TOKEN", "short", "openssl"),
        ("jobs.E008", "USE_TZ", False, "USE_TZ"),
        ("jobs.W001", "CACHES", {"default": LOCAL}, "Redis"),
        ("jobs.W005", "JOBS_MAX_RETRYS", 3, "JOBS_MAX_RETRIES"),
        ("jobs.W005", "JOBS_OF_QUITE_ANOTHER_KIND", "red", "jobs/conf.py"),
        ("jobs.W006", "CACHES", {"default": SHARED | {"OPTIONS": IN_TIME}}, "jobs.cache.Text"),
        (
            "jobs.W006",
            "CACHES",
            {"default": OTHERS | {"OPTIONS": {"serializer": "x"} | IN_TIME}},
            "django_redis.serializers.json",
        ),
        ("jobs.E019", "JOBS_CACHE", "elsewhere", "default"),
        ("jobs.W007", "MIDDLEWARE", [], "tenants.middleware.audited"),
    ],
)
def test_each_fault_has_one_check_with_its_remedy(project, identity, name, value, remedy) -> None:
    setattr(project, name, value)
    [(its_id, hint)] = found().items()
    assert its_id == identity
    assert remedy in hint


class TheirMessages(MessageMiddleware):
    """A project's own."""


def test_our_pages_need_messages_and_a_project_without_pages_needs_none(project) -> None:
    def told() -> list[str]:
        return [message.hint for message in run_checks(tags=[Tags.urls]) if message.id == "jobs.E026"]

    assert told() == []
    project.MIDDLEWARE = ["tenants.middleware.audited", "nowhere.at.all"]
    [hint] = told()
    assert "django.contrib.messages.middleware.MessageMiddleware" in hint
    project.ROOT_URLCONF = "jobs.contrib.metrics.urls"
    assert told() == []
    del project.ROOT_URLCONF
    assert told() == []
    for pages in ("jobs.console.ops.urls", "jobs.portal.members.urls"):
        project.ROOT_URLCONF = ModuleType("their_addresses")
        project.ROOT_URLCONF.urlpatterns = [path("", include(pages))]
        assert told() == [hint]
    project.MIDDLEWARE = [f"{__name__}.TheirMessages"]
    assert told() == []


@pytest.mark.parametrize("others", [SHARED | {"OPTIONS": IN_TIME}, LOCAL])
@pytest.mark.parametrize("ours", [SHARED, OTHERS, TABLE])
def test_the_default_cache_does_not_matter_beside_one_of_our_own(project, others, ours) -> None:
    project.CACHES = {"default": others, "results": ours}
    assert list(found()) in (["jobs.W006"], ["jobs.W001"])
    project.JOBS_CACHE = "results"
    assert found() == {}


def test_the_remedies_name_the_cache_that_is_used(project) -> None:
    project.JOBS_CACHE = "results"
    for wrong in (
        LOCAL,
        {"BACKEND": SHARED["BACKEND"], "OPTIONS": IN_TIME},
        SHARED | {"OPTIONS": {"serializer": "", "ssl_cert_reqs": "NO"} | IN_TIME},
    ):
        project.CACHES = {"default": SHARED, "results": wrong}
        [hint] = found().values()
        assert 'CACHES["results"]' in hint


@pytest.mark.parametrize(
    ("identity", "changed"),
    [
        ("jobs.E007", {"OPTIONS": OPTIONS | {"pool": True}}),
        ("jobs.E007", {"ENGINE": "geventpool"}),
        ("jobs.E027", {"AUTOCOMMIT": False}),
        ("jobs.W011", {"TIME_ZONE": "Asia/Tokyo"}),
        ("jobs.W002", {"CONN_MAX_AGE": 0}),
        ("jobs.W003", {"OPTIONS": {}}),
    ],
)
def test_connections_are_as_the_claim_needs_them(project, database, identity, changed, monkeypatch) -> None:
    pooled = type("DatabaseWrapper", (DatabaseWrapper,), {"__module__": "geventpool.base"})
    monkeypatch.setitem(sys.modules, "geventpool.base", SimpleNamespace(DatabaseWrapper=pooled))
    database(**changed)
    assert list(found()) == [identity]


def test_another_database_is_told_to_be_one_and_gets_no_remedies_of_postgresql(project, database) -> None:
    """Nor does a router help that would send everything there: those of a second database send it elsewhere."""
    database(ENGINE="django.db.backends.sqlite3", CONN_MAX_AGE=0, OPTIONS={})
    project.DATABASE_ROUTERS = ["tests.unit.test_library.ToPostgresql"]
    [(identity, hint)] = found().items()
    assert identity == "jobs.E001"
    assert 'DATABASES["default"]' in hint and "beside another" in hint


class ToPostgresql:
    """The router of a project with PostgreSQL beside its default database."""

    def db_for_read(self, model, **_: object) -> str:
        return "postgresql"

    db_for_write = db_for_read


@pytest.mark.parametrize(
    ("url", "options", "identities"),
    [
        ("sentinel://a:26379;sentinel://b:26379", {}, ["jobs.E012"]),
        ("sentinel://a:26379;sentinel://b:26379", {"master_name": "jobs"}, []),
        ("rediss://h/0?ssl_cert_reqs=required", {}, []),
        ("rediss://h/0?ssl_cert_reqs=required&ssl_ca_certs=" + __file__, {}, []),
        ("rediss://h/0?ssl_cert_reqs=required&ssl_ca_certs=/nowhere/ca.pem", {}, ["jobs.E013"]),
        ("rediss://h/0?ssl_cert_reqs=REQUIRED", {}, ["jobs.E013", "jobs.W008"]),
        ("rediss://h/0", {}, ["jobs.W008"]),
        ("rediss://h/0?ssl_cert_reqs=none", {}, ["jobs.W008"]),
        ("redis://h/0", {}, []),
        ("amqp://h//", {}, []),
        ("amqps://h//", {}, ["jobs.W020"]),
        ("postgresql://", {}, []),
        ("postgresql://user:password@host/other", {}, ["jobs.E022"]),
    ],
)
def test_the_address_of_the_broker_has_what_its_library_misses_later(
    project, monkeypatch, url, options, identities
) -> None:
    app = Celery("theirs", set_as_current=False)
    app.conf.broker_transport_options = options
    celery.configure(app)
    monkeypatch.setenv("CELERY_BROKER_URL", url)  # Celery itself reads it, before all settings
    assert sorted(found()) == identities


@pytest.mark.parametrize(
    ("addresses", "absent", "needing"),
    [
        (("redis://h/0", SHARED), ["redis"], ["CELERY_BROKER_URL needs redis", 'CACHES["default"] needs redis']),
        (("redis://h/0", SHARED), ["packaging"], ["CELERY_BROKER_URL needs packaging"]),
        (("rediss://h/0?ssl_cert_reqs=required", TABLE), ["redis", "packaging"], ["CELERY_BROKER_URL needs redis and"]),
        (("amqp://h//;sentinel://h:26379", TABLE), ["redis"], ["CELERY_BROKER_URL needs redis"]),
        (("amqp://h//", SHARED), ["redis", "packaging"], ['CACHES["default"] needs redis,']),
        (("amqp://h//", TABLE), ["redis", "packaging"], []),
    ],
)
def test_redis_without_its_package_is_refused_with_the_extra(project, monkeypatch, addresses, absent, needing) -> None:
    url, cache = addresses
    project.CACHES = {"default": cache}
    app = Celery("theirs", set_as_current=False)
    app.conf.broker_transport_options = {"master_name": "jobs"}
    celery.configure(app)
    monkeypatch.setenv("CELERY_BROKER_URL", url)  # Celery itself reads it, before all settings
    for package in absent:
        monkeypatch.setitem(sys.modules, package, None)
    messages = run_checks(tags=[checks.TAG])
    assert [message.id for message in messages] == ["jobs.E015"] * len(needing)
    assert all(message.msg.startswith(said) for message, said in zip(messages, needing, strict=True))
    assert all("multi-tenant-job-scheduler[redis]" in message.hint for message in messages)


def test_a_cache_with_a_word_that_its_library_does_not_know_is_refused(project) -> None:
    project.CACHES = {"default": SHARED | {"OPTIONS": {**SHARED["OPTIONS"], "ssl_cert_reqs": "CERT_REQUIRED"}}}
    assert 'CACHES["default"]' in found()["jobs.E013"]


def test_an_app_of_celery_that_does_not_carry_jobs_is_refused(project, unconfigured) -> None:
    app = Celery("theirs", set_as_current=False)
    assert list(found()) == ["jobs.E005"]
    app.conf.task_always_eager = True  # as projects have it for their own tasks, in tests and on a developer's machine
    celery.configure(app)
    assert found() == {}


def test_messages_go_by_the_app_that_carries_jobs_whichever_is_current(monkeypatch) -> None:
    """Those too that come behind one of a pool whose queue the broker refuses."""
    put = Channel._put

    def refuse(self, queue, *message, **more) -> None:
        if queue == "refused":
            raise ChannelError("ACCESS_REFUSED")
        put(self, queue, *message, **more)

    monkeypatch.setattr(Channel, "_put", refuse)
    monkeypatch.setenv("CELERY_BROKER_URL", "memory://")  # Celery itself reads it
    app = Celery("theirs", set_as_current=False)
    app.conf.task_always_eager = True  # for tasks
    celery.configure(app)
    monkeypatch.setattr(message, "leave_to_leader", lambda unsent: None)  # there is no database
    message.hand_over([Claimed(job_id, 2, pool) for job_id, pool in ((6, "refused"), (7, "heavy"), (8, "refused"))])
    with app.connection_for_read() as broker:
        sent = broker.SimpleQueue("heavy").get(block=False)
    assert message.Message.decode(sent.payload[0]) == message.Message(7, 2)


def test_only_the_workers_of_a_configured_app_are_refused(settings, capsys) -> None:
    app, other = Celery("theirs", set_as_current=False), Celery("other", set_as_current=False)
    celery.configure(app)
    settings.JOBS_DEDUP_WINDOW = -1
    signals.celeryd_init.send("other@here", instance=SimpleNamespace(app=other))
    with pytest.raises(SystemExit):
        signals.celeryd_init.send("theirs@here", instance=SimpleNamespace(app=app))
    assert "JOBS_DEDUP_WINDOW" in capsys.readouterr().err


def test_a_worker_whose_log_nobody_reads_stops_whatever_celery_says_before() -> None:
    read, write = os.pipe()
    os.close(read)
    unread = os.fdopen(write, "w")
    worker.safe_say("Warm shutdown", unread)
    with suppress(BrokenPipeError):  # of what an older Celery left in its buffer
        unread.close()


def test_a_setting_is_its_default_unless_the_project_has_one(settings) -> None:
    del settings.JOBS_DEDUP_WINDOW
    assert conf.settings.JOBS_DEDUP_WINDOW == conf.ALL_SETTINGS["JOBS_DEDUP_WINDOW"].default == 600
    settings.JOBS_DEDUP_WINDOW = 5
    assert conf.settings.JOBS_DEDUP_WINDOW == 5


@pytest.mark.parametrize("url", ["redis://h/0", "sentinel://a:1;sentinel://b:2"])
@pytest.mark.parametrize("namespace", [None, "CELERY"])
def test_settings_that_the_guarantees_need_go_before_the_projects_celery_settings(monkeypatch, namespace, url) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", url)  # Celery itself reads it, before all settings
    theirs = {"worker_prefetch_multiplier": 8, "broker_connection_timeout": 9, "accept_content": ["pickle"]}
    theirs |= {"task_time_limit": 300, "task_soft_time_limit": 200, "task_default_rate_limit": "10/m"}
    theirs |= {"task_annotations": {"*": {"time_limit": 300}}, "task_create_missing_queues": False}
    theirs |= {"worker_direct": True}
    theirs["broker_transport_options"] = {"global_keyprefix": "x:", "socket_timeout": 3}
    app = Celery("theirs", set_as_current=False)
    app.config_from_object(
        {f"CELERY_{k.upper()}" if namespace else k: v for k, v in theirs.items()}, namespace=namespace
    )
    celery.configure(app)
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.accept_content == ["json"]
    assert app.conf.worker_disable_rate_limits is True
    assert app.conf.task_time_limit is app.conf.task_soft_time_limit is app.conf.task_annotations is None
    assert app.amqp.queues["heavy"].name == "heavy"
    assert not app.conf.worker_direct, "a queue of each worker beside that of its pool"
    assert app.conf.broker_connection_timeout == 9
    assert app.conf.task_default_queue == "celery", "where tasks go, which no worker of jobs takes"
    assert app.conf.broker_transport_options["global_keyprefix"] == "x:"
    assert app.conf.broker_transport_options["socket_timeout"] == 3
    assert app.conf.broker_transport_options["health_check_interval"] == 25
    assert app.conf.broker_transport_options["ack_emulation"] is False
    assert app.conf.get("CELERY_DB_REUSE_MAX") > 1000


@pytest.mark.parametrize("setting", ["JOBS_TENANT_MODEL", "JOBS_TENANT_MIRROR"])
@pytest.mark.parametrize("model", ["nowhere.Tenant", "Tenant", "auth.Tenant"])
def test_a_project_whose_tenant_model_does_not_exist_is_told_so_at_its_start(setting, model) -> None:
    start = f"import tests.settings as of, django; of.{setting} = {model!r}; django.setup()"
    begun = subprocess.run([sys.executable, "-c", start], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    told = f"ImproperlyConfigured: {setting} is {model!r}: there is no such model."
    assert told in begun.stderr


def misfits() -> list[CheckMessage]:
    """What does not fit of the tenant model, or of the mirrored one."""
    return [one for one in run_checks(tags=["models"]) if one.id == "tenants.E002"]


@pytest.mark.parametrize(
    ("model", "texts", "faults"),
    [
        ("tenants.Tenant", ["name", "slug"], []),
        ("auth.User", ["name", "slug"], ["it has no field 'name'", "it has no field 'slug'"]),
        ("auth.User", ["first_name", "username"], []),
        ("auth.User", ["first_name", "last_name"], ["its field 'last_name' is not unique by itself"]),
        ("auth.User", ["is_staff", "username"], ["its field 'is_staff' is a BooleanField, no text"]),
        (
            "sample.Picture",
            ["title", "id"],
            ["its key 'id' is a UUIDField, no integer", "'id' is a UUIDField"],
        ),
        ("sample.Fresco", ["title", "wall"], ["is a OneToOneField", "in the table of sample.Picture", "not unique"]),
    ],
)
def test_a_tenant_model_that_statements_cannot_join_hears_why_and_what_to_do(monkeypatch, model, texts, faults) -> None:
    monkeypatch.setattr(tenant_checks, "TENANT_MODEL", model)
    settings = ["JOBS_TENANT_NAME", "JOBS_TENANT_SLUG"]
    monkeypatch.setattr(tenant_checks, "TEXTS", dict(zip(texts, settings, strict=True)))
    messages = misfits()
    assert len(messages) == len(faults)
    assert all(fault in message.msg for message, fault in zip(messages, faults, strict=True))
    assert all("JOBS_TENANT_MIRROR" in message.hint for message in messages)
    assert all(("key" in one.msg) != any(setting in one.hint for setting in settings) for one in messages)


@pytest.mark.parametrize(
    ("model", "texts", "faults"),
    [
        ("auth.Group", ["name", "pk"], []),
        ("auth.User", ["get_full_name", "username"], []),
        ("sample.Picture", ["title", "id"], []),
        ("auth.User", ["title", "slug"], ["it has no 'title'", "it has no field 'slug'"]),
        ("auth.User", ["username", "last_name"], ["its field 'last_name' is not unique by itself"]),
        ("jobs.Queue", ["name", "pool"], ["its field 'pool' is not unique by itself"]),
    ],
)
def test_a_model_that_cannot_be_mirrored_hears_why_and_what_to_do(monkeypatch, model, texts, faults) -> None:
    monkeypatch.setattr(tenant_checks, "MIRRORED", model)
    for name, field in zip(["HOST_NAME", "HOST_SLUG"], texts, strict=True):
        monkeypatch.setattr(tenant_checks, name, field)
    messages = misfits()
    assert len(messages) == len(faults)
    assert all(fault in message.msg for message, fault in zip(messages, faults, strict=True))
    assert all("Set JOBS_TENANT_" in message.hint for message in messages)


def test_a_slug_that_ours_has_no_room_for_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(tenant_checks, "MIRRORED", "auth.Group")
    monkeypatch.setattr(tenant_checks, "HOST_SLUG", "name")  # of 150 characters
    assert misfits() == []
    monkeypatch.setattr(tenant_checks, "SLUG_LENGTH", 149)
    assert "longer than 149 characters" in misfits()[0].msg


def test_a_mirror_beside_another_tenant_model_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(tenant_checks, "MIRRORED", "auth.Permission")
    monkeypatch.setattr(tenant_checks, "TENANT_MODEL", "auth.Group")
    assert "tenants.E005" in {one.id for one in run_checks(tags=["models"])}


@pytest.mark.parametrize(
    ("texts", "table"),
    [
        (["name", "slug"], '"tenants_tenant"'),
        (["slug", "name"], '(SELECT "id" AS id, "slug" AS name, "name" AS slug FROM "tenants_tenant")'),
    ],
)
def test_a_statement_names_the_table_of_the_tenant_model_and_its_columns(monkeypatch, texts, table) -> None:
    for name, field in zip(["TENANT_NAME", "TENANT_SLUG"], texts, strict=True):
        monkeypatch.setattr(tenant_model, name, field)
    read = "SELECT FROM tenants_tenant t JOIN not_tenants_tenant"
    assert tenant_model.for_this_project(read) == f"SELECT FROM {table} t JOIN not_tenants_tenant"


def test_the_core_runs_without_the_extras() -> None:
    """In a process where none of them can be imported, the apps load, and so do worker and command line."""
    done = subprocess.run(
        [sys.executable, "-c", CORE], cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "loaded\n"


@pytest.mark.parametrize(
    ("module", "extra", "absent"),
    [
        ("jobs.http.auth", "api", ["ninja"]),
        ("jobs.contrib.metrics.urls", "metrics", ["prometheus_client"]),
        ("jobs.contrib.django_tasks.backend", "tasks", ["django.tasks", "django_tasks"]),
    ],
)
def test_a_part_without_its_extra_ends_in_an_error_that_names_it(module, extra, absent) -> None:
    code = f"import sys; sys.modules |= dict.fromkeys({absent}); import django; django.setup(); import {module}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "scheduler_project.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {module.rpartition('.')[0]} needs {absent[-1]}.")
    assert f"multi-tenant-job-scheduler[{extra}]" in last


def test_a_worker_of_this_project_imports_nothing_of_the_api() -> None:
    """It would take a quarter of its start, and memory."""
    code = "import scheduler_project.celery as c, sys; c.app.loader.import_default_modules()"
    code += "; import jobs.worker.bootstrap, django"
    code += "; django.setup(); print({'ninja', 'pydantic', 'uvicorn', 'prometheus_client'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


CORE = """
import importlib, sys
from pathlib import Path
EXTRAS = "ninja", "pydantic", "unfold", "redis", "prometheus_client"
for name in (*EXTRAS, "environ", "whitenoise", "uvicorn", "pytest", "django_tasks"):
    sys.modules[name] = None  # importing it fails from now on
import django
from celery import Celery
from django.conf import settings
settings.configure(
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "tenants", "jobs"],
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "none"}},
)
from jobs.celery import configure
configure(Celery("theirs"))
django.setup()
OPTIONAL = (
    "admin.py", "api.py", "console/admin", "console/api", "http", "portal/api", "contrib/metrics",
    "contrib/django_tasks", "contrib/testing/plugin.py", "insight/what_if_api.py", "sql/__main__.py",
)
for path in sorted(Path("jobs").rglob("*.py")):
    if not any(path.is_relative_to(Path("jobs") / one) for one in OPTIONAL):
        importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
from tenants.conf import login_failures
assert login_failures() == 10
assert not hasattr(settings, "LOGIN_FAILURES")
print("loaded")
"""


@pytest.mark.parametrize(
    ("url", "redis"),
    [
        ("redis://a:6379/0", True),
        ("rediss://a:6379/0", True),
        ("sentinel://a:26379;sentinel://b:26379", True),
        (["redis://a:6379/0", "redis://b:6379/0"], True),
        (["amqp://a", "amqp://b"], False),
        ("amqp://a", False),
        (None, False),
    ],
)
def test_every_address_of_a_broker_that_celery_takes_is_known(url, redis, monkeypatch) -> None:
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)  # Celery would take it instead
    app = Celery("host", set_as_current=False)
    app.conf.broker_url = url
    celery.configure(app)
    assert ("socket_keepalive" in app.conf.broker_transport_options, app.conf.broker_channel_error_retry) == (
        redis,
        True,
    )


def test_the_command_that_starts_a_worker_names_no_app_of_ours(settings) -> None:
    """A web process does not know the module of its project's Celery app: it may have any name."""
    settings.ROOT_URLCONF = "config.urls"
    queue = SimpleNamespace(name="mail", pool="heavy")
    job = SimpleNamespace(
        tenant=SimpleNamespace(jobs_slug="old shop"), queue=queue, source_type="shop.order", source_method="pay"
    )
    assert remedies.remedy(Gate.NO_WORKER, job) == "manage.py jobs worker heavy"
    assert remedies.remedy(Gate.TENANT_PAUSED, job) == "manage.py tenants slots 'old shop' --resume"
