"""Bounds that several modules hold. Imports nothing: retry policies and due times, which are pure, hold them, too."""

MAX_SECONDS = 366 * 24 * 3600.0  # seconds of a delay, a timeout, a window; PostgreSQL can store the moment after it
MOST_SLOTS = 10_000  # of a tenant
MOST_DAYS = 36_500  # that a tenant's history may be kept
NAME_LENGTH, SLUG_LENGTH = 200, 255  # characters of a tenant's
