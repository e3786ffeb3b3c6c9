"""A Celery worker of jobs: its parent with a thread for each duty, its children, the clock, and the message."""
