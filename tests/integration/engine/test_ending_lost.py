"""`ending()`, while its process dies at any step, or its connection around the commit: rows and ends agree."""

import os
import signal
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from urllib.parse import urlsplit

import pytest
from django.db import OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import pq

from jobs import current_job, job, store
from jobs.engine.attempt import session_reset
from jobs.engine.attempt.execute import execute
from jobs.engine.door.dispatch import dispatch
from jobs.engine.process import patience
from jobs.engine.process.host import AttemptHost, ProcessHost
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.recover import Death
from jobs.models import Job
from jobs.store import OwnSession, Seat, results
from tests.attempts import changed, run_when_due
from tests.factories import TenantFactory, ThingFactory
from tests.network import Path
from tests.sample.models import Run, Thing
from tests.sql import cut
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
MOST_STEPS = 40


def body(self) -> list[int]:
    with current_job().ending(result=[7]):
        Run.objects.create(job_id=current_job().id, attempt=current_job().attempt, pid=os.getpid())
    went_on.append(current_job().id)
    return [7]


went_on: list[int | None] = []  # the jobs of the bodies that went on after their blocks


@pytest.fixture(autouse=True)
def echo(monkeypatch) -> None:
    monkeypatch.setattr(Thing, "echo", job(dedup=False)(body))


def rows(job_id: int) -> int:
    return Run.objects.filter(job_id=job_id).count()


class TestTheConnection:
    @pytest.fixture
    def path(self) -> Iterator[Path]:
        """Django's connection goes this way; those that are there already, such as the engine's, do not."""
        connection.close()
        before, path = connection.settings_dict, Path(os.environ["DATABASE_URL"])
        port = urlsplit(path.url).port
        options = {**before["OPTIONS"], "connect_timeout": 2}  # seconds, the least that libpq takes
        connections["default"].settings_dict = {**before, "HOST": "127.0.0.1", "PORT": port, "OPTIONS": options}
        yield path
        connection.close()
        connections["default"].settings_dict = before
        path.close()

    def serve(self, host, at_the_commit: Callable[[], object]) -> Job:
        """Run the body, and do this when its commit is about to be sent."""

        def commit() -> None:
            del mine._commit
            at_the_commit()
            mine._commit()

        job_id, mine = ThingFactory().async_.echo(), connections["default"]
        mine._commit = commit
        execute(job_id, 1, host)
        return Job.objects.get(pk=job_id)

    def hang_up(self, when: Callable[[], object], then: Callable[[], object] = lambda: None) -> threading.Thread:
        """Cut the body's connection on its side as soon as this is so."""
        ours = socket.socket(fileno=os.dup(connection.connection.fileno()))

        def hang_up() -> None:
            with ours:
                wait_until(when, "the moment to hang up")
                ours.shutdown(socket.SHUT_RDWR)
            then()
            connection.close()  # of this thread

        thread = threading.Thread(target=hang_up)
        thread.start()
        return thread

    def test_is_cut_before_the_commit_is_sent(self, host, sent):
        ended = self.serve(host, cut)
        assert (ended.status, ended.last_error.partition(":")[0], rows(ended.pk)) == ("error", "OperationalError", 0)

    @pytest.mark.parametrize("can_ask", [True, False])
    def test_is_cut_before_the_answer_arrives(self, *, host, sent, onlooker, path, caplog, monkeypatch, can_ask):
        """If nothing can be asked, the body fails, and the fence decides: its failure finds nothing to settle."""
        threads = []

        def hold_back() -> None:
            path.cut(there=False)
            done = "SELECT FROM jobs WHERE status = 'success'"
            threads.append(self.hang_up(lambda: onlooker.execute(done).fetchone() is not None, path.heal))

        def away(_) -> None:
            raise OperationalError("away")

        if not can_ask:
            monkeypatch.setattr(store, "has_succeeded", away)
            monkeypatch.setattr(patience, "DATABASE_PATIENCE", 0)
        ended = self.serve(host, hold_back)
        threads[0].join()
        assert (ended.status, ended.last_error, rows(ended.pk)) == ("success", "", 1)
        assert results.load(ended).value == [7]
        assert any("commit without an answer" in line for line in caplog.messages) == can_ask
        assert (ended.pk in went_on) == can_ask
        assert not any("a body goes on" in line for line in caplog.messages)

    def test_is_cut_before_the_commit_arrives_which_it_does_late(self, host, blocked, path, caplog):
        threads = []

        def heal() -> None:
            wait_until(lambda: blocked() == 1, "the process asks")
            path.heal()

        def hold_back() -> None:
            path.cut(back=False)
            raw = connection.connection.pgconn
            threads.append(self.hang_up(lambda: raw.transaction_status == pq.TransactionStatus.ACTIVE, heal))

        ended = self.serve(host, hold_back)
        threads[0].join()
        assert (ended.status, ended.last_error, rows(ended.pk)) == ("success", "", 1)
        assert any("commit without an answer" in line for line in caplog.messages)


