"""System checks of the addresses of the broker and of the cache, and of the packages that these need."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from jobs.celery import celery_app
from jobs.checks import caches, extras
from plumbing.faults import Fault, check

VERIFIED = "ssl_cert_reqs=required"
CERTIFICATES = ("required", "optional", "none")  # words that the libraries of broker and cache both know


def _urls() -> list[str]:
    """Return the addresses of the broker; Celery takes several as a list, or with semicolons between them."""
    configured = celery_app().conf.broker_url or ()
    return [url for urls in ([configured] if isinstance(configured, str) else configured) for url in urls.split(";")]


@check("jobs.E015")
def redis_is_installed() -> Iterator[Fault]:
    """Celery and Django import the package only when they connect. Without it a worker ends then."""
    missing = extras.missing("redis")
    cache = "Redis" in caches.chosen()["BACKEND"]
    for name, without in (
        ("CELERY_BROKER_URL", missing if any(url.startswith(("redis", "sentinel")) for url in _urls()) else []),
        (caches.its_name(), [package for package in missing if package == "redis" and cache]),
    ):
        if without:
            packages = " and ".join(without)
            yield f"{name} needs {packages}, not installed here.", extras.remedy("redis")


@check("jobs.E012")
def broker_behind_sentinels() -> Iterator[Fault]:
    """Sentinels may watch several servers, so the address must name one."""
    named = (celery_app().conf.broker_transport_options or {}).get("master_name")
    if not named and any(url.startswith("sentinel") for url in _urls()):
        hint = 'Set CELERY_BROKER_TRANSPORT_OPTIONS to {"master_name": "..."}, as in "sentinel monitor ...".'
        yield "CELERY_BROKER_URL names sentinels, but nothing names the server that they watch.", hint


@check("jobs.E013")
def tls() -> Iterator[Fault]:
    """The libraries fail at each connection with an unknown word."""
    options = [("CELERY_BROKER_URL", _options(url)) for url in _urls()]
    for name, given in [*options, (caches.its_name(), caches.chosen().get("OPTIONS", {}))]:
        if (word := given.get("ssl_cert_reqs", "required")) not in CERTIFICATES:
            hint = f"Write {VERIFIED} in {name}; if it comes from a URL, as its query: ...?{VERIFIED}"
            yield f"{name} has ssl_cert_reqs={word}.", hint
        if (file := given.get("ssl_ca_certs")) and not Path(file).is_file():
            hint = f"Let ssl_ca_certs in {name} name the PEM file of the authority, which this process can read."
            yield f"{name} has ssl_ca_certs={file}, which is no file.", hint


@check("jobs.W008")
def brokers_are_verified() -> Iterator[Fault]:
    """The broker's library trusts every server unless a word forbids it."""
    trusting = any(_options(url).get("ssl_cert_reqs", "none") != "required" for url in _urls())
    if trusting and any(url.startswith("rediss:") for url in _urls()) and not celery_app().conf.broker_use_ssl:
        hint = f"Write CELERY_BROKER_URL=...?{VERIFIED}, and &ssl_ca_certs=/path/ca.pem for your own authority."
        yield "The broker's certificate is not verified, so another server could read the password.", hint


@check("jobs.W020")
def brokers_are_named() -> Iterator[Fault]:
    """The library for RabbitMQ accepts the certificate of any host, unless it gets a name to compare."""
    told = celery_app().conf.broker_use_ssl
    named = isinstance(told, dict) and told.get("server_hostname")
    if any(url.startswith("amqps:") for url in _urls()) and not named:
        hint = (
            'Set broker_use_ssl of Celery to {"server_hostname": "host"}, a name that each node has in its certificate.'
        )
        yield "The name in the broker's certificate is not checked, so another server could read the password.", hint


def _options(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


@check("jobs.E022")
def database_as_broker() -> Iterator[Fault]:
    """Messages go through the session's own database, so another one in the address would be ignored."""
    if any(url.startswith("postgresql:") and url.rstrip("/") != "postgresql:" for url in _urls()):
        hint = 'Set CELERY_BROKER_URL to "postgresql://"; DATABASES["default"] says where that is.'
        yield "CELERY_BROKER_URL names a database, but the messages of jobs go through theirs.", hint
