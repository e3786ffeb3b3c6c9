"""What a kernel without netem cannot do: hold packets back for a while, and lose some of them."""

import fcntl
import heapq
import os
import random
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass, replace
from itertools import count

DEVICE = "slow"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000  # linux/if_tun.h
MOST = 0.2  # seconds for which it does not notice that it is closed


@dataclass(frozen=True)
class Trouble:
    """delay: seconds. loss: the share of packets, 0 to 1."""

    delay: float = 0.0
    loss: float = 0.0


class Slow:
    """A device of the present namespace: what is routed to it comes out of it again, late or never."""

    def __init__(self) -> None:
        self._ways: dict[bytes, Trouble] = {}  # by sender and receiver, as they stand in a packet
        self._device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self._device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
        self._chance = random.Random(1)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._carry, name="slow", daemon=True)
        self._thread.start()

    def change(self, sender: str, receiver: str, **trouble: float) -> bool:
        """Change the trouble of one way, between two addresses; return whether there is any now."""
        way = socket.inet_aton(sender) + socket.inet_aton(receiver)
        self._ways[way] = replace(self._ways.get(way, Trouble()), **trouble)
        return self._ways[way] != Trouble()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()
        os.close(self._device)

    def _carry(self) -> None:
        waiting: list[tuple[float, int, bytes]] = []  # when each is due
        numbers = count()
        poll = select.poll()
        poll.register(self._device, select.POLLIN)
        while not self._closed.is_set():
            pause = min(MOST, waiting[0][0] - time.monotonic()) if waiting else MOST
            if poll.poll(max(0.0, pause) * 1000):
                packet = os.read(self._device, 1 << 16)
                trouble = self._ways.get(packet[12:20], Trouble())
                if packet[0] >> 4 == 4 and self._chance.random() >= trouble.loss:
                    heapq.heappush(waiting, (time.monotonic() + trouble.delay, next(numbers), packet))
            while waiting and waiting[0][0] <= time.monotonic():
                os.write(self._device, heapq.heappop(waiting)[2])
