"""The base of admin pages whose rows are kept."""

# The bases have no types:
# mypy: allow-subclassing-any, allow-untyped-decorators

from typing import Any

from django.http import HttpRequest

from tenants.admin_style import ModelAdmin


class Kept(ModelAdmin):
    """Rows that cannot be deleted here: with a tenant its jobs would disappear, even running ones. Pause it."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
