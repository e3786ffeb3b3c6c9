"""The page of a job."""
