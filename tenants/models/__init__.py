"""Tenants, their limits, members and keys, and the audit log. This app does not know that jobs exist."""

from tenants.models.access import ApiKey, Key, Member, OperatorKey
from tenants.models.change import Change, ChangeSubject
from tenants.models.move import Moving, TenantMove
from tenants.models.tenant import AbstractTenant, Tenant
from tenants.models.tenant_queue import TenantQueue

__all__ = [
    "AbstractTenant",
    "ApiKey",
    "Change",
    "ChangeSubject",
    "Key",
    "Member",
    "Moving",
    "OperatorKey",
    "Tenant",
    "TenantMove",
    "TenantQueue",
]
