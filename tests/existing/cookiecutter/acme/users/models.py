from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models


class Users(UserManager):
    def create_superuser(self, email, password=None):
        return self.create(email=email, is_staff=True, is_superuser=True)


class User(AbstractUser):
    """Who logs in by an e-mail address, and has one name."""

    name = models.CharField(blank=True, max_length=255)
    first_name = last_name = username = None
    email = models.EmailField(unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = []

    objects = Users()
