"""Webhooks: tell a tenant's own system how its jobs ended. See docs/webhooks.md."""
