"""Upkeep by the clock: what died, what is old, what is lost."""
