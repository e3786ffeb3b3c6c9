"""The page of webhooks."""
