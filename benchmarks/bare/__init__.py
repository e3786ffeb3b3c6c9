"""A minimal endpoint of the same framework: check a key, insert or read one row."""
