"""References to tenants: 64 bits, as the tables that SQL makes have them, whatever the key of the tenant model has.

PostgreSQL compares and constrains numbers of 32 and of 64 bits with each other, by their indexes.
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
