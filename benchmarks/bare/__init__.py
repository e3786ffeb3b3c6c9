"""The least that an endpoint of the same framework must do: check a key, insert or read one row."""
