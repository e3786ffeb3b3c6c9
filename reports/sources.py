"""Which databases a report may read: a customer's, with a role of the customer's. Never the scheduler's own."""

import socket
from typing import Any

import psycopg
from django.db import connection
from psycopg.conninfo import conninfo_to_dict

NEEDED = ("host", "user", "password", "dbname")
# What libpq would take from a file or the environment of the worker, or run.
OF_THE_WORKER = ("service", "servicefile", "passfile", "sslkey", "sslcert", "sslrootcert", "options", "oauth_issuer")


def refusal(url: str) -> str | None:
    """Why this URL is none for a report; None: it is one."""
    if not url.startswith(("postgresql://", "postgres://")):
        return "This is not the URL of a PostgreSQL database."
    try:
        said = conninfo_to_dict(url)
    except psycopg.Error:  # whose message quotes the URL
        return "This is not the URL of a PostgreSQL database."
    if missing := [name for name in NEEDED if not said.get(name)]:
        # libpq would fill them in: with the worker's own user, its password file, its database.
        return f"The URL names no {', no '.join(missing)}: it must name all of {', '.join(NEEDED)}."
    if taken := sorted(set(said).intersection(OF_THE_WORKER)):
        return f"The URL must not say {', '.join(taken)}."
    if _is_ours(said):
        return "This is the scheduler's own database; its tables are nobody's report."
    return None


def _is_ours(said: dict[str, Any]) -> bool:
    """Whether it is the same database on the same server, by whatever name the server is called."""
    ours = connection.get_connection_params()
    same_name = str(said["dbname"]) == str(ours.get("dbname"))
    same_port = str(said.get("port") or 5432) == str(ours.get("port") or 5432)
    return same_name and same_port and bool(_addresses(said.get("host")) & _addresses(ours.get("host")))


def _addresses(hosts: Any) -> set[str]:
    """Of a host as libpq takes it: names, addresses or directories of sockets, with commas; none is this machine."""
    found = set()
    for said in str(hosts or "").split(","):
        host = "localhost" if not said or said.startswith(("/", "@")) else said
        try:
            found |= {str(address[4][0]) for address in socket.getaddrinfo(host, None)}
        except OSError:
            found.add(host)
    return {"127.0.0.1" if address == "::1" else address for address in found}
