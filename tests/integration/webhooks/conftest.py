"""A real TLS server, whose name resolves to loopback: that is allowed by the operator's setting alone."""

from tests.unit.webhooks.test_webhook_posting import certificate, serve

__all__ = ["certificate", "serve"]
