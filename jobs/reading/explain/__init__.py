"""Explain why a job waits: the limits it has met, its place in its lane, and a sentence for people."""
