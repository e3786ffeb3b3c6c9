"""Every setting, read from the environment (django-environ); `deploy/.env.example` lists them."""

import json
import logging
import os
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import urlsplit

import environ
from django.templatetags.static import static

from jobs import conf
from jobs.celery import is_redis
from scheduler_project.variables import Variables

BASE_DIR = Path(__file__).resolve().parent.parent
environ.Env.read_env(BASE_DIR / ".env")
env = Variables()
env.ENVIRON = {name: value for name, value in os.environ.items() if value}  # an empty variable counts as unset

# --- Django -----------------------------------------------------------------------------------------

ENVIRONMENT = env.str("ENVIRONMENT", "development")
DEPLOYMENT = env.str("DEPLOYMENT", "scheduler")  # the prefix of its keys in broker and cache: two can share a Redis
DEBUG = env.bool("DEBUG", False)
SECRET_KEY = env.str("SECRET_KEY", "insecure-development-key-never-for-production")
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])  # former keys: docs/change-a-secret.md
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
EMBEDDED_ENGINES = env.list("EMBEDDED_ENGINES", default=[])  # set by `python -m embedded`, for checks.py
ALLOW_EMBEDDED_IN_PRODUCTION = env.bool("ALLOW_EMBEDDED_IN_PRODUCTION", False)

# For the API's docs page. As an app, every process would import it: a quarter of the time of a worker's start.
NINJA = distribution("django-ninja").locate_file("ninja")

INSTALLED_APPS = [
    "unfold",
    "scheduler_project.admin_app.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "tenants",
    "jobs",
    "jobs.insight",
    "reports",
]

MIDDLEWARE = [
    "scheduler_project.health.answered",
    "scheduler_project.middleware.traceable",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "scheduler_project.middleware.secured",
    "scheduler_project.middleware.readable",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "scheduler_project.second_factor.demanded",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "tenants.logins.throttled",
    "tenants.middleware.audited",
]

ROOT_URLCONF = "scheduler_project.urls"
ASGI_APPLICATION = "scheduler_project.asgi.application"
WSGI_APPLICATION = "scheduler_project.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "scheduler_project" / "templates", NINJA / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
FORCE_SCRIPT_NAME = env.str("FORCE_SCRIPT_NAME", "") or None  # the path at which a proxy shows the site
STATIC_URL = (
    f"{FORCE_SCRIPT_NAME or ''}/static/"  # in full: Django would complete it with the path of the first request
)
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{FORCE_SCRIPT_NAME or ''}/"
STATICFILES_DIRS = [NINJA / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if ENVIRONMENT == "production":
    STORAGES["staticfiles"]["BACKEND"] = "scheduler_project.static.HashedStorage"
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = ENVIRONMENT != "production"  # elsewhere without collectstatic
WHITENOISE_ALLOW_ALL_ORIGINS = False  # no other site needs the static files
LOGIN_URL = "login"
LOGIN_FAILURES = env.int("LOGIN_FAILURES", 10)  # wrong passwords in a row before logins are slowed down
SECOND_FACTOR = env.bool("SECOND_FACTOR", False)  # operators need a code of their phone, too
OTP_TOTP_ISSUER = "Jobs"
OPERATOR_SESSION = env.int("OPERATOR_SESSION", 12 * 3600)  # seconds from an operator's login until the next one
LOGIN_REDIRECT_URL = "reports:list"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in {
        "UserAttributeSimilarityValidator": {"max_similarity": 0.5},  # of 1; Django's 0.7 accepts a doubled name
        "CommonPasswordValidator": {},
        "NumericPasswordValidator": {},
        "MinimumLengthValidator": {"min_length": 12},
    }.items()
]
# Seconds for which browsers use only TLS after a first visit by TLS.
SECURE_HSTS_SECONDS = HSTS_SECONDS = env.int("HSTS_SECONDS", 0)

if ENVIRONMENT == "production":
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("SECURE_COOKIES", True)
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# --- PostgreSQL, cache, broker: the URLs come from the environment or from `python -m embedded` -------

DATABASES = {"default": env.db("DATABASE_URL", "postgres:///scheduler")}
DATABASES["default"]["OPTIONS"] = {
    # Notice an unreachable server within seconds, so that callers can try again.
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    # If several hosts are given, use the one that takes changes; a read-only server counts as away.
    "target_session_attrs": "read-write",
    **DATABASES["default"].get("OPTIONS", {}),
    # To compile one of our plans takes longer than to run it. The engine needs this isolation level, whatever the role
    # has. psycopg cannot read every format of a moment. The engine sets the rest itself, too.
    "options": "-c jit=off -c default_transaction_isolation=read\\ committed"
    " -c datestyle=ISO -c extra_float_digits=1 -c array_nulls=on",
    # The claim is planned once per connection, not at every dispatch. 0 behind PgBouncer older than 1.21.
    "prepare_threshold": env.int("DB_PREPARE_THRESHOLD", 2) or None,
}
DATABASES["default"]["CONN_MAX_AGE"] = None  # a thread keeps its connection
WEB_THREADS = env.int("WEB_THREADS", 0)  # threads, and database connections, of a web process; 0: not a web process
DB_STATEMENT_TIMEOUT = env.float("DB_STATEMENT_TIMEOUT", 30)  # seconds, of a web process; a job has its own time limit
DB_LOCK_TIMEOUT = env.float("DB_LOCK_TIMEOUT", 5)  # seconds, of a web process; 0: none
if WEB_THREADS:
    # A request gives up before its client does, and an abandoned transaction loses its locks.
    DATABASES["default"]["OPTIONS"]["options"] += (
        f" -c statement_timeout={DB_STATEMENT_TIMEOUT * 1000:.0f} -c lock_timeout={DB_LOCK_TIMEOUT * 1000:.0f}"
        f" -c idle_in_transaction_session_timeout={DB_STATEMENT_TIMEOUT * 2000:.0f}"
    )
