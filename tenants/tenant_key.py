"""References to tenants. They have 64 bits, like those in the tables made by SQL, whatever the tenant model's key has.

PostgreSQL compares numbers of 32 and of 64 bits, also in foreign keys, and uses their indexes for that.
"""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class TenantKey(models.ForeignKey[Any, Any]):
    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "bigint"


class OnlyTenantKey(models.OneToOneField[Any, Any]):
    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "bigint"