def test_the_row_is_asked_for_this_attempt_of_this_process_alone(register, sent):
    worker, job_id = register(), ThingFactory().async_.echo()
    begun = store.start(job_id, 1, Seat(worker, 7))
    assert not store.has_succeeded(begun)
    assert store.succeed(job_id, 1, {}, None, by=begun.holder)
    assert store.has_succeeded(begun)
    for column, other in (("attempt", 2), ("worker_pid", 8), ("worker", uuid.uuid4())):
        jobs = Job.objects.filter(pk=job_id)
        [before] = jobs.values_list(column, flat=True)
        jobs.update(**{column: other})
        assert not store.has_succeeded(begun), column
        jobs.update(**{column: before})


class TestTheProcess:
    """Killed at each of its statements, before it and after it; at the commit; and before and after the body."""

    pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

    @contextmanager
    def dies(self, step: int, own: BaseDatabaseWrapper) -> Iterator[None]:
        """Kill this process at that step, from 0. own: the session of the engine."""
        passed = count()

        def one() -> None:
            if next(passed) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def watch(execute, statement, parameters, many, context):
            one()
            answer = execute(statement, parameters, many, context)
            one()
            return answer

        def commit() -> None:
            one()
            sent()
            one()

        mine = connections["default"]
        sent, mine._commit = mine._commit, commit
        with mine.execute_wrapper(watch), own.execute_wrapper(watch):
            yield

    def run_in_a_process(self, job_id: int, worker, step: int) -> tuple[int, bool]:
        """Run the attempt in a process that dies there: its number, and whether it did."""
        if not (child := os.fork()):
            try:
                session_reset.forget()
                store.name_sessions(worker, os.getpid())
                own = OwnSession()
                host = changed(AttemptHost(ProcessHost(worker)), own_session=own.speaking)
                with self.dies(step, own._connection):
                    execute(job_id, 1, host)
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
        return child, os.WIFSIGNALED(status)

    def test_is_killed_at_each_step_and_the_row_is_there_if_the_job_has_succeeded(self, register, sent, as_a_process):
        worker, seen = register(concurrency=1), set()
        for step in range(MOST_STEPS):
            job_id = ThingFactory(tenant=TenantFactory()).async_.echo()
            pid, died = self.run_in_a_process(job_id, worker, step)
            wait_until(
                lambda pid=pid, job_id=job_id: recover.process_ended(worker, Death(pid, job_id, 1, "killed")),
                "its sessions end, and its attempt is taken back",
            )
            left = Job.objects.get(pk=job_id)
            seen.add(left.status)
            assert rows(job_id) == (left.status == "success"), f"at step {step}"
            if not died:
                break
            if left.status != "success":
                left = run_when_due(sent, job_id)
            assert (left.status, rows(job_id)) == ("success", 1), f"after step {step}"
            dispatch()
        else:
            pytest.fail("the body has more steps than these")
        assert step > 6
        assert seen == {"scheduled", "success"}
