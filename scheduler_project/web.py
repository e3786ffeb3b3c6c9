"""Start the web processes: `python -m scheduler_project.web --port 8000`, with uvicorn's options.

With several processes (WEB_CONCURRENCY), uvicorn restarts a failing one for ever. So this command checks the settings
before it starts any process. A refusal is then its own exit status, and a supervisor that knows it does not try again.
"""

import os
import sys

import uvicorn
from django.conf import settings
from uvicorn.config import LOGGING_CONFIG

from scheduler_project.checks import refuse_unsafe_start
from scheduler_project.connections import raise_file_limit

OPTIONS = {
    # A long poll or a stream would otherwise delay the stop for ever.
    "--timeout-graceful-shutdown": "3",
    # A new process has to serve within this time, or the reload stops and keeps the old one. A process that does not
    # answer for as long is killed. uvicorn's 5 s is less than the imports take on a busy machine.
    "--timeout-worker-healthcheck": "30",
    "--http": "scheduler_project.connections:Connection",
}  # options of uvicorn that differ from its defaults; times in seconds

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
    refuse_unsafe_start()
    raise_file_limit()
    LOGGING_CONFIG.clear()  # uvicorn's default; its options accept a file, but no settings
    LOGGING_CONFIG.update(settings.LOGGING)
    ours = ["--no-server-header", *(text for option in OPTIONS.items() for text in option)]
    uvicorn.main(["scheduler_project.asgi:application", *ours, *sys.argv[1:]])
