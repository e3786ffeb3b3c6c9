"""What such a project has: users and permissions of its own, in an app that takes the label `auth`."""

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models

from jobs import Asynchronous, current_job, job


class Account(AbstractBaseUser):
    email = models.EmailField(unique=True)
    is_staff = models.BooleanField(default=False)

    objects = BaseUserManager["Account"]()

    USERNAME_FIELD = "email"

    def has_perm(self, permission: str, obj: object = None) -> bool:
        return self.is_staff

    def has_perms(self, permissions: list[str], obj: object = None) -> bool:
        return self.is_staff

    def has_module_perms(self, app: str) -> bool:
        return self.is_staff


class Parcel(Asynchronous, models.Model):
    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE)

    def __str__(self) -> str:
        return f"parcel {self.pk}"

    @job(http=True)
    def weigh(self, *, scale: str = "first") -> str:
        return f"{current_job().tenant.slug} on the {scale}"
