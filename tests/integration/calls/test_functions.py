"""Functions as jobs: `async_(send, tenant=tenant)(to="x")`. Their source type is their module; they have no object."""

import json
import subprocess
import sys

import pytest
from django.test import Client
from django.utils import timezone

import reports
from jobs import InvalidRequest, async_, submit_many
from jobs.calls import functions, registry
from jobs.calls.compose import compose_by_name
from jobs.contrib.testing import assert_submitted, drain, run, submitted
from jobs.engine.schedules.declared import declare
from jobs.engine.submitting.submit import submit
from jobs.engine.verbs.pause import pause_job_type
from jobs.models import Job, Schedule
from tests.callers import caller_with_key
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.integration.cli import running
from tests.sample import tasks

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def queues(db) -> None:
    QueueFactory()
    QueueFactory(name="critical")


class TestTheCall:
    def test_a_call_is_stored_with_its_module_name_and_arguments(self, tenant):
        job = Job.objects.get(pk=async_(tasks.greet, tenant=tenant)("Ines", greeting="Hi"))
        assert (job.source_type, job.source_id, job.source_method) == ("tests.sample.tasks", None, "greet")
        assert job.args == {"name": "Ines", "greeting": "Hi"}
        assert (job.tenant, job.queue.name, job.priority) == (tenant, "default", 5)

    def test_a_function_runs_for_its_tenant(self, tenant):
        assert run(async_(tasks.greet, tenant=tenant), "Ines") == f"Hello, Ines, of {tenant}"

    def test_called_plainly_it_is_a_function(self, tenant):
        assert tasks.greet("Ines") == "Hello, Ines, of None"

    def test_options_of_the_decorator_hold_where_the_call_says_nothing(self, tenant):
        async_(tasks.ring, tenant=tenant)()
        async_(tasks.ring, tenant=tenant, priority=9)(times=1)
        assert [(job.queue.name, job.priority) for job in submitted(async_(tasks.ring))] == [("critical", 1)]

    def test_its_policy_tries_it_again_and_it_remembers(self, tenant):
        async_(tasks.ring, tenant=tenant)(times=3)
        assert [(a.number, a.status, a.value) for a in drain(later=True)] == [
            (1, "scheduled", None),
            (2, "scheduled", None),
            (3, "success", 1),
        ]

    def test_without_a_tenant_there_is_no_job(self):
        with pytest.raises(InvalidRequest, match=r"^tenant: greet has no object; name the owner"):
            async_(tasks.greet)("Ines")

    @pytest.mark.parametrize("said", [7, "acme", 0])
    def test_the_key_of_a_tenant_is_refused(self, said):
        with pytest.raises(
            InvalidRequest, match=rf"^tenant: must be a Tenant, not {said!r}; give the object, not its key"
        ):
            async_(tasks.greet, tenant=said)("Ines")

    def test_inside_a_job_it_belongs_to_that_tenant(self, tenant):
        async_(tasks.relay, tenant=tenant)("Ines")
        drain()
        (relayed,) = submitted(async_(tasks.greet))
        assert relayed.tenant == tenant

    def test_arguments_that_do_not_fit_are_refused(self, tenant):
        with pytest.raises(InvalidRequest, match=r"args: do not fit greet\(name, \*, greeting='Hello'\)"):
            async_(tasks.greet, tenant=tenant)(colour="red")
        with pytest.raises(InvalidRequest, match="multiple values"):
            async_(tasks.greet, tenant=tenant)("Ines", name="Ines")

    def test_identical_calls_are_one_job_and_another_tenants_is_none_of_them(self, tenant):
        first = async_(tasks.greet, tenant=tenant)("Ines")
        assert async_(tasks.greet, tenant=tenant)(name="Ines", greeting="Hello") == first
        assert async_(tasks.greet, tenant=TenantFactory())("Ines") != first

    def test_many_calls_and_calls_beside_methods(self, tenant):
        call = async_(tasks.greet, tenant=tenant)
        assert len(call.many([{"name": "a"}, {"name": "b"}])) == 2
        assert len(submit_many([call.request("c"), async_(tasks.ring, tenant=tenant).request()])) == 2
        assert_submitted(async_(tasks.greet), name="c", greeting="Hello")


