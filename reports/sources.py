"""Check the database of a report: it must be a customer's, with the customer's role, never the scheduler's own."""

import socket
from typing import Any

import psycopg
from django.db import connection
from psycopg.conninfo import conninfo_to_dict

NEEDED = ("host", "user", "password", "dbname")
# Parameters that make libpq use the worker's files or environment, or run a program.
OF_THE_WORKER = ("service", "servicefile", "passfile", "sslkey", "sslcert", "sslrootcert", "options", "oauth_issuer")


def refusal(url: str) -> str | None:
    """Return the reason why a report cannot use this URL; None if it can."""
    if not url.startswith(("postgresql://", "postgres://")):
        return "This is not the URL of a PostgreSQL database."
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:  # its message quotes the URL
        return "This is not the URL of a PostgreSQL database."
    if missing := [name for name in NEEDED if not given.get(name)]:
        # libpq would fill in the worker's own user, password file and database.
        return f"The URL lacks {', '.join(missing)}: it must name all of {', '.join(NEEDED)}."
    if taken := sorted(set(given).intersection(OF_THE_WORKER)):
        return f"The URL must not contain {', '.join(taken)}."
    if _is_ours(given):
        return "This is the scheduler's own database; reports must not read it."
    return None


def _is_ours(given: dict[str, Any]) -> bool:
    """Return whether this is the scheduler's database on the scheduler's server, under any name of the server."""
    ours = connection.get_connection_params()
    same_name = str(given["dbname"]) == str(ours.get("dbname"))
    same_port = str(given.get("port") or 5432) == str(ours.get("port") or 5432)
    return same_name and same_port and bool(_addresses(given.get("host")) & _addresses(ours.get("host")))


def _addresses(hosts: Any) -> set[str]:
    """Return the addresses of libpq's `host`: names, addresses or socket directories, separated by commas.

    An empty name or a socket directory stands for this machine.
    """
    addresses = set()
    for given in str(hosts or "").split(","):
        host = "localhost" if not given or given.startswith(("/", "@")) else given
        try:
            addresses |= {str(address[4][0]) for address in socket.getaddrinfo(host, None)}
        except OSError:
            addresses.add(host)
    return {"127.0.0.1" if address == "::1" else address for address in addresses}
