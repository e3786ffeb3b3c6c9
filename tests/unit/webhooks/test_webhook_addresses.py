"""Which URLs and addresses an endpoint may have, as an attacker would try them."""

import pytest

from jobs.calls.refusals import InvalidRequest
from jobs.engine.webhooks.addresses import is_public, split

PUBLIC = ["93.184.216.34", "8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001:82f::200e"]
REFUSED = {
    "private": [
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "198.18.0.1",
        "fc00::1",
        "fd12::1",
    ],
    "loopback, this host": ["127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::"],
    "link-local": ["169.254.0.1", "fe80::1", "fe80::1%eth0", "fec0::1"],
    "metadata": ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16"],
    "carries one of IPv4": [
        *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:8.8.8.8", "::8.8.8.8", "64:ff9b::7f00:1", "64:ff9b::808:808"),
        *("64:ff9b:1::a00:1", "2002:7f00:1::", "2002:808:808::1", "2001:0:53aa:64c::1", "2001::1"),
        *("2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1"),
    ],
    "multicast": ["224.0.0.1", "239.1.1.1", "233.252.0.1", "ff02::1", "ff0e::1"],
    "reserved, broadcast, documentation": [
        *("240.0.0.1", "255.255.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "192.88.99.1"),
        *("2001:db8::1", "3fff::1", "3ffe::1", "100::1", "4000::1", "5f00::1"),
    ],
}
HOSTS = [
    *(
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:7f00:1]",
    ),
    *(
        "localhost",
        "metadata",
        "example.com.",
        "-example.com",
        "exa mple.com",
        "ex\u00e4mple.com",
        "\uff11\uff12\uff17.1",
        "a..b",
        "",
    ),
    *("example.123", "example.0x7f", "example.com%00.evil.example", "example.com%2eevil.example", "a" * 64 + ".com"),
]
URLS = [
    *(
        "http://example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "//example.com",
        "example.com",
    ),
    *(
        "https://user@example.com/",
        "https://user:pw@example.com/",
        "https://example.com#@evil.example/",
        "https://@example.com",
    ),
    *(
        "https://example.com\\@evil.example/",
        "https://example.com/a b",
        "https://example.com/\r\nX: y",
        "https://exam\tple.com/",
    ),
    *(
        "https://example.com:22/",
        "https://example.com:80/",
        "https://example.com:0/",
        "https://example.com:99999/",
        "https://example.com:x/",
    ),
    *("https://[::1", "https://example.com/" + "a" * 500, "https://example.com/\x00", "https://example.com/\u2028"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_taken(address):
    assert is_public(address)


@pytest.mark.parametrize("kind", REFUSED)
def test_others_are_refused(kind, subtests):
    for address in REFUSED[kind]:
        with subtests.test(address):
            assert not is_public(address)


def test_an_operator_may_allow_a_network_and_nothing_beside_it():
    assert is_public("127.0.0.1", ["127.0.0.0/8"])
    assert not is_public("10.0.0.1", ["127.0.0.0/8"])
    assert not is_public("::1", ["127.0.0.0/8"])


def test_no_other_url_is_taken(subtests):
    for url in [*URLS, *(f"https://{host}/" for host in HOSTS)]:
        with subtests.test(url), pytest.raises(InvalidRequest) as refused:
            split(url)
        assert refused.value.field == "url"


def test_a_url_is_split_into_what_is_connected_to_and_asked_for():
    assert split("https://Example.COM") == ("example.com", 443, "/")
    assert split("https://a.b-c.example:8443/hook?x=1%20") == ("a.b-c.example", 8443, "/hook?x=1%20")
    assert split("https://xn--bcher-kva.example/?q") == ("xn--bcher-kva.example", 443, "/?q")
