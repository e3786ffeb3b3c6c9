"""Recurring jobs: what is planned, what is due, and what people change of it."""
