"""Optional parts for a project: Django's tasks, metrics, help for tests, Celery tasks as jobs."""
