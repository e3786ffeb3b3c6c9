"""Recurring jobs: plan due times, run them, change schedules."""
