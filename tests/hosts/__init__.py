"""Hosts of their own on one machine: network namespaces, and a network between them that may be cut, slow or lossy.

    with Net() as net:
        a, b = net.host("a"), net.host("b")
        a.run(f"psql -h {b.address} ...")
        net.cut_one_way(a, b)

Nothing of it touches the network of the machine. The namespaces have no names: they are gone with the process that made
them and with those that it has started on them, also after kill -9. Only root may make them.
"""

from tests.hosts.host import Host
from tests.hosts.net import Net, missing

__all__ = ["Host", "Net", "missing"]
