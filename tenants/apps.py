from django.apps import AppConfig


class TenantsConfig(AppConfig):
    name = "tenants"

    def ready(self) -> None:
        from django.contrib.auth import get_user_model

        from tenants import (
            audit,
            logins,  # noqa: F401 - its receiver
            models,
        )

        for model in (
            models.Tenant,
            models.TenantQueue,
            models.Member,
            models.ApiKey,
            models.OperatorKey,
            get_user_model(),
        ):
            audit.watch(model)
