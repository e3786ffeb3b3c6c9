"""The interfaces of operators: pages, Django's admin, command line and API. No layer below imports it."""
