"""What holds the app together: the default queue, and dispatches that follow a change of a limit."""

from typing import Any

from django.db.models import Model

from jobs.engine import dispatch


def create_default_queue(using: str, **_: Any) -> None:
    """After migrate: @job without a queue means "default", so it exists."""
    from jobs.models import Queue

    Queue.objects.using(using).get_or_create(name="default")


def dispatch_after_limit_change(instance: Model, **_: Any) -> None:
    """A raised limit, a new queue, a resumed tenant: who waited for it goes at once, when the change commits."""
    dispatch.on_commit()
