"""A user model as Django asks for it, and no more: without `is_staff`, names or an address."""

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models


class Person(AbstractBaseUser, PermissionsMixin):
    username = models.CharField(max_length=150, unique=True)

    objects = BaseUserManager["Person"]()

    USERNAME_FIELD = "username"

    class Meta:
        app_label = "friction"
