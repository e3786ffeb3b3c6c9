"""`manage.py clock`: the clock alone, where no worker carries it."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from jobs.clock import Clock


class Command(BaseCommand):
    help = "Run the clock alone, until SIGTERM or Ctrl-C. Every worker carries one, so this is rarely needed."

    def handle(self, *args: Any, **options: Any) -> None:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        Clock(stop).run()
