"""The page of a tenant."""
