"""The page of batches."""
