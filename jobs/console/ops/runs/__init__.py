"""The page of past bulk actions."""
