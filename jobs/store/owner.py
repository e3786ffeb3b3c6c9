"""The required owner of a job: one tenant, or any. A caller that forgets the argument gets no operator's rights."""

from enum import Enum
from typing import Literal

from plumbing.bounds import is_whole


class _Operator(Enum):
    EVERY_TENANT = "every tenant"


EVERY_TENANT = _Operator.EVERY_TENANT  # for operators
TenantId = int | Literal[_Operator.EVERY_TENANT]  # the id of a tenant, or every one


def tenant_or_any(tenant_id: TenantId) -> int | None:
    """Return the parameter of the statements, null for every tenant. Raises TypeError for other values, as None."""
    if tenant_id is EVERY_TENANT:
        return None
    if not is_whole(tenant_id):
        raise TypeError(f"tenant_id: must be the id of a tenant, or EVERY_TENANT for an operator, not {tenant_id!r}")
    return tenant_id


def owned(tenant_id: TenantId) -> dict[str, int]:
    """Return the filter of Django for this owner; it is empty for every tenant."""
    owner = tenant_or_any(tenant_id)
    return {} if owner is None else {"tenant_id": owner}