class TestNames:
    def test_a_function_that_is_not_marked_is_refused(self):
        with pytest.raises(InvalidRequest, match=r"tests\.sample\.tasks\.not_a_job is no job: mark it @job"):
            async_(tasks.not_a_job)
        with pytest.raises(InvalidRequest, match="'not_a_job' is not a job; jobs: greet, relay, ring, sweep"):
            registry.resolve("tests.sample.tasks", "not_a_job")

    def test_a_function_inside_another_is_refused(self):
        with pytest.raises(InvalidRequest, match="at the top level of a module"):
            async_(tasks.make())

    def test_an_unknown_module_is_refused_and_the_known_ones_are_named(self):
        with pytest.raises(InvalidRequest, match=r"'os' is unknown; known: .*sample\.thing, .*tests\.sample\.tasks"):
            registry.resolve("os", "remove")

    def test_a_module_of_an_app_is_imported_when_its_name_is_met(self, tenant):
        sys.modules.pop("tests.sample.errands", None)
        functions.FUNCTIONS.pop(("tests.sample.errands", "fetch"), None)
        functions._import.cache_clear()
        call = {"source_type": "tests.sample.errands", "source_id": None, "source_method": "fetch"}
        with pytest.raises(InvalidRequest, match="is unknown"):
            compose_by_name(tenant, **call, args={"what": "bread"}, by_tenant=True)
        assert "tests.sample.errands" not in sys.modules
        submit(compose_by_name(tenant, **call, args={"what": "bread"}))
        assert [attempt.value for attempt in drain()] == ["here is bread"]

    def test_a_module_outside_the_apps_is_not_imported(self):
        for module in ("this", "xml.dom.minidom", "", "..sample", "tests.nothing"):
            sys.modules.pop(module, None)
            assert functions.find(module, "anything") is None
            assert module not in sys.modules

    def test_a_module_whose_code_fails_ends_the_job_and_nothing_else(self, tenant, tmp_path, monkeypatch):
        from tests import sample

        (tmp_path / "broken.py").write_text("1 / 0\n")
        monkeypatch.setattr(sample, "__path__", [*sample.__path__, str(tmp_path)])
        async_(tasks.greet, tenant=tenant)("Ines")
        Job.objects.update(source_type="tests.sample.broken")
        with pytest.raises(InvalidRequest, match=r"tests\.sample\.broken cannot be imported: ZeroDivisionError; if"):
            drain()
        assert Job.objects.get().status == "error"

    def test_a_worker_finds_it_without_any_import(self):
        """In a fresh process, which knows only the settings."""
        code = "import django; django.setup(); from jobs.calls import registry;"
        code += "print(registry.resolve('tests.sample.errands', 'fetch').function('bread'))"
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert answer.stdout.strip() == "here is bread"


class TestOverHttp:
    def post(self, client: Client, method: str, **fields) -> dict:
        body = {"source_type": "tests.sample.tasks", "source_method": method, "args": {}} | fields
        return client.post("/api/v1/jobs", body, content_type="application/json")

    def test_a_tenant_may_call_what_is_marked_so_for_itself(self, tenant, owner):
        answer = self.post(owner, "ring")
        assert answer.status_code == 202
        assert Job.objects.get(pk=answer.json()["id"]).tenant == tenant

    def test_a_stranger_does_not_see_that_job(self, owner):
        job_id = self.post(owner, "ring").json()["id"]
        stranger = caller_with_key(TenantFactory())
        assert stranger.get(f"/api/v1/jobs/{job_id}").status_code == 404

    def test_an_unmarked_function_is_answered_like_a_missing_one(self, owner):
        refused, missing = self.post(owner, "greet"), self.post(owner, "nothing")
        assert refused.status_code == missing.status_code == 422
        assert "'greet' is not a job; jobs: ring" in refused.json()["detail"]
        assert "'nothing' is not a job; jobs: ring" in missing.json()["detail"]

    def test_a_function_has_no_object(self, owner):
        answer = self.post(owner, "ring", source_id=1)
        assert "source_id: ring does not run on an object; leave source_id out" in answer.json()["detail"]


