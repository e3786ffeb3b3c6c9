"""`with current_job().ending():` the writes of the block and the end of the job are there together, or neither is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, connection, connections, transaction

from jobs import StaleAttempt, current_job, in_thread, job, store
from jobs.engine.attempt import outcome
from jobs.models import Attempt, FailedAttempt, Job
from jobs.store import Failure, results
from tests import attempts
from tests.factories import TenantFactory, ThingFactory, statuses
from tests.kinds import Ordinary, light_kind
from tests.sample.models import Run, Thing
from tests.sql import sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]
WAYS = ("function", "coroutine", "light function", "light coroutine")
GOES_ON = "a body goes on after the end of its job"


@pytest.fixture
def ordinary(host, sent) -> Ordinary:
    return Ordinary(host, sent)


@pytest.fixture(params=WAYS)
def serve(request, monkeypatch):
    """Run this function in a body, of each kind that there is: the job as it ended. In a coroutine a thread runs it."""

    def serve(function: Callable[[], object], **options) -> Job:
        def plain(self) -> object:
            return function()

        async def coroutine(self) -> object:
            return await in_thread(function)

        body = coroutine if "coroutine" in request.param else plain
        monkeypatch.setattr(Thing, "echo", job(dedup=False, **options)(body))
        job_id = ThingFactory(tenant=TenantFactory()).async_.echo()
        kind.serve()
        return Job.objects.get(pk=job_id)

    if not request.param.startswith("light"):
        kind = request.getfixturevalue("ordinary")
        yield serve
    else:
        made = light_kind(request.getfixturevalue("register"), threads=True)
        kind = next(made)
        yield serve
        next(made, None)


def write() -> None:
    Run.objects.create(job_id=current_job().id, attempt=current_job().attempt, pid=0)


def written(ended: Job) -> int:
    return Run.objects.filter(job_id=ended.pk).count()


class TestTheEnd:
    def test_comes_with_the_writes_of_the_block_in_one_commit(self, serve, onlooker):
        def there() -> tuple[int, str]:
            job_id, question = current_job().id, "SELECT count(*) FROM sample_run WHERE job_id = %s"
            [(rows,)] = onlooker.execute(question, [job_id])
            [(status,)] = onlooker.execute("SELECT status FROM jobs WHERE id = %s", [job_id])
            return rows, status

        seen = []

        def body() -> list[int]:
            current_job().stats["read"] = 3
            with current_job().ending(stats={"rows": 1}) as end:
                write()
                transaction.on_commit(lambda: seen.append(there()))
                seen.append(there())
                end.result = [7]
                end.stats["kept"] = True
            return [7]

        ended = serve(body)
        assert (ended.status, ended.last_error, seen) == ("success", "", [(0, "running"), (1, "success")])
        assert (results.load(ended).value, ended.result_bytes) == ([7], 3)
        assert ended.stats == {"read": 3, "rows": 1, "kept": True}
        assert Attempt.objects.filter(job_id=ended.pk).count() == 1
        assert store.recount_books() == []

    def test_frees_the_slot_which_the_process_gives_to_the_next_job(self, ordinary, sent, monkeypatch, caplog):
        def body(self) -> None:
            with current_job().ending():
                write()

        monkeypatch.setattr(Thing, "echo", job(dedup=False)(body))
        kept, keep = [], results.keep
        monkeypatch.setattr(results, "keep", lambda *result: kept.append(1) or keep(*result))
        thing = ThingFactory(tenant=TenantFactory(queue__num_slots=1))
        for _ in range(3):
            thing.async_.echo()
        ordinary.serve()
        assert len(kept) == 3, "each result is kept once"
        assert (statuses(), Run.objects.count()) == (["success"] * 3, 3)
        assert len(sent) == 1, "the others were kept, and need no message"
        assert not [line for line in caplog.messages if "ignored" in line], "nothing is settled again"

    def test_is_not_interrupted_by_the_time_limit_but_what_the_body_does_then_is(self, host, sent, monkeypatch):
        class Watch(attempts.Limit):
            is_deferred = False

            @contextmanager
            def deferred(self) -> Iterator[None]:
                self.is_deferred = True
                yield
                self.is_deferred = False

        def note(what: str) -> None:
            seen.append((what, limit.is_deferred))

        def watch(execute, statement, *rest) -> object:
            if "succeed" in statement:
                note("the end")
            return execute(statement, *rest)

        def commit() -> None:
            note("the commit")
            sent_commit()

        def body(self) -> None:
            with connection.execute_wrapper(watch), current_job().ending():
                write()
                note("the block")
                transaction.on_commit(lambda: note("after the commit"))
            note("the rest")

        limit, seen, mine = Watch(), [], connections["default"]
        sent_commit = mine._commit
        monkeypatch.setattr(mine, "_commit", commit)
        monkeypatch.setattr(Thing, "echo", job(dedup=False)(body))
        ended = attempts.run(sent, ThingFactory().async_.echo(), limit=limit)
        assert (ended.status, ended.last_error) == ("success", "")
        ours = [("the block", False), ("the end", True), ("the commit", True), ("after the commit", False)]
        assert [one for one in seen if one[0] != "the commit" or one[1]] == [*ours, ("the rest", False)]

    def test_nothing_is_kept_of_a_block_that_raises_and_the_body_may_try_again(self, serve):
        def fail() -> None:
            with current_job().ending(result="no", stats={"no": 1}):
                write()
                raise ValueError("no")

        def fail_and_try_again() -> str:
            with pytest.raises(ValueError, match="no"):
                fail()
            with current_job().ending(result="yes"):
                write()
            return "yes"

        ended = serve(fail)
        assert (ended.status, ended.last_error, ended.stats, written(ended)) == ("error", "ValueError: no", {}, 0)
        ended = serve(fail_and_try_again)
        assert (ended.status, ended.stats, written(ended)) == ("success", {}, 1)

    def test_a_commit_that_the_database_refuses_is_a_failure(self, serve):
        """A foreign key is checked there."""

        def body() -> None:
            with current_job().ending(result="no"):
                write()
                Thing.objects.create(tenant_id=10**9)

        ended = serve(body)
        assert (ended.status, ended.last_error.partition(":")[0], written(ended)) == ("error", "IntegrityError", 0)
        assert FailedAttempt.objects.filter(job=ended).count() == 1
        assert results.load(ended) is None

    def test_a_result_that_cannot_be_kept_is_a_failure(self, serve):
        def body() -> None:
            with current_job().ending(result=object()):
                write()

        ended = serve(body)
        assert (ended.status, ended.last_error.partition(":")[0], written(ended)) == ("error", "ResultRefused", 0)


class TestAnAttemptThatCountsNoLonger:
    @pytest.mark.parametrize("change", ["taken back", "another process", "another worker"])
    def test_has_no_end_and_leaves_nothing_of_its_block(self, serve, elsewhere, change):
        moves = {
            "taken back": lambda id: store.take_back(id, 1, Failure("WorkerGone", "taken for dead"), 3),
            "another process": lambda id: sql("UPDATE jobs SET worker_pid = worker_pid + 1 WHERE id = %s", [id]),
            "another worker": lambda id: sql("UPDATE jobs SET worker = gen_random_uuid() WHERE id = %s", [id]),
        }

        def body() -> None:
            with pytest.raises(StaleAttempt, match="does not run any more: its block is rolled back"):
                end_too_late()
            end_too_late()

        def end_too_late() -> None:
            with current_job().ending(result="stale"):
                write()
                elsewhere(moves[change], current_job().id).result(10)

        ended = serve(body)
        assert (ended.status, written(ended)) == ("scheduled" if change == "taken back" else "running", 0)
        assert ended.stats == {}


class TestThePlace:
    def test_a_block_comes_once_and_not_inside_a_transaction(self, serve, subtests, caplog):
        def inside() -> None:
            with transaction.atomic(), current_job().ending():
                write()

        def twice() -> None:
            with current_job().ending():
                write()
            with current_job().ending():
                write()

        def nested() -> None:
            with current_job().ending(), current_job().ending():
                write()

        def unmanaged() -> None:
            transaction.set_autocommit(False)
            with current_job().ending():
                write()

        for body, words in ((inside, "take it out of `atomic`"), (nested, "another ending()"), (unmanaged, "atomic")):
            with subtests.test(body.__name__):
                ended = serve(body)
                assert (ended.status, written(ended)) == ("error", 0)
                assert words in ended.last_error

        with subtests.test("twice"):
            ended = serve(twice)
            assert (ended.status, written(ended), ended.last_error) == ("success", 1, "")
            assert [line for line in caplog.messages if line.endswith("rest=RuntimeError")]

    def test_in_a_loop_names_the_remedy(self, serve_of_both):
        async def body(self) -> None:
            with current_job().ending():
                pass

        _, ended = serve_of_both(body)
        assert (ended.status, "await in_thread(function)" in ended.last_error) == ("error", True)

    def test_outside_a_job_is_a_transaction(self):
        with pytest.raises(IntegrityError), current_job().ending() as end:
            end.result = 1
            Run.objects.create(job_id=1, attempt=1, pid=0)
            Thing.objects.create(tenant_id=10**9)
        with transaction.atomic(), current_job().ending(result=1):
            Run.objects.create(job_id=2, attempt=1, pid=0)
        assert [run.job_id for run in Run.objects.all()] == [2]


class TestARestOfTheBody:
    def test_changes_nothing_and_is_logged(self, serve, subtests, caplog, monkeypatch):
        def ends() -> None:
            with current_job().ending(result=[1], stats={"n": 1}):
                write()
            current_job().stats["n"] = 2
            current_job().progress(0.1, "late")

        def raises() -> None:
            ends()
            raise ValueError("late")

        def remembers() -> None:
            ends()
            current_job().memory.merge(late=1)

        def returns_another() -> list[int]:
            ends()
            return [2]

        def returns_no_json() -> object:
            ends()
            return object()

        def raises_on_commit() -> None:
            with current_job().ending(result=[1], stats={"n": 1}):
                write()
                transaction.on_commit(lambda: connection.cursor().execute("SELECT no_such_column"))

        def lingers() -> None:
            ends()
            monkeypatch.setattr(outcome, "LINGERS", -1.0)  # from now on: it is the last of these

        afterwards = {
            raises: "rest=ValueError",
            remembers: "rest=StaleAttempt",
            returns_another: "rest=another result",
            returns_no_json: "rest=ResultRefused",
            raises_on_commit: "rest=ProgrammingError",
            lingers: "s of work",
        }
        for body, rest in afterwards.items():
            with subtests.test(body.__name__):
                caplog.clear()
                ended = serve(body)
                assert (ended.status, ended.last_error, ended.attempt, written(ended)) == ("success", "", 1, 1)
                assert (ended.stats, results.load(ended).value) == ({"n": 1}, [1])
                assert not FailedAttempt.objects.filter(job=ended).exists()
                [told] = [line for line in caplog.messages if GOES_ON in line]
                assert told.endswith(rest)
                assert not [line for line in caplog.messages if "ignored" in line], "nothing is settled again"

    def test_a_body_that_returns_is_not_logged(self, serve, caplog):
        def body() -> list[int]:
            with current_job().ending(result=[1]):
                write()
            return [1]

        assert serve(body).status == "success"
        assert not [line for line in caplog.messages if GOES_ON in line]
