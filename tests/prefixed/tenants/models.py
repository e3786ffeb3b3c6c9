from django.db import models


class Tenant(models.Model):
    """Somebody who rents a flat. Its table is tenants_tenant."""

    flat = models.TextField()

    def __str__(self) -> str:
        return self.flat
