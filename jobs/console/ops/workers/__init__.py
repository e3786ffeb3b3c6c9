"""The page of workers."""
