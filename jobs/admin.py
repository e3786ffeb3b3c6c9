"""Django looks here for the pages of its admin; they are in `console/admin`."""

from jobs.console import admin

__all__ = ["admin"]
