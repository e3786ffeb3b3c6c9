"""The waiting jobs of a lane, in the order of their places; and the first of them that may start."""

from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, nsmallest
from itertools import islice
from operator import attrgetter
from typing import Protocol

from jobs.allocation.order import USERS_OF_A_FRONT


@dataclass(slots=True, eq=False)
class BookedJob:
    """A job that waits or holds a slot.

    place: its order in the lane, by priority and then by submission; unique
    user: "" if it has none
    ticket: the moment of the claim that gave the slot, in milliseconds
    followed: the number of jobs of its lane that ran in the slot before it
    """

    place: int
    user: str = ""
    ticket: int = field(default=0, init=False)
    followed: int = field(default=0, init=False)


class Owner(Protocol):
    """The tenant of a line, as far as the turns of its users need it.

    users: the slots in use, by user
    lets_users: whether users may hold slots
    """

    users: dict[str, int]

    @property
    def lets_users(self) -> bool: ...

    def room_of_user(self, user: str) -> float: ...


class LineByPlace:
    """The line of a lane whose tenant does not limit its users."""

    __slots__ = ("heap",)

    def __init__(self) -> None:
        self.heap: list[tuple[int, BookedJob]] = []

    def __len__(self) -> int:
        return len(self.heap)

    def __iter__(self) -> Iterator[BookedJob]:
        return (job for _, job in self.heap)

    @property
    def least(self) -> int | None:
        """The first place; None if no job waits."""
        return self.heap[0][0] if self.heap else None

    def add(self, job: BookedJob) -> None:
        heappush(self.heap, (job.place, job))

    def remove(self, job: BookedJob) -> None:
        if self.heap[0][1] is job:
            heappop(self.heap)
        else:
            self.heap.remove((job.place, job))
            heapify(self.heap)

    def first(self, n: int) -> list[BookedJob]:
        """Return the first n jobs, in order."""
        if n == 1:
            return [self.heap[0][1]] if self.heap else []
        return [job for _, job in nsmallest(n, self.heap)]


class LineByUser:
    """The line of a lane whose tenant limits its users.

    The users take turns: a visit begins after the user at whom the last visit ended.
    """

    __slots__ = ("lines", "users")

    def __init__(self) -> None:
        self.lines: dict[str, LineByPlace] = {}
        self.users: list[str] = []  # the keys of lines, in order

    def __len__(self) -> int:
        return sum(len(line) for line in self.lines.values())

    def __iter__(self) -> Iterator[BookedJob]:
        return (job for line in self.lines.values() for job in line)

    @property
    def least(self) -> int | None:
        """The first place; None if no job waits."""
        return min((line.heap[0][0] for line in self.lines.values()), default=None)

    def add(self, job: BookedJob) -> None:
        line = self.lines.get(job.user)
        if line is None:
            line = self.lines[job.user] = LineByPlace()
            insort(self.users, job.user)
        line.add(job)

    def remove(self, job: BookedJob) -> None:
        line = self.lines[job.user]
        line.remove(job)
        if not line:
            del self.lines[job.user]
            self.users.remove(job.user)

    def front(self, wanted: int, owner: Owner, last_user: str) -> "Front":
        """Return the first jobs that may start.

        A visit looks at USERS_OF_A_FRONT users, and at one more for each user with a slot in use, who may be full. If
        users have no slots, it looks only at the jobs without a user.

        wanted: the most jobs to return
        owner: its tenant
        last_user: the user at whom the last visit ended
        """
        if wanted <= 0:
            return Front([])
        after = bisect_right(self.users, last_user)
        circle = (
            self.users[after:] + self.users[:after] if owner.lets_users else [user for user in self.users if not user]
        )
        look_at = USERS_OF_A_FRONT + len(owner.users)
        jobs: list[BookedJob] = []
        for user in islice(circle, look_at):
            if free := min(owner.room_of_user(user), wanted):
                jobs += self.lines[user].first(int(free))
        jobs.sort(key=attrgetter("place"))
        seen_all = len(circle) <= look_at
        last = "" if seen_all else circle[look_at - 1]
        return Front(jobs[:wanted], last, seen_all)


@dataclass(slots=True)
class Front:
    """The jobs of a lane that may start, where users take turns.

    jobs: in the order of their places
    last_user: the user at whom the turns ended; "" if they met all users
    all_users: whether the turns met each user who has jobs in the lane
    """

    jobs: list[BookedJob]
    last_user: str = ""
    all_users: bool = True
