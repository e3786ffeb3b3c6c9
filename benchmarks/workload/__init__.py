"""Jobs that do nothing, or only take time."""
