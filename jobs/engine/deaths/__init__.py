"""Announce dead jobs: to code by a signal for each job, and to people by one message for many jobs."""
