"""The load: jobs of many tenants, with retries, delays, snoozes, cancels, revivals, identical ones, litter, flows; some
that expire, some that the newest call replaces, some that gather calls, some that make checkpoints or wait for an
answer, some whose ORM code leaves the thread of the body, and some that end in a transaction of their own. About half
are coroutines, most of them in the light pool.
"""

import random
import threading
import time
from collections import Counter
from typing import Any

from django.db import DatabaseError, InterfaceError, connection

from jobs import batch, chain, events, group, submit_many
from jobs.authoring.decorator import CALLS
from jobs.calls.request import JobRequest
from jobs.engine.verbs.cancel import cancel
from jobs.engine.verbs.revive import revive
from jobs.lifecycle import FINAL
from jobs.models import Job, Pool, Queue
from jobs.store import EVERY_TENANT
from tenants.models import Tenant
from tests.chaos.world import LIGHT, SEATS
from tests.factories import TenantFactory
from tests.sample.light_load import LIGHT_LITTER, LIGHT_WAYS, QUEUE
from tests.sample.litter import LITTER
from tests.sample.models import Thing
from tests.sample.ways import LEFT, WAYS

SLOTS = (1, 1, 2, 3, 5, 8)  # of each tenant
USERS = ("", "ada", "bob")
MOST_UNFINISHED = 400  # then the submitters wait: the machine is small
BATCH = 10


def light_pool() -> None:
    """The light pool with its queue."""
    Pool.objects.create(name=LIGHT, kind="light", seats=SEATS)
    Queue.objects.create(name=QUEUE, pool=LIGHT)


def things() -> list[Thing]:
    """One of each tenant, a queue of its own limit, and the light pool with its queue."""
    Queue.objects.create(name="narrow", concurrency=2, weight=3)
    light_pool()
    made = [
        TenantFactory(
            slug=f"{'opted' if place % 3 == 2 else 'tenant'}-{place}",  # who opts in has a job every second
            queue__num_slots=slots,
            queue__burst_slots=slots + 2 if place % 3 == 0 else None,
            queue__user_slots=max(1, slots - 1) if place % 2 else None,
        )
        for place, slots in enumerate(SLOTS)
    ]
    return [Thing.objects.create(tenant=tenant) for tenant in made]


