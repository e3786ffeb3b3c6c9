"""Check the address of a tenant's endpoint: it must be public, and never one that only our machines can reach.

`ipaddress.is_global` is not enough. It accepts multicast, and the forms of IPv6 that carry an address of IPv4. It also
accepts public addresses at which a cloud serves its own machines.
"""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from jobs.calls.refusals import InvalidRequest

MOST_CHARACTERS = 500
LOW_PORTS, HIGH_PORTS = {443}, range(1024, 65536)
PLAIN = re.compile(r"[!-\[\]-~]+")  # ASCII without spaces, controls and backslash
# A name of two or more labels; the last one begins with a letter, so that 127.1, 0x7f.1 and 2130706433 are none.
NAME = re.compile(r"(?=.{4,253}\Z)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
PUBLIC_6 = IPv6Network("2000::/3")
REFUSED_6 = [
    IPv6Network(net)
    for net in (
        "2001::/23",  # the IETF's: Teredo, ORCHID, benchmarks
        "2001:db8::/32",
        "2002::/16",  # 6to4: carries an address of IPv4
        "2620:4f:8000::/48",
        "3ffe::/16",
        "3fff::/20",
    )
]
REFUSED_4 = [
    ip_network(net)
    for net in (
        "168.63.129.16/32",  # services of Azure for its machines
        "192.0.0.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "192.175.48.0/24",
    )
]
ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # the third quarter of an address that carries one of IPv4


def split(url: str) -> tuple[str, int, str]:
    """Return the host, the port, and the path with its query. Raises InvalidRequest for a URL that is not allowed."""
    if len(url) > MOST_CHARACTERS:
        raise InvalidRequest("url", f"must have at most {MOST_CHARACTERS} characters")
    if not PLAIN.fullmatch(url):
        raise InvalidRequest("url", "must have only ASCII characters, and no spaces or backslashes; others as %XX")
    try:
        parts = urlsplit(url)
        port = 443 if parts.port is None else parts.port
    except ValueError:
        raise InvalidRequest("url", "is not a URL such as https://example.com/hooks/jobs") from None
    if parts.scheme != "https":
        raise InvalidRequest("url", "must begin with https://")
    if "@" in parts.netloc or "#" in url:
        raise InvalidRequest("url", "must have no user, password or fragment")
    host = (parts.hostname or "").lower()
    if not NAME.fullmatch(host):
        raise InvalidRequest("url", "must have a public host name such as example.com, not an IP address or localhost")
    if port not in LOW_PORTS and port not in HIGH_PORTS:
        raise InvalidRequest("url", "must have the port 443, or one from 1024 on")
    return host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def is_public(written: str, allowed: Iterable[str] = ()) -> bool:
    """Return whether an endpoint may have this address.

    allowed: further networks, which the operator allows.
    """
    address = ip_address(written)
    if any(address in ip_network(net) for net in allowed):
        return True
    return _is_public_4(address) if isinstance(address, IPv4Address) else _is_public_6(address)


def _is_public_4(address: IPv4Address) -> bool:
    if address.is_multicast or address.is_reserved or not address.is_global:
        return False
    return not any(address in net for net in REFUSED_4)


def _is_public_6(address: IPv6Address) -> bool:
    """Return whether it is an address that is given to networks: no mapped, translated, local or multicast one."""
    if address not in PUBLIC_6 or not address.is_global or address.is_multicast:
        return False
    if int(address) >> 32 & 0xFFFF_FFFF in ISATAP:
        return False
    return not any(address in net for net in REFUSED_6)