class TestABrokenModule:
    @pytest.fixture(autouse=True)
    def broken(self, tmp_path, monkeypatch):
        """The module `tasks` of another app fails."""
        (tmp_path / "tasks.py").write_text("raise ConnectionError('no answer of 10.9.8.7')\n")
        monkeypatch.setattr(reports, "__path__", [*reports.__path__, str(tmp_path)])
        functions._import.cache_clear()
        yield
        functions._import.cache_clear()

    def test_the_functions_of_other_apps_run(self, tenant):
        async_(tasks.greet, tenant=tenant)("Ines")
        assert [attempt.status for attempt in drain()] == ["success"]

    def test_a_tenant_calls_them_and_reads_nothing_of_the_error(self, owner, caplog):
        def post(name: str) -> dict:
            call = {"source_type": name, "source_method": "ring", "args": {}}
            return owner.post("/api/v1/jobs", call, content_type="application/json")

        assert post("tests.sample.tasks").status_code == 202
        broken, missing = post("reports.tasks"), post("reports.nothing")
        assert broken.status_code == missing.status_code == 422
        assert broken.json()["detail"].replace("tasks", "nothing", 1) == missing.json()["detail"]
        assert "10.9.8.7" not in broken.content.decode()
        assert "tasks not imported module=reports.tasks error=ConnectionError" in caplog.text

    def test_declared_schedules_stay_until_the_module_is_repaired(self, tenant, monkeypatch):
        now = timezone.now()
        call = {"source_type": "reports.tasks", "source_method": "sweep", "every": 60.0, "declared": True}
        Schedule.objects.create(
            tenant=tenant, name="reports.tasks.sweep", starts_at=now, next_at=now, next_due=now, **call
        )
        declare()
        assert Schedule.objects.get(name="reports.tasks.sweep").undeclared_at is None
        monkeypatch.undo()
        functions._import.cache_clear()
        declare()
        assert Schedule.objects.get(name="reports.tasks.sweep").undeclared_at is not None


class TestElsewhere:
    def test_a_function_can_be_paused(self, tenant):
        pause_job_type("tests.sample.tasks", "ring")
        async_(tasks.ring, tenant=tenant)()
        assert drain() == []

    def test_a_function_can_recur(self):
        swept = TenantFactory(slug="swept-weekly")
        drain(schedules=True)
        found = Schedule.objects.get(name="tests.sample.tasks.sweep")
        assert (found.tenant, found.source_type, found.declared) == (swept, "tests.sample.tasks", True)

    @pytest.mark.parametrize("named", ["tests.sample.errands", "tests.sample.errands.fetch"])
    def test_a_list_finds_it_by_a_type_whose_module_was_not_imported_yet(self, tenant, monkeypatch, named):
        job = make_job(tenant, source_type="tests.sample.errands", source_method="fetch")
        monkeypatch.delitem(sys.modules, "tests.sample.errands", raising=False)
        monkeypatch.delitem(functions.FUNCTIONS, ("tests.sample.errands", "fetch"), raising=False)
        functions._import.cache_clear()
        [found] = json.loads(running.run("jobs", "list", "--type", named, "--json"))["jobs"]
        assert found["id"] == job.pk

    def test_a_function_is_listed_among_the_job_types(self):
        assert {"tests.sample.tasks.greet", "sample.thing.echo"} <= {str(target) for target in registry.targets()}
