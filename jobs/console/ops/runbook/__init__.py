"""The page of a runbook: what to do about a condition."""
