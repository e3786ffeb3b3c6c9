"""The door: dispatches decide which jobs get the free slots."""
