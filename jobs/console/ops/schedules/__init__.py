"""The page of schedules."""
