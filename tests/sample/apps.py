from django.apps import AppConfig


class SampleConfig(AppConfig):
    name = "tests.sample"
    label = "sample"
    default_auto_field = "django.db.models.BigAutoField"
