"""The page of a past bulk action."""
