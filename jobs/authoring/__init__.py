"""The tools of a job's author: the decorator, retry policies, exceptions, and the running job."""
