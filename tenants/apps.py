"""The app `tenants`: at its start, checks, receivers and the audit log register themselves."""

from django.apps import AppConfig
from django.core.signals import request_started

from tenants.names import named


class TenantsConfig(AppConfig):
    name = "tenants"
    label = named("tenants")
    default_auto_field = "django.db.models.BigAutoField"  # whatever the project's is: our migrations say so

    def ready(self) -> None:
        from django.contrib.auth import get_user_model
        from django.contrib.auth.models import Group

        from tenants import audit, checks, logins, models  # noqa: F401 - checks and receivers register themselves
        from tenants.connections import drop_cut_connections
        from tenants.mirror import mirrored_model, watch
        from tenants.tenant_model import get_tenant_model, give_names

        give_names(get_tenant_model())
        if model := mirrored_model():
            watch(model)
        request_started.connect(drop_cut_connections)
        for model in (
            get_tenant_model(),
            models.TenantQueue,
            models.Member,
            models.ApiKey,
            models.OperatorKey,
            get_user_model(),
            Group,
        ):
            audit.watch(model)
