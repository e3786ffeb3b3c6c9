"""The pictures of the documentation, and the command that takes them: `make pictures`."""
