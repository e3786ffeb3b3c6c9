"""The page of a job type."""
