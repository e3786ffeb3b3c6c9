import os
import time

from django.apps import AppConfig


class SampleConfig(AppConfig):
    name = "tests.sample"
    label = "sample"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """In a worker that a test has started so: `SAMPLE_SLOW_RECEIVER` (seconds), `SAMPLE_BREAKS` (a thread)."""
        from jobs.signals import job_died
        from jobs.worker.children.limits import Limits
        from jobs.worker.light.feeder import Feeder

        if seconds := float(os.environ.get("SAMPLE_SLOW_RECEIVER", "0")):
            job_died.connect(lambda **_: time.sleep(seconds), weak=False)
        if os.environ.get("SAMPLE_BREAKS") == "dies":
            Limits.look = Feeder._hear = lambda self: 1 / 0
        if os.environ.get("SAMPLE_BREAKS") == "stands still":
            Limits.look = lambda self: time.sleep(3600)
