"""A child process runs attempts; what its parent knows of it, and how it ends."""
