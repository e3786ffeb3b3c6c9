"""Start the web processes: `python -m scheduler_project.web --port 8000`, with uvicorn's options.

With several processes (WEB_CONCURRENCY), uvicorn starts one that fails again and again. What refuses to start is told
here, before there are any: the status is then this command's, and a supervisor that knows it does not try again.
"""

import os
import sys

import uvicorn

from scheduler_project.checks import refuse_unsafe_start

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")
    refuse_unsafe_start()
    uvicorn.main(["scheduler_project.asgi:application", *sys.argv[1:]])
