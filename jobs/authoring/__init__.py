"""What the author of a job writes with: the decorator, retry policies, exceptions, and the job that is running."""
