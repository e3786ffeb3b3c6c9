from django.apps import AppConfig


class Board(AppConfig):
    name = "tests.mirrored"
    label = "board"
