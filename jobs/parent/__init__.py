"""What runs in a worker's parent process, beside Celery: a thread for each thing that nobody else may hold up."""
