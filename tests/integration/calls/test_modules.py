"""A function runs as what stands under its name in its module, wherever the call comes from."""

import subprocess
import sys
from datetime import timedelta
from importlib import import_module

import pytest
from django.utils import timezone

from jobs import async_
from jobs.calls import functions, registry
from jobs.calls.refusals import InvalidRequest
from jobs.checks.loaded import functions_have_their_names
from jobs.contrib.testing import drain
from jobs.engine.schedules.declared import declare
from jobs.engine.schedules.run import run_due
from jobs.models import Schedule
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory

pytestmark = pytest.mark.django_db

GUARDED = """
import functools
from django.db import connection, transaction
from jobs import job
from tenants.models import Tenant

def locked(function):
    @functools.wraps(function)
    def inside(**arguments):
        return ["locked", function(**arguments)]
    return inside

@locked
@job(http=True)
def under_lock(*, n): return n

@locked
@transaction.atomic
@job(every=60, for_each_tenant=lambda: Tenant.objects.filter(slug="guarded"))
def nightly(): return connection.in_atomic_block
"""
HIDDEN = """
from jobs import job

@lambda function: lambda **arguments: "without the body"
@job(http=True, every=60, for_each_tenant=lambda: [])
def hidden(): ...

@job
def gone(): ...

kept = gone
del gone
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Import a module of that name and text, outside of the apps; forget it afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    names = []

    def forget() -> None:
        for name in names:
            sys.modules.pop(name, None)
        for named in [named for named in functions.FUNCTIONS if named[0] in names]:
            del functions.FUNCTIONS[named]
        functions._import.cache_clear()

    def module(name: str, text: str):
        (tmp_path / f"{name}.py").write_text(text)
        names.append(name)
        return import_module(name)

    module.forget = forget
    yield module
    forget()


class TestDecoratorsAboveTheMark:
    @pytest.fixture(autouse=True)
    def guarded(self, module):
        QueueFactory()
        return module("guarded", GUARDED)

    def test_decorators_are_part_of_the_job_for_every_caller(self, guarded, tenant, owner):
        async_(guarded.under_lock, tenant=tenant)(n=1)
        call = {"source_type": "guarded", "source_method": "under_lock", "args": {"n": 2}}
        assert owner.post("/api/v1/jobs", call, content_type="application/json").status_code == 202
        assert [attempt.value for attempt in drain()] == [["locked", 1], ["locked", 2]]

    def test_decorators_are_part_of_a_recurring_job(self):
        TenantFactory(slug="guarded")
        declare()
        call_at(timezone.now() + timedelta(seconds=90), run_due)
        assert [attempt.value for attempt in drain()] == [["locked", True]]


class TestAFunctionNotUnderItsName:
    @pytest.fixture(autouse=True)
    def hidden(self, module):
        return module("hiding", HIDDEN)

    def test_each_look_refuses_it_and_says_why(self, hidden, tenant, owner):
        with pytest.raises(InvalidRequest, match=r"hiding\.gone is not the function marked @job.*put @job on top"):
            async_(hidden.kept, tenant=tenant)
        call = {"source_type": "hiding", "source_method": "hidden", "args": {}}
        answer = owner.post("/api/v1/jobs", call, content_type="application/json")
        assert (answer.status_code, "put @job on top" in answer.json()["detail"]) == (422, True)
        with pytest.raises(InvalidRequest, match="put @job on top"):
            registry.resolve("hiding", "hidden")

    def test_the_check_names_it_and_nothing_declares_it(self):
        names = [text.split()[0] for text, _ in functions_have_their_names()]
        assert names == ["hiding.hidden", "hiding.gone"]
        assert "hiding.hidden" not in {str(target) for target in registry.targets()}
        declare()
        assert not Schedule.objects.filter(source_type="hiding").exists()


class TestAModuleOutsideTheApps:
    SWEEP = "from jobs import job\n@job\ndef sweep(*, n): return n\n"

    def test_a_worker_imports_what_a_job_names_and_nobody_what_people_name(self, module, tenant):
        """As a worker that has not imported what the web process has."""
        QueueFactory()
        async_(module("office", self.SWEEP).sweep, tenant=tenant)(n=4)
        module.forget()
        for http in (False, True):
            with pytest.raises(InvalidRequest, match="'office' is unknown"):
                registry.resolve("office", "sweep", http=http)
        assert "office" not in sys.modules
        assert [attempt.value for attempt in drain()] == [4]

    def test_a_module_that_no_worker_can_import_is_refused(self, module, tenant, monkeypatch):
        refused = r"^source_type: no worker can import office: move the function"
        made = module("office", self.SWEEP)
        monkeypatch.setattr(made, "__spec__", None)  # as of a notebook's module, or of one that was made while running
        with pytest.raises(InvalidRequest, match=refused):
            async_(made.sweep, tenant=tenant)(n=1)

    def test_a_function_of_a_script_is_refused(self):
        """In a process of its own, whose module is `__main__`."""
        code = f"import django; django.setup()\n{self.SWEEP}"
        code += "from jobs import async_\ntry: async_(sweep)(n=1)\nexcept ValueError as error: print(error)"
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert answer.stdout.startswith("source_type: no worker can import __main__: move the function")
