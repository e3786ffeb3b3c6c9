"""What a project adds if it wants it: Django's tasks, metrics, help for tests, Celery tasks as jobs."""
