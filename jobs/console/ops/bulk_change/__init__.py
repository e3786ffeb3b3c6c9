"""Change many jobs at once."""
