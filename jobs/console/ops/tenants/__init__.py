"""The page of tenants."""
