"""Replay recorded jobs under other limits, by the rules of the claim. No database; see docs/insight.md."""
