"""The page of a batch."""
