"""The page of queues and paused job types."""
