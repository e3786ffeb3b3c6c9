from django.apps import AppConfig


class OwnAuth(AppConfig):
    name = "tests.own_auth"
    label = "auth"
