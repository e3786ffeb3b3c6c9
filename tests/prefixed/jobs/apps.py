from django.apps import AppConfig


class Theirs(AppConfig):
    name = "tests.prefixed.jobs"
    label = "jobs"