DATABASE_DIRECT_URL = env.str("DATABASE_DIRECT_URL", "")  # set in a web process if DATABASE_URL leads to a pooler
if DATABASE_DIRECT_URL:  # in transaction mode: see deploy/README.md
    pooled = DATABASES["default"]
    DATABASES["direct"] = {**env.db_url_config(DATABASE_DIRECT_URL), "CONN_MAX_AGE": None}
    DATABASES["direct"]["OPTIONS"] = {**pooled["OPTIONS"], **DATABASES["direct"].get("OPTIONS", {})}
    # No transaction finds the settings, plans or cursors of another one; the pooler sets what `options` would set.
    pooled["OPTIONS"] = {**pooled["OPTIONS"], "prepare_threshold": None, "options": ""}
    pooled["DISABLE_SERVER_SIDE_CURSORS"] = True
    SILENCED_SYSTEM_CHECKS = ["jobs.W003"]  # about kept plans: the session that dispatches has them
# Replace connections that a restart cut. A web process detects them without a query: handler.py.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = not WEB_THREADS

CACHES = {"default": env.cache("CACHE_URL", "locmemcache://") | {"KEY_PREFIX": DEPLOYMENT}}
if "Redis" in CACHES["default"]["BACKEND"]:
    options = CACHES["default"].setdefault("OPTIONS", {})  # the options of the URL: TLS
    options["serializer"] = "jobs.cache.Text"  # the default, pickle, can run code
    options.setdefault("socket_timeout", 5)  # seconds, as redis-py has from 8.0 on
    options.setdefault("retry_on_timeout", True)  # once: then a cut connection costs no result either

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", "redis://127.0.0.1:6379/0")
if CELERY_BROKER_URL.startswith("amqps:") and ";" not in CELERY_BROKER_URL:
    # The library compares the name in the certificate only if it gets a name to compare with.
    CELERY_BROKER_USE_SSL = {"server_hostname": urlsplit(CELERY_BROKER_URL).hostname}
CELERY_WORKER_MAX_TASKS_PER_CHILD = env.int("WORKER_MAX_TASKS_PER_CHILD", 1000)
CELERY_WORKER_MAX_MEMORY_PER_CHILD = env.int("WORKER_MAX_MEMORY_KIB_PER_CHILD", 400_000)
CELERY_BROKER_TRANSPORT_OPTIONS = env.json("CELERY_BROKER_TRANSPORT_OPTIONS", {})
if is_redis(CELERY_BROKER_URL):
    CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"] = f"{DEPLOYMENT}:"

UNFOLD = {
    "SITE_TITLE": "Scheduler",
    "SITE_HEADER": "Scheduler",
    "SITE_URL": f"{FORCE_SCRIPT_NAME or ''}/",
    "STYLES": [lambda request: static("jobs/admin.css")],
    "COLORS": {  # the accent of the live pages, in steps
        "primary": {
            **{"50": "#eff5fd", "100": "#dbe8fa", "200": "#bcd4f5", "300": "#8ab4f8", "400": "#7ba5e6"},
            **{"500": "#6193dd", "600": "#1a56b0", "700": "#17498f", "800": "#153b75", "900": "#132f5c"},
            "950": "#0d1f3d",
        },
    },
    "SIDEBAR": {"navigation": "scheduler_project.admin_menu.navigation"},
}

# --- the scheduler: jobs/conf.py explains each setting -----------------------------------------------------

CASTS = {dict: json.loads}  # others as Python has them
for name, setting in conf.ALL_SETTINGS.items():
    vars()[name] = env(name, cast=CASTS.get(type(setting.default), type(setting.default)), default=setting.default)

# --- mail -----------------------------------------------------------------------------------------------

ADMINS = [("", address) for address in env.list("ADMINS", default=[])]
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("DEFAULT_FROM_EMAIL", "scheduler@localhost")
vars().update(env.email_url("EMAIL_URL", "consolemail://"))
EMAIL_TIMEOUT = 10  # seconds

TRACES = env.str("TRACES", "")  # otlp: send spans to OTEL_EXPORTER_OTLP_ENDPOINT; console: to stdout
LOG_FORMAT = env.str("LOG_FORMAT", "line")  # or json
logging.captureWarnings(True)  # Python's warnings are lines of the log, too
DEFAULT_EXCEPTION_REPORTER_FILTER = "scheduler_project.secrets.HideSecrets"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"chosen": {"()": "scheduler_project.logs.formatter", "name": LOG_FORMAT}},
    "handlers": {
        # Python's own stderr: a worker sends what a job prints to sys.stderr to the log.
        "stderr": {"class": "logging.StreamHandler", "formatter": "chosen", "stream": "ext://sys.__stderr__"},
        "none": {"class": "logging.NullHandler"},
    },
    "filters": {"once_a_second": {"()": "scheduler_project.logs.OnceASecond"}},
    "loggers": {
        "asyncio": {"filters": ["once_a_second"]},
        # Replace Django's handlers: one mails settings to ADMINS at each error, and strangers can cause errors.
        "django": {"handlers": [], "propagate": True},
        # Uvicorn's and Celery's lines about single requests and messages lack the facts of ours.
        "uvicorn": {"handlers": [], "propagate": True},
        "uvicorn.access": {"handlers": ["none"], "propagate": False},
        "celery": {"level": "WARNING"},
        "django.request": {"level": "ERROR"},
        "environ": {"level": "WARNING"},  # below that, it logs in each process that there is no .env
        "django.security.DisallowedHost": {"handlers": ["none"], "propagate": False},
    },
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", "INFO")},
}
