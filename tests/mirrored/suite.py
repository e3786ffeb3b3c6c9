"""What works with a mirrored model; run by tests/integration/project/test_adopter.py."""

import uuid

import pytest
from django.core.checks import run_checks
from django.core.management import call_command

from jobs import InvalidRequest, async_, queries, results
from jobs.calls import registry, sources
from jobs.contrib.testing import drain
from jobs.models import Job
from tenants.mirror import ids_of, tenant_of, tenant_of_key
from tenants.models import Tenant
from tests.mirrored.models import Closed, Project, Task, greet

pytestmark = pytest.mark.django_db


def test_the_checks_have_nothing_against_it() -> None:
    assert run_checks(databases=["default"]) == []


class TestARow:
    def test_has_a_tenant_with_a_slot_as_soon_as_it_is_saved_and_takes_its_names_along(self) -> None:
        project = Project.objects.create(name="Paint")
        tenant = tenant_of(project)
        assert (tenant.name, tenant.slug, tenant.jobs_queue.num_slots) == ("Paint", str(project.code), 1)
        project.name = "x" * 300
        project.save()
        assert tenant_of(project).name == "x" * 200
        assert Tenant.objects.count() == 1

    def test_may_be_named_like_another(self) -> None:
        for _ in range(2):
            Project.objects.create(name="")
        assert Tenant.objects.filter(name="").count() == 2

    def test_keeps_the_slots_that_somebody_gave_it(self) -> None:
        project = Project.objects.create()
        slots = tenant_of(project).jobs_queue
        slots.num_slots = 7
        slots.save()
        project.save()
        assert tenant_of(project).jobs_queue.num_slots == 7

    def test_is_the_same_by_a_proxy_and_by_another_spelling_of_its_key(self) -> None:
        key = uuid.uuid4()
        Project.objects.create(pk=str(key).upper(), name="first")
        closed = Closed.objects.get(pk=key)
        closed.name = "closed"
        closed.save()
        assert (Tenant.objects.get().mirrored_key, Tenant.objects.get().name) == (str(key), "closed")
        assert tenant_of_key(key.hex) == tenant_of_key(key) == Tenant.objects.get()

    @pytest.mark.parametrize("delete", [Project.delete, lambda project: Project.objects.all().delete()])
    def test_takes_its_tenant_along_when_it_is_deleted(self, delete) -> None:
        project = Project.objects.create()
        delete(project)
        assert not Tenant.objects.exists()


class TestRowsFromBefore:
    @pytest.fixture
    def old(self) -> list[Project]:
        return Project.objects.bulk_create(Project(name=f"{n}") for n in range(3))

    def test_get_their_tenants_by_a_command_once(self, old) -> None:
        for _ in range(2):
            call_command("tenants", "mirror", verbosity=0)
            assert sorted(Tenant.objects.values_list("name", flat=True)) == ["0", "1", "2"]
        assert {tenant_of(project).jobs_queue.num_slots for project in old} == {1}

    @pytest.mark.parametrize("way", ["mirror", "save"])
    def test_get_the_slugs_that_went_over_from_row_to_row_unseen(self, old, way) -> None:
        call_command("tenants", "mirror", verbosity=0)
        codes = [project.code for project in old]
        for new in ([uuid.uuid4() for _ in old], codes[1:] + codes[:1]):
            for project, code in zip(old, new, strict=True):
                Project.objects.filter(pk=project.pk).update(code=code)
        if way == "mirror":
            call_command("tenants", "mirror", verbosity=0)
        else:
            [project.save() for project in Project.objects.all()]
        assert [tenant_of(project).slug for project in old] == [str(code) for code in codes[1:] + codes[:1]]

    def test_have_none_until_then_and_whoever_submits_hears_what_to_do(self, old) -> None:
        with pytest.raises(InvalidRequest, match=r"run: .* tenants mirror"):
            async_(greet, tenant=old[0])("Ann")
        assert ids_of(old) == set()


def test_a_job_finds_its_tenant_through_the_row() -> None:
    project, other = Project.objects.create(name="Paint"), Project.objects.create(name="Print")
    number = async_(greet, tenant=project)("Ann")
    async_(greet, tenant=tenant_of(other))("Ann")
    assert [job.tenant for job in Job.objects.order_by("pk")] == [tenant_of(project), tenant_of(other)]
    drain()
    assert results.load(queries.job(tenant_of(project).pk, number)).value == "Ann of Paint"
    assert ids_of([project, tenant_of(other)]) == {tenant_of(project).pk, tenant_of(other).pk}


def test_a_project_without_a_tenant_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="must be a Project"):
        async_(greet, tenant=Project.objects.create().pk)("Ann")


class TestAPathThatEndsAtTheRow:
    def test_leads_to_its_tenant(self) -> None:
        task = Task.objects.create(project=Project.objects.create(name="Paint"))
        number = task.async_.work()
        [ended] = drain()
        assert ended.status == "success"
        assert results.load(queries.job(tenant_of(task.project).pk, number)).value == f"Paint: task {task.pk}"

    def test_hides_the_object_from_strangers(self) -> None:
        task, stranger = Task.objects.create(project=Project.objects.create()), tenant_of(Project.objects.create())
        target, owner = registry.target(Task, "work"), tenant_of(task.project)
        unmirrored = Tenant.objects.create(name="by hand", slug="by-hand")
        every = [(Task, task.pk, tenant.pk) for tenant in (owner, stranger, unmirrored)]
        for find in (sources.find, sources.find_all(every)):
            assert find(target, str(task.pk), owner.pk) == task
            assert find(target, str(task.pk), stranger.pk) is None
            assert find(target, str(task.pk), unmirrored.pk) is None
        assert sources.find_all(every[1:])(target, str(task.pk), stranger.pk) is None

    def test_without_a_tenant_is_refused_with_the_remedy(self) -> None:
        [project] = Project.objects.bulk_create([Project()])
        with pytest.raises(InvalidRequest, match=r"run: .* tenants mirror"):
            Task.objects.create(project=project).async_.work()
