"""The app `tenants`: at its start, checks, receivers and the audit log register themselves."""

from django.apps import AppConfig

from tenants.names import named


class TenantsConfig(AppConfig):
    name = "tenants"
    label = named("tenants")

    def ready(self) -> None:
        from django.contrib.auth import get_user_model

        from tenants import audit, checks, logins, models  # noqa: F401 - checks and receivers register themselves
        from tenants.tenant_model import get_tenant_model

        for model in (
            get_tenant_model(),
            models.TenantQueue,
            models.Member,
            models.ApiKey,
            models.OperatorKey,
            get_user_model(),
        ):
            audit.watch(model)