class Load:
    """Submits until stopped. accepted: every job whose submission was answered, and when. callbacks: the job at the end
    of each batch. calls: the job that has gathered each. revived: jobs that were. faults: of its own.
    """

    def __init__(self, things: list[Thing], seed: int, threads: int = 2) -> None:
        self.accepted: dict[int, float] = {}
        self.callbacks: dict[int, int] = {}
        self.calls: dict[int, int] = {}
        self.revived: set[int] = set()
        self._asked: list[tuple[Tenant, int]] = []  # by whom, and the number
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._things = things
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(f"{seed}/{n}"),), daemon=True)
            for n in range(threads)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, chance: random.Random) -> None:
        recent: list[int] = []
        while not self._stop.wait(chance.uniform(0.05, 0.25)):
            try:
                if Job.objects.exclude(status__in=FINAL).count() < MOST_UNFINISHED:
                    recent = (recent + self._submit(chance))[-100:]
                self._cancel(chance, recent)
                self._revive(chance)
                self._answer(chance)
            except (DatabaseError, InterfaceError):  # refused, or the answer was lost
                connection.close()
                with self._lock:
                    self.counts["refused or unanswered submissions"] += 1
            except Exception as error:  # then the run would prove nothing
                self.faults.append(f"a submitter has ended: {error!r}")
                break
        connection.close()

    def _submit(self, chance: random.Random) -> list[int]:
        if chance.random() < 0.15:
            return self._submit_flow(chance)
        requests = [self._request(chance) for _ in range(chance.randint(1, BATCH))]
        requests += [request for request in requests if chance.random() < 0.2]  # pressed twice
        ids = submit_many(requests)
        with self._lock:
            self.counts["identical submissions"] += len(ids) - len(set(ids) - self.accepted.keys())
            self.accepted.update(dict.fromkeys(ids, time.time()))
            gathered = ((one.args[CALLS], job) for one, job in zip(requests, ids, strict=True) if CALLS in one.args)
            self.calls.update((number, job) for calls, job in gathered for number in calls)
        return ids

    def _submit_flow(self, chance: random.Random) -> list[int]:
        """Jobs of one tenant that wait for each other: a chain, or a batch with a job at its end."""
        calls = chance.choice(self._things).async_(priority=chance.randint(0, 10))
        kinds = [chance.choices(["work", "stumble", "fail"], [8, 2, 1])[0] for _ in range(chance.randint(0, BATCH))]
        methods = [chance.choice(["", "light_"]) + kind for kind in kinds]
        steps = [getattr(calls, method).request(chance.randrange(10**9), seconds=0.0) for method in methods]
        if chance.random() < 0.5:
            with batch("chaos", on_end=calls.work.request(chance.randrange(10**9), seconds=0.0)) as made:
                ids = made.add(steps)
            self.callbacks[made.id] = Job.objects.get(predecessors=[made.id]).pk
        else:
            ids = chain(*steps[:2], group(*steps[2:5]), *steps[5:])
        with self._lock:
            self.counts["flows"] += 1
            self.accepted.update(dict.fromkeys(ids, time.time()))
        return ids

    def _request(self, chance: random.Random) -> JobRequest:
        options: dict[str, Any] = {"priority": chance.randint(0, 10), "user": chance.choice(USERS)}
        if chance.random() < 0.2:
            options["delay"] = chance.uniform(0.1, 3)
        light = chance.choice(["", "light_"])
        if chance.random() < 0.3:
            options["queue"] = "narrow"
        elif light:
            options["queue"] = chance.choices([QUEUE, "default"], [9, 1])[0]  # a coroutine runs in either kind of pool
        number = chance.randrange(10**9)
        if chance.random() < 0.1:
            return chance.choice(self._things).async_(priority=options["priority"]).collect.request(calls=[number])
        if chance.random() < 0.1:
            options["expires"] = chance.uniform(0.1, 2)
        if chance.random() < 0.1:
            options["identical"] = chance.choice(["replace", "supersede", "debounce"])
            options["delay"] = chance.uniform(0.1, 1)
            number = chance.randrange(3)
        thing = chance.choice(self._things)
        calls = thing.async_(**options)
        methods = ["work", "stumble", "fail", "litter", "go_astray", "book", "toil", "ask"]
        method = chance.choices(methods, [14, 4, 1, 2, 2, 3, 2, 2])[0]
        # Most do next to nothing; a few are long enough to be cancelled, stopped or handed back in the middle.
        dice = chance.random() * (0.1 if method == "toil" else 1)
        seconds = chance.uniform(1, 4) if dice < 0.02 else chance.expovariate(1 / 0.05) if dice < 0.3 else 0.0
        arguments = {"kind": chance.choice(list(LIGHT_LITTER if light else LITTER))} if method == "litter" else {}
        if method == "go_astray":
            arguments = {"way": chance.choice(list(LIGHT_WAYS if light else WAYS)), "left": chance.choice(list(LEFT))}
        if method == "ask":
            self._asked.append((thing.tenant, number))
        return getattr(calls, light + method).request(number, seconds=round(seconds, 4), **arguments)

    def _cancel(self, chance: random.Random, recent: list[int]) -> None:
        if recent and chance.random() < 0.2:
            answer = cancel(chance.choice(recent), tenant_id=EVERY_TENANT)
            with self._lock:
                self.counts[f"cancel: {answer}"] += 1

    def _answer(self, chance: random.Random) -> None:
        """Answer one of those that asked; some are never answered, and some before their job begins."""
        with self._lock:
            asked = (
                self._asked.pop(chance.randrange(len(self._asked))) if self._asked and chance.random() < 0.5 else None
            )
        if asked is not None:
            tenant, number = asked
            told = events.tell(tenant, f"answer:{number}", number)
            with self._lock:
                self.counts["answers" if told else "answers refused"] += 1

    def _revive(self, chance: random.Random) -> None:
        """Revive a job that ended badly, perhaps long ago."""
        if chance.random() < 0.1:
            with self._lock:
                job_id = chance.choice(sorted(self.accepted) or [0])
            if revive(job_id, tenant_id=EVERY_TENANT):
                with self._lock:
                    self.counts["revivals"] += 1
                    self.revived.add(job_id)
