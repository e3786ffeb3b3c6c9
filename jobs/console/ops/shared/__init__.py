"""Modules that several pages use."""
