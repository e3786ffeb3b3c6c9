"""What such a project has: users as Django asks for them, workspaces with keys of their own, memberships."""

import uuid

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.http import HttpRequest

from jobs import Asynchronous, current_job, job


class Person(AbstractBaseUser, PermissionsMixin):
    """Without `is_staff`, names or an address, and with a key that is no integer."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    username = models.CharField(max_length=150, unique=True)

    objects = BaseUserManager["Person"]()

    USERNAME_FIELD = "username"

    class Meta:
        app_label = "friction"


class Workspace(models.Model):
    """A tenant whose key is no integer, without a slug, and with names that ours once had."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    title = models.CharField(max_length=200)
    members = models.ManyToManyField(Person, through="Membership")
    queue = models.CharField(max_length=20, default="the host's own")

    class Meta:
        app_label = "friction"

    def __str__(self) -> str:
        return self.title


class Membership(models.Model):
    """Several of one user; the one that is chosen counts."""

    person = models.ForeignKey(Person, models.CASCADE)
    workspace = models.ForeignKey(Workspace, models.CASCADE)
    chosen = models.BooleanField(default=True)

    class Meta:
        app_label = "friction"


class Folder(models.Model):
    workspace = models.ForeignKey(Workspace, models.CASCADE)

    class Meta:
        app_label = "friction"


class Invoice(Asynchronous, models.Model):
    """Its tenant is two joins away."""

    folder = models.ForeignKey(Folder, models.CASCADE)
    jobs_tenant = "folder__workspace"

    class Meta:
        app_label = "friction"

    def __str__(self) -> str:
        return f"invoice {self.pk}"

    @job(http=True, dedup=False)
    def print(self, copies: int = 1) -> list[str]:
        return [f"{current_job().tenant} {self.folder.workspace.queue}"] * copies


def workspace_of(request: HttpRequest) -> Workspace | None:
    """Whose member asks."""
    membership = Membership.objects.filter(person=request.user.pk, chosen=True).select_related("workspace").first()
    return membership and membership.workspace
