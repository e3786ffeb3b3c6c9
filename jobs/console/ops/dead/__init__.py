"""The page of dead letters."""
