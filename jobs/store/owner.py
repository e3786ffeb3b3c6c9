"""Whose job it must be: one tenant's, or anybody's. Nobody becomes an operator by leaving an argument out."""

from enum import Enum
from typing import Literal


class _Operator(Enum):
    EVERY_TENANT = "every tenant"


EVERY_TENANT = _Operator.EVERY_TENANT  # said by an operator
TenantId = int | Literal[_Operator.EVERY_TENANT]  # the id of a tenant, or every one


def tenant_or_any(tenant_id: TenantId) -> int | None:
    """As the statements have it: null for every tenant. Raises TypeError for what is neither, None above all."""
    if tenant_id is EVERY_TENANT:
        return None
    if not isinstance(tenant_id, int) or isinstance(tenant_id, bool):
        raise TypeError(f"tenant_id: the id of a tenant, or EVERY_TENANT for an operator, not {tenant_id!r}")
    return tenant_id
