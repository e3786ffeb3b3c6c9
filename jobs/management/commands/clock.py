"""`manage.py clock`: run the clock alone, on a host without a worker."""

import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from jobs.checks import refuse_shared_sessions
from jobs.console.cli.subcommands import hide_djangos_options
from jobs.engine.process import runtime
from jobs.engine.process.runtime import Runtime
from jobs.worker.clock import Clock, Schedules, Webhooks, recorder, upkeep
from jobs.worker.threads.announcer import Announcer
from jobs.worker.threads.reach import Reach
from jobs.worker.threads.sender import Sender
from jobs.worker.threads.watchdog import Progress


class Command(BaseCommand):
    help = "Run the clock alone until SIGTERM or Ctrl-C. Every worker runs a clock, too, so this is rarely needed."

    def add_arguments(self, parser: CommandParser) -> None:
        hide_djangos_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_shared_sessions()
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        reach, sending, announcer = Reach(stop), Sender(), Announcer()
        clock = Clock(stop, away=lambda: reach.away)
        runtime.start(Runtime(carrier=sending.hand_over, announcer=announcer.announce))
        beside = [thread(stop, clock).run for thread in (upkeep, Schedules, Webhooks, recorder)]
        for run in (reach.run, sending.run, announcer.run, *beside):
            threading.Thread(target=run, args=(Progress(),), daemon=True).start()
        clock.run()
