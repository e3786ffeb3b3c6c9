from django.apps import AppConfig


class Shop(AppConfig):
    name = "tests.adopter"
    label = "shop"
