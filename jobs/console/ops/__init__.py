"""The operators' live pages under /ops/. Each page is a function of a snapshot and of its address (ADR 0020)."""
