"""For operators: pages, Django's admin, command line and API. Nothing below imports it."""
