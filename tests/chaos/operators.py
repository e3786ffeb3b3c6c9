"""What people do all day while jobs run: limits, pauses, queues, schedules, erasures, tenants who go and come back.

Two tenants are guests: they are erased and deleted, with all they have. Of the others only limits change.
"""

import random
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from django.db import DatabaseError, InterfaceError, connection
from django.db.models import ProtectedError

from jobs import async_
from jobs.calls.refusals import InvalidRequest
from jobs.engine.schedules import change as schedules
from jobs.engine.upkeep import id_gaps
from jobs.engine.verbs import batch_actions, limits, pause
from jobs.engine.verbs.erase import erase
from jobs.engine.webhooks import endpoints
from jobs.models import Batch, Queue, Schedule, WebhookEndpoint
from jobs.store import EVERY_TENANT
from jobs.store.results import CacheAway
from tenants.models import Tenant, TenantQueue
from tests.chaos.world import LIGHT
from tests.factories import TenantFactory
from tests.sample.light_load import QUEUE
from tests.sample.models import Thing
from tests.sample.spending import ask
from tests.waiting import wait_until

PAUSE = 0.3  # mean seconds between two acts
GUESTS = ("guest-0", "guest-1")
PAUSED = ("sample.thing", "stumble")  # a job type
REFUSALS = (DatabaseError, InterfaceError, ProtectedError, CacheAway)  # of a right act too, by deaths and load


def home(queue: Queue) -> str:
    """The pool of a queue."""
    return LIGHT if queue.name == QUEUE else "default"


class Operators:
    """Act until stopped; then all is as it was. done: how often, by kind. faults: of its own."""

    def __init__(self, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self.faults: list[str] = []
        self._chance = random.Random(f"{seed}/operators")
        self._refusal: Exception | None = None  # of what puts everything back
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="operators", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        acts = [
            *[self._tenants_limits] * 4,
            *[self._queues_limits] * 2,
            *[self._guests_jobs] * 3,
            *(self._pause, self._resume, self._erase, self._delete_guest, self._replace_queue, self._skip_numbers),
            *(self._schedule, self._cancel_batch, self._webhook),
        ]
        due: list[Callable[[], None]] = []  # in this round: a short run has each act, too
        while not self._stop.wait(self._chance.uniform(0.5, 1.5) * PAUSE):
            due = due or self._chance.sample(acts, len(acts))
            act = due.pop()
            try:
                act()
                self.done[act.__name__.strip("_").replace("_", " ")] += 1
            except REFUSALS:
                connection.close()
                due.insert(0, act)
                self.done["refused"] += 1
            except Exception as error:  # then the run would prove nothing
                self.faults.append(f"{act.__name__}: {error!r}")
                break
        try:
            wait_until(self._is_put_back, "everything is as it was")
        except AssertionError as error:
            self.faults.append(f"{error}: {self._refusal!r}")
        connection.close()

    def _is_put_back(self) -> bool:
        """Everything may run again, and the guests are gone."""
        try:
            self._put_back()
        except REFUSALS as error:  # a worker or the clock was faster
            self._refusal = error
            connection.close()
            return False
        return True

    def _put_back(self) -> None:
        for row in TenantQueue.objects.all():
            free = {"paused": False, "user_slots": None, "burst_slots": None, "rate_limit": None, "rate_window": None}
            free |= {"budgets": {}}
            limits.change(row, free | {"num_slots": max(1, row.num_slots), "queue_slots": {}})
        for queue in Queue.objects.all():
            free = {"paused": False, "concurrency": queue.concurrency or None, "tenant_slots": None}
            limits.change(queue, free | {"pool": home(queue)})
        self._resume()
        for slug in GUESTS:
            self._delete(slug)

    def _tenants_limits(self) -> None:
        draw = self._chance
        row = draw.choice(list(TenantQueue.objects.order_by("pk")))
        window = draw.choice((0.5, 2.0))
        changes = (
            {"num_slots": draw.randint(0, 5)},
            {"user_slots": draw.choice((None, 1, 2))},
            {"burst_slots": draw.choice((None, 6, 8))},
            {"queue_slots": draw.choice(({}, {"default": draw.randint(1, 3)}))},
            {"budgets": draw.choice(({}, {"tokens": draw.randint(1, 200)}))},
            {"weight": draw.randint(1, 50)},
            {"paused": draw.random() < 0.3},
            {"rate_limit": draw.randint(2, 20), "rate_window": window},
            {"rate_limit": None, "rate_window": None},
        )
        limits.change(row, draw.choice(changes))

    def _queues_limits(self) -> None:
        draw = self._chance
        queue = draw.choice(list(Queue.objects.order_by("pk")))
        changes = (
            {"concurrency": draw.choice((None, 1, 3))}
            if queue.name != "narrow"
            else {"concurrency": draw.randint(1, 2)},
            {"tenant_slots": draw.choice((None, 1, 2))},
            {"weight": draw.randint(1, 50)},
            {"paused": draw.random() < 0.3},
            {"pool": draw.choice((home(queue), home(queue), "nobody"))},
        )
        limits.change(queue, draw.choice(changes))

    def _guest(self) -> Thing:
        slug = self._chance.choice(GUESTS)
        tenant = Tenant.objects.filter(slug=slug).first() or TenantFactory(slug=slug, queue__num_slots=2)
        return Thing.objects.filter(tenant=tenant).first() or Thing.objects.create(tenant=tenant)

    def _guests_jobs(self) -> None:
        guest, queue = self._guest(), self._chance.choice(("default", "passing"))
        Queue.objects.get_or_create(name=queue)  # the other one comes and goes
        guest.async_(queue=queue, dedup=False).again.many([{} for _ in range(5)])
        async_(ask, tenant=guest.tenant, queue=queue).many([{"tokens": 50} for _ in range(2)])

    def _pause(self) -> None:
        pause.pause_job_type(*PAUSED)

    def _resume(self) -> None:
        with suppress(InvalidRequest):  # it is not paused
            pause.resume_job_type(*PAUSED)

    def _erase(self) -> None:
        erase(self._guest().tenant_id)

    def _delete_guest(self) -> None:
        self._delete(self._chance.choice(GUESTS))

    def _delete(self, slug: str) -> None:
        for tenant in Tenant.objects.filter(slug=slug):
            Thing.objects.filter(tenant=tenant).delete()
            tenant.delete()

    def _replace_queue(self) -> None:
        """Refused while jobs are in it."""
        with suppress(ProtectedError):
            Queue.objects.filter(name="passing").delete()
        Queue.objects.get_or_create(name="passing")

    def _skip_numbers(self) -> None:
        id_gaps.skip(1000)

    def _schedule(self) -> None:
        thing = self._guest()
        schedule = Schedule.objects.filter(tenant=thing.tenant_id).first()
        if schedule is None:
            call = {"source_type": "sample.thing", "source_id": str(thing.pk), "source_method": "again"}
            schedules.add(thing.tenant, name="guest's", every=1, **call)
        else:
            self._chance.choice((schedules.pause, schedules.resume, schedules.delete))(schedule)

    def _cancel_batch(self) -> None:
        if batch := Batch.objects.filter(closed_at=None).order_by("?").first():
            batch_actions.cancel_batch(batch.pk, tenant_id=EVERY_TENANT)

    def _webhook(self) -> None:
        """To a receiver whose name has no address."""
        tenant = self._guest().tenant
        if endpoint := WebhookEndpoint.objects.filter(tenant=tenant).first():
            endpoints.remove(endpoint)
        else:
            endpoints.add(tenant, url="https://nobody.invalid/hook")
