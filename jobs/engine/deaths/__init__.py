"""Announce dead jobs: once to code, by a signal, and to people, many in one message."""
