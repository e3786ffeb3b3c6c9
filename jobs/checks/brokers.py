"""System checks of the addresses of the broker and of the cache, and of what they need installed."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from django.core.checks import CheckMessage, Error, Warning

from jobs.celery import celery_app
from jobs.checks import TAG, caches, extras, registered

VERIFIED = "ssl_cert_reqs=required"
CERTIFICATES = ("required", "optional", "none")  # words that the libraries of broker and cache both know


def _urls() -> list[str]:
    """Those of the broker; Celery takes several as a list, or with semicolons between them."""
    said = celery_app().conf.broker_url or ()
    return [url for one in ([said] if isinstance(said, str) else said) for url in one.split(";")]


@registered(TAG)
def redis_is_installed() -> Iterator[CheckMessage]:
    """Celery and Django import it only when they connect, and a worker ends there."""
    missing = extras.missing("redis")
    cache = "Redis" in caches.chosen()["BACKEND"]
    for name, without in (
        ("CELERY_BROKER_URL", missing if any(url.startswith(("redis", "sentinel")) for url in _urls()) else []),
        (caches.its_name(), [one for one in missing if one == "redis" and cache]),
    ):
        if without:
            packages = " and ".join(without)
            yield Error(f"{name} needs {packages}, not installed here.", hint=extras.remedy("redis"), id="jobs.E015")


@registered(TAG)
def broker_behind_sentinels() -> Iterator[CheckMessage]:
    """Sentinels may watch several servers."""
    named = (celery_app().conf.broker_transport_options or {}).get("master_name")
    if not named and any(url.startswith("sentinel") for url in _urls()):
        yield Error(
            "CELERY_BROKER_URL names sentinels, but nothing names the server that they watch.",
            hint='Set CELERY_BROKER_TRANSPORT_OPTIONS to {"master_name": "..."}, as in "sentinel monitor ...".',
            id="jobs.E012",
        )


@registered(TAG)
def tls() -> Iterator[CheckMessage]:
    """With a wrong word the libraries fail at each connection; without one, the broker's trusts every server."""
    brokers = [urlsplit(url) for url in _urls()]
    options = [("CELERY_BROKER_URL", dict(parse_qsl(broker.query))) for broker in brokers]
    for name, given in [*options, (caches.its_name(), caches.chosen().get("OPTIONS", {}))]:
        if (word := given.get("ssl_cert_reqs", "required")) not in CERTIFICATES:
            hint = f"Write {VERIFIED} in {name}; if it comes from a URL, as its query: ...?{VERIFIED}"
            yield Error(f"{name} has ssl_cert_reqs={word}.", hint=hint, id="jobs.E013")
        if (file := given.get("ssl_ca_certs")) and not Path(file).is_file():
            hint = f"Let ssl_ca_certs in {name} name the PEM file of the authority, which this process can read."
            yield Error(f"{name} has ssl_ca_certs={file}, which is no file.", hint=hint, id="jobs.E013")
    trusting = [one for _, one in options if one.get("ssl_cert_reqs", "none") != "required"]
    if any(broker.scheme == "rediss" for broker in brokers) and trusting and not celery_app().conf.broker_use_ssl:
        yield Warning(
            "The broker's certificate is not verified, so another server could read the password.",
            hint=f"Write CELERY_BROKER_URL=...?{VERIFIED}, and &ssl_ca_certs=/path/ca.pem for your own authority.",
            id="jobs.W008",
        )


@registered(TAG)
def database_as_broker() -> Iterator[CheckMessage]:
    """Messages go through the session's own database, so another one in the address would be ignored."""
    if any(url.startswith("postgresql:") and url.rstrip("/") != "postgresql:" for url in _urls()):
        yield Error(
            "CELERY_BROKER_URL names a database, but the messages of jobs go through theirs.",
            hint='Set CELERY_BROKER_URL to "postgresql://"; DATABASES["default"] says where that is.',
            id="jobs.E022",
        )
